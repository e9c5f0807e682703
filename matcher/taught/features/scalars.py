"""Compare values that are no texts: identifiers, categories, numbers, dates."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA, DamerauLevenshtein

from matcher.array_types import Doubles, Floats, Ints
from matcher.features.part_numbers import MIN_CONTAINED
from matcher.records.text import fold
from matcher.sorted_values import look_up_sorted
from matcher.taught.columns.dates import parse_moment
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.columns.values import normalise_code, parse_number, parse_year
from matcher.taught.features.feature import NEVER_LOWERS, NEVER_RAISES, Feature

# Greatest difference of two numbers as a logarithm of their ratio (a factor of e^3 = 20).
MAX_LOG_RATIO = 3.0
# Greatest difference of two days that is told from a greater one: ten years.
MAX_DAYS = 3_653
MINUTES_PER_DAY = 1440
# Greatest difference of two years that is told from a greater one.
MAX_YEARS = 50
# Digits that the number of a thing has at least; share of the values of a column that must have them
# for its digits to be compared; and digits that one number must have to stand within another one, as
# sources leave out prefixes of countries and years. Twice as many digits find the same pairs.
MIN_DIGITS = 3
MIN_NUMBERED_SHARE = 0.8
MIN_CONTAINED_DIGITS = 5

# Whether two numbers of things have the same digits, however they are written.
DIGITS_AGREE = "digits agree"

_NO_DIGIT = re.compile(r"\D")
_EQUALITY = (("equal", NEVER_LOWERS), ("rarity of the equal value", NEVER_LOWERS))
_FEATURES: dict[ColumnKind, tuple[tuple[str, int], ...]] = {
    ColumnKind.IDENTIFIER: (
        *_EQUALITY,
        ("similarity", NEVER_LOWERS),
        ("contained", NEVER_LOWERS),
        (DIGITS_AGREE, NEVER_LOWERS),
    ),
    ColumnKind.CATEGORY: (*_EQUALITY, ("similarity", NEVER_LOWERS)),
    ColumnKind.NUMBER: (
        *_EQUALITY,
        ("similarity", NEVER_LOWERS),
        ("ratio apart", NEVER_RAISES),
        ("difference", NEVER_RAISES),
    ),
    ColumnKind.YEAR: (
        *_EQUALITY,
        ("similarity", NEVER_LOWERS),
        ("years apart", NEVER_RAISES),
    ),
    ColumnKind.DATE: (
        *_EQUALITY,
        ("similarity", NEVER_LOWERS),
        ("days apart", NEVER_RAISES),
        ("same year", NEVER_LOWERS),
        ("same day of the year", NEVER_LOWERS),
        ("day and month swapped", NEVER_LOWERS),
    ),
}


@dataclass(frozen=True)
class ScalarSide:
    """The values of one side of a column: normalised texts, their rarity, and numbers or NaN.

    `numbers` holds amounts, years, or (day ordinal, year, month, day) for dates; a time of day is a
    fraction of its day. `digits` holds those of identifiers, empty where the column has no numbers of
    things.
    """

    texts: list[str]
    rarity: Floats
    numbers: "np.ndarray[tuple[int, int], np.dtype[np.float64]]"
    digits: list[str]


def is_scalar(kind: ColumnKind) -> bool:
    """Return True if values of this kind are no texts."""
    return kind in _FEATURES


def scalar_features(group: str, kind: ColumnKind) -> list[Feature]:
    """Return the features of a column that holds no texts."""
    return [Feature(group, name, trend) for name, trend in _FEATURES[kind]]


@dataclass(frozen=True)
class ValueCounts:
    """How many of `total` records have a normalised value, by the sorted hashes of the values.

    `are_numbered` says whether most of the values are identifiers with the digits of a number.

    Hashes are Python's: counts are of no use in another process. Two of ten million values share a
    hash of 64 bits with a probability of 3 in a million.
    """

    hashes: Ints
    counts: Ints
    total: int
    are_numbered: bool

    def rarity(self, values: Sequence[str]) -> Floats:
        """Return 1 for a value that no other record has, 0 for one that all records have."""
        places, is_known = look_up_sorted(self.hashes, _hashes(values))
        frequency = np.ones(len(values))
        frequency[is_known] = self.counts[places[is_known]]
        rarity: Floats = (1 - np.log(frequency) / np.log(max(2, self.total))).astype(np.float32)
        return rarity


def count_values(kind: ColumnKind, values: Iterable[str]) -> ValueCounts:
    """Count the normalised values of a column."""
    return _count_normalised(kind, (_normalise(kind, value) for value in values))


def _count_normalised(kind: ColumnKind, values: Iterable[str]) -> ValueCounts:
    known = numbered = 0

    def count_numbered() -> Iterator[str]:
        nonlocal known, numbered
        for value in values:
            known += bool(value)
            numbered += len(_digits_of(value)) >= MIN_DIGITS
            yield value

    counted = count_numbered() if kind is ColumnKind.IDENTIFIER else values
    hashes, counts = np.unique(_hashes(counted), return_counts=True)
    are_numbered = 0 < numbered >= MIN_NUMBERED_SHARE * known
    return ValueCounts(hashes, counts, int(counts.sum()), are_numbered)


def _digits_of(code: str) -> str:
    """Return the digits of an identifier, without leading zeros."""
    return _NO_DIGIT.sub("", code).lstrip("0")


def build_scalar_sides(
    kind: ColumnKind,
    left: Sequence[str],
    right: Sequence[str] | None,
    counts: ValueCounts | None = None,
) -> tuple[ScalarSide, ScalarSide]:
    """Normalise the values of one table (`right` is None) or of two.

    `counts` are those of a larger column that has all these values; by default these are counted.
    """
    sides = [left] if right is None else [left, right]
    normalised = [[_normalise(kind, value) for value in values] for values in sides]
    if counts is None:
        counts = _count_normalised(kind, chain.from_iterable(normalised))
    built = []
    for raw, values in zip(sides, normalised, strict=True):
        digits = [""] * len(values)
        if counts.are_numbered:
            digits = [_digits_of(value) for value in values]
        built.append(ScalarSide(values, counts.rarity(values), _numbers(kind, raw), digits))
    return built[0], built[-1]


def _hashes(values: Iterable[str]) -> Ints:
    return np.fromiter(map(hash, values), np.int64)


def compare_scalars(
    kind: ColumnKind, sides: tuple[ScalarSide, ScalarSide], left_rows: Ints, right_rows: Ints
) -> Floats:
    """Compare pairs of values; returns (pairs, features), NaN where a value is missing."""
    left, right = sides
    left_texts = [left.texts[row] for row in left_rows.tolist()]
    right_texts = [right.texts[row] for row in right_rows.tolist()]
    count = len(left_texts)
    is_equal = np.fromiter(
        (a == b for a, b in zip(left_texts, right_texts, strict=True)), bool, count
    )
    scorer: Callable[..., float] = DamerauLevenshtein.normalized_similarity
    greatest = 1.0
    if kind is ColumnKind.CATEGORY:
        scorer, greatest = fuzz.token_set_ratio, 100.0
    similarity = process.cpdist(left_texts, right_texts, scorer=scorer, dtype=np.float32) / greatest
    columns = [is_equal, np.where(is_equal, left.rarity[left_rows], 0), similarity]
    if kind is ColumnKind.IDENTIFIER:
        contained = (_is_contained(a, b) for a, b in zip(left_texts, right_texts, strict=True))
        columns.append(np.fromiter(contained, bool, count))
        columns.append(
            _compare_digits(
                [left.digits[row] for row in left_rows.tolist()],
                [right.digits[row] for row in right_rows.tolist()],
            )
        )
    if kind is ColumnKind.NUMBER:
        columns += _compare_numbers(left.numbers[left_rows, 0], right.numbers[right_rows, 0])
    if kind is ColumnKind.YEAR:
        apart = np.abs(left.numbers[left_rows, 0] - right.numbers[right_rows, 0])
        # Digits say little of two years: editions of 1992 and 1998 differ by one.
        columns[-1] = np.where(np.isnan(apart), similarity, 1 / (1 + apart))
        columns.append(np.minimum(apart, MAX_YEARS))
    if kind is ColumnKind.DATE:
        columns += _compare_dates(left.numbers[left_rows], right.numbers[right_rows])
    table = np.column_stack([np.asarray(column, np.float32) for column in columns])
    is_known = np.fromiter(
        (bool(a) and bool(b) for a, b in zip(left_texts, right_texts, strict=True)), bool, count
    )
    return np.where(is_known[:, None], table, np.nan).astype(np.float32)


def _normalise(kind: ColumnKind, value: str) -> str:
    folded = fold(value)
    if kind is ColumnKind.IDENTIFIER:
        return normalise_code(folded)
    if kind is ColumnKind.NUMBER:
        number = parse_number(value)
        return folded if number is None else f"{number:.10g}"
    if kind is ColumnKind.YEAR:
        year = parse_year(value)
        return folded if year is None else str(year)
    if kind is ColumnKind.DATE:
        moment = parse_moment(value)
        if moment is None:
            return normalise_code(folded)
        day, minutes = moment
        return f"{day:%Y%m%d}" if minutes is None else f"{day:%Y%m%d}t{minutes:04.0f}"
    return folded


def _numbers(
    kind: ColumnKind, values: Sequence[str]
) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    numbers = np.full((len(values), 4), np.nan)
    if kind in (ColumnKind.NUMBER, ColumnKind.YEAR):
        parse = parse_number if kind is ColumnKind.NUMBER else parse_year
        for row, value in enumerate(values):
            number = parse(value)
            if number is not None:
                numbers[row, 0] = number
    if kind is ColumnKind.DATE:
        for row, value in enumerate(values):
            moment = parse_moment(value)
            if moment is not None:
                day, minutes = moment
                days = day.toordinal() + (minutes or 0) / MINUTES_PER_DAY
                numbers[row] = days, day.year, day.month, day.day
    return numbers


def _compare_numbers(left: Doubles, right: Doubles) -> list[Floats]:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(np.log(np.abs(left) / np.abs(right)))
        # Zero, and numbers of unlike sign, have no ratio.
        ratio = np.where((left > 0) & (right > 0), ratio, np.where(left == right, 0, MAX_LOG_RATIO))
    is_known = ~np.isnan(left) & ~np.isnan(right)
    apart = np.where(is_known, np.minimum(ratio, MAX_LOG_RATIO), np.nan)
    difference = np.log1p(np.abs(left - right))
    return [apart.astype(np.float32), difference.astype(np.float32)]


def _compare_dates(left: Doubles, right: Doubles) -> list[Floats]:
    days = np.log1p(np.minimum(np.abs(left[:, 0] - right[:, 0]), MAX_DAYS))
    is_known = ~np.isnan(days)
    same_year = np.where(is_known, left[:, 1] == right[:, 1], np.nan)
    same_day = (left[:, 2] == right[:, 2]) & (left[:, 3] == right[:, 3])
    is_swapped = (left[:, 2] == right[:, 3]) & (left[:, 3] == right[:, 2]) & (same_year == 1)
    return [
        days.astype(np.float32),
        same_year.astype(np.float32),
        np.where(is_known, same_day, np.nan).astype(np.float32),
        np.where(is_known, is_swapped, np.nan).astype(np.float32),
    ]


def _compare_digits(left: Sequence[str], right: Sequence[str]) -> Floats:
    """Return 1 where one number is or contains the other, 0 where it does not.

    NaN where either is unknown, and where they differ in one digit: that may be an error, or the
    next number.
    """
    distance = process.cpdist(left, right, scorer=OSA.distance, score_cutoff=1)
    agree: Floats = np.where(distance == 1, np.nan, distance == 0).astype(np.float32)
    for row, (a, b) in enumerate(zip(left, right, strict=True)):
        if not a or not b:
            agree[row] = np.nan
        elif _is_contained(a, b, MIN_CONTAINED_DIGITS):
            agree[row] = 1
    return agree


def _is_contained(left: str, right: str, at_least: int = MIN_CONTAINED) -> bool:
    short, long = sorted((left, right), key=len)
    return len(short) >= at_least and short in long
