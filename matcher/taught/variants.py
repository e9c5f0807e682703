"""Variants: records that look alike and are different things, such as two volumes of one work.

A rule reads markers from each record: `vol. 2`, `3rd edition`, `500 ml`. Two records whose markers
of one rule are all different are variants by that rule. A column that is called like the rule holds
its marker without any word beside it. Rules are given, or learnt: a rule that flags labelled pairs
holds if nearly all of these are no duplicates. Kosolapov et al. call such rules exceptions.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from rapidfuzz.distance import Levenshtein

from catalog.errors import UsageError
from matcher.array_types import Bools, Floats, Pairs
from matcher.dedupe.base.records import Records
from matcher.records.text import fold, has_digit, tokenize
from matcher.records.units import extract_quantities
from matcher.taught.columns.kinds import ColumnKind

# Labelled pairs that a rule must flag, and the share of them that must be no duplicates.
MIN_FLAGGED = 10
MIN_PRECISION = 0.95
# Labelled duplicates that must be there to learn a rule that none of them breaks.
MIN_DUPLICATES = 30
# Share of the labelled duplicates that are less similar than a pair that looks alike.
ALIKE_QUANTILE = 0.25
# Characters of a record that are read.
MAX_CHARACTERS = 1_000
# Edits between two model numbers that are siblings (a12, a12s).
MAX_EDITS = 2
# Characters of the shortest model number.
MIN_MODEL_NUMBER = 3

Markers = frozenset[str]

_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_WORDS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eins": "1", "zwei": "2", "drei": "3", "vier": "4",
}  # fmt: skip
_NUMERAL = rf"(\d{{1,4}}|[ivxlc]{{1,6}}|{'|'.join(_WORDS)})(?![^\W_])"
_ORDINALS = {
    "first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6",
    "seventh": "7", "eighth": "8", "ninth": "9", "tenth": "10", "revised": "r",
    "erste": "1", "zweite": "2", "dritte": "3", "vierte": "4", "funfte": "5",
}  # fmt: skip
_VOLUME = re.compile(
    rf"\b(?:volumes?|vols?|v|bande?|bd|tomes?|том|т|tomo|cilt|svazek)\b[.\s#:]*{_NUMERAL}"
)
_PART = re.compile(
    rf"\b(?:parts?|pt|teil|tl|partie|часть|ч|parte|books?|buch|livre|книга|issues?|heft|number|nr|no|episode|season)"
    rf"\b[.\s#:]*{_NUMERAL}"
)
_EDITION_BEFORE = re.compile(
    r"\b(\d{1,3})(?:st|nd|rd|th|e|-?е|[aа]|\.)?\s*(?:(?:rev(?:ised)?|erw|uberarb)[.\s]*)?"
    r"(?:ed|edn|edition|aufl|auflage|ausg|изд|издание|edicion|edizione)\b"
)
_EDITION_WORD = re.compile(rf"\b({'|'.join(_ORDINALS)})\s+(?:ed|edn|edition|auflage)\b")
_EDITION_AFTER = re.compile(r"\b(?:edition|auflage|издание)\s*:?\s*(\d{1,3})\b")
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")


@dataclass(frozen=True)
class VariantRule:
    """A rule: its name, its markers in folded text, and words in names of columns that hold them."""

    name: str
    read: Callable[[str], Markers]
    column_words: tuple[str, ...] = ()


def _read_volume(text: str) -> Markers:
    return frozenset(_arabic(match[1]) for match in _VOLUME.finditer(text))


def _read_part(text: str) -> Markers:
    return frozenset(_arabic(match[1]) for match in _PART.finditer(text))


def _read_edition(text: str) -> Markers:
    """Read editions.

    >>> sorted(_read_edition("statistics, 3rd edition")), sorted(_read_edition("2. aufl"))
    (['3'], ['2'])
    """
    numbers = {match[1] for match in _EDITION_BEFORE.finditer(text)}
    numbers.update(match[1] for match in _EDITION_AFTER.finditer(text))
    numbers.update(_ORDINALS[match[1]] for match in _EDITION_WORD.finditer(text))
    return frozenset(numbers)


def _read_year(text: str) -> Markers:
    return frozenset(match[1] for match in _YEAR.finditer(text))


def _read_size(text: str) -> Markers:
    quantities = extract_quantities(tokenize(text))
    return frozenset(
        f"{amount} {unit}" for unit, amounts in quantities.items() for amount in amounts
    )


def _read_model(text: str) -> Markers:
    """Read model numbers: words with a letter and a digit that are no sizes."""
    words = [word for word in tokenize(text) if _is_model_number(word)]
    sizes = extract_quantities(words)
    amounts = {amount + unit for unit, values in sizes.items() for amount in values}
    return frozenset(words) - amounts


def _is_model_number(word: str) -> bool:
    return len(word) >= MIN_MODEL_NUMBER and has_digit(word) and not word.isdecimal()


RULES: dict[str, VariantRule] = {
    rule.name: rule
    for rule in (
        VariantRule("volume", _read_volume, ("volume", "vol", "band", "tome")),
        VariantRule("part", _read_part, ("part", "issue")),
        VariantRule("edition", _read_edition, ("edition", "ed", "auflage")),
        VariantRule("year", _read_year, ("year", "jahr")),
        VariantRule("size", _read_size, ("size",)),
        VariantRule("model", _read_model, ("model",)),
    )
}
# Rules that hold without labels: their markers are words that say so.
DEFAULT_RULES = ("volume", "part", "edition")


def parse_rules(text: str) -> tuple[str, ...]:
    """Return the rules of an option, "none" for no rule. Raises UsageError.

    >>> parse_rules("volume, year")
    ('volume', 'year')
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == ["none"]:
        return ()
    for name in names:
        if name not in RULES:
            raise UsageError(f"--variants {name}: rules are {', '.join(RULES)}, or none")
    return tuple(dict.fromkeys(names))


class VariantFinder:
    """The markers of all records of one table, or of two."""

    def __init__(self, left: Records, right: Records | None, kinds: Sequence[ColumnKind]) -> None:
        self._sides = [left] if right is None else [left, right]
        self._kinds = kinds
        self._markers: dict[str, list[list[Markers]]] = {}

    def find(self, rule: str, pairs: Pairs) -> Bools:
        """Return whether each pair is of variants by a rule."""
        sides = self._read(rule)
        left, right = sides[0], sides[-1]
        left_marked, right_marked = self._marked_sides(rule, pairs)
        is_variant = np.zeros(len(pairs), bool)
        for place in np.flatnonzero(left_marked & right_marked).tolist():
            first, second = left[pairs[place, 0]], right[pairs[place, 1]]
            is_variant[place] = first is not second and _differ(rule, first, second)
        if rule == "edition":
            # A first edition is rarely called so, but its year is another one.
            marked_once = left_marked != right_marked
            is_variant[marked_once] = self.find("year", pairs[marked_once])
        return is_variant

    def _marked_sides(self, rule: str, pairs: Pairs) -> tuple[Bools, Bools]:
        """Return whether the left and the right record of each pair has a marker."""
        sides = self._read(rule)
        is_marked = [np.fromiter(map(bool, side), bool, len(side)) for side in sides]
        return is_marked[0][pairs[:, 0]], is_marked[-1][pairs[:, 1]]

    def compare(self, rule: str, pairs: Pairs) -> Floats:
        """Return 1 where markers differ, 0 where not, 0.5 with one marker, NaN without any."""
        left_marked, right_marked = self._marked_sides(rule, pairs)
        compared = np.where(left_marked | right_marked, 0.5, np.nan).astype(np.float32)
        both = left_marked & right_marked
        compared[both] = self.find(rule, pairs[both])
        return compared

    def _read(self, rule: str) -> list[list[Markers]]:
        if rule not in self._markers:
            self._markers[rule] = [
                _read_records(records, self._kinds, RULES[rule]) for records in self._sides
            ]
        return self._markers[rule]


def learn_rules(
    are_variants: Mapping[str, Bools], labels: Bools, similarity: Floats, given: Iterable[str]
) -> list[str]:
    """Return the rules that labelled pairs confirm, and the given ones that they do not refute.

    `are_variants` says by rule which of the labelled pairs are variants.

    Only pairs that look alike count: as similar as three in four duplicates. Among all labelled
    pairs most are no duplicates, so nearly every rule would seem to hold.
    """
    duplicates = int(labels.sum())
    looks_alike = labels.copy()
    if duplicates:
        looks_alike |= similarity >= np.quantile(similarity[labels], ALIKE_QUANTILE)
    learnt = list[str]()
    for rule, is_variant in are_variants.items():
        flagged = is_variant & looks_alike
        wrong = int((flagged & labels).sum())
        count = int(flagged.sum())
        is_confirmed = (
            duplicates >= MIN_DUPLICATES
            and count >= MIN_FLAGGED
            and wrong <= (1 - MIN_PRECISION) * count
        )
        is_refuted = wrong > (1 - MIN_PRECISION) * max(count, MIN_FLAGGED)
        if is_confirmed or (rule in given and not is_refuted):
            learnt.append(rule)
    return learnt


def _read_records(
    records: Records, kinds: Sequence[ColumnKind], rule: VariantRule
) -> list[Markers]:
    read = lru_cache(maxsize=65_536)(rule.read)
    markers: list[set[str]] = [set() for _ in range(len(records))]
    for name, kind, column in zip(records.names, kinds, records.fields, strict=True):
        is_named = any(word in re.split(r"[\W_]+", name.lower()) for word in rule.column_words)
        is_text = kind in (ColumnKind.TEXT, ColumnKind.NAME)
        if not is_named and not is_text:
            continue
        for row, value in enumerate(column):
            if not value:
                continue
            folded = fold(value, MAX_CHARACTERS)
            if is_named:
                number = re.search(r"\d+", folded)
                markers[row].add(str(int(number[0])) if number else _arabic(folded))
            else:
                markers[row] |= read(folded)
    shared: dict[Markers, Markers] = defaultdict()
    return [
        shared.setdefault(frozenset(record_markers), frozenset(record_markers))
        for record_markers in markers
    ]


def _differ(rule: str, first: Markers, second: Markers) -> bool:
    """Return True if two records' markers are those of variants."""
    if rule == "size":
        return _sizes_differ(first, second)
    if rule == "model":
        return _models_differ(first, second)
    return first.isdisjoint(second)


def _sizes_differ(first: Markers, second: Markers) -> bool:
    """Return True if both name a size in one unit, and no such size is the same.

    >>> _sizes_differ(frozenset({"500 ml"}), frozenset({"250 ml", "6 pcs"}))
    True
    """
    first_units = {marker.split()[1] for marker in first - second}
    second_units = {marker.split()[1] for marker in second - first}
    shared_units = {marker.split()[1] for marker in first & second}
    return bool((first_units & second_units) - shared_units)


def _models_differ(first: Markers, second: Markers) -> bool:
    """Return True if each has a model number that the other lacks, and the two are siblings.

    >>> _models_differ(frozenset({"a12"}), frozenset({"a12s"}))
    True
    >>> _models_differ(frozenset({"a12", "wh1000"}), frozenset({"wh1000"}))
    False
    """
    only_first, only_second = first - second, second - first
    for number in only_first:
        for sibling in only_second:
            if Levenshtein.distance(number, sibling, score_cutoff=MAX_EDITS) <= MAX_EDITS:
                return True
    return False


def _arabic(numeral: str) -> str:
    """Return a numeral in Arabic digits, without leading zeros.

    >>> _arabic("xiv"), _arabic("007"), _arabic("b")
    ('14', '7', 'b')
    """
    if numeral.isdecimal():
        return str(int(numeral))
    if numeral in _WORDS:
        return _WORDS[numeral]
    total = 0
    for place, letter in enumerate(numeral):
        if letter not in _ROMAN:
            return numeral
        value = _ROMAN[letter]
        following = _ROMAN.get(numeral[place + 1 : place + 2], 0)
        total += -value if value < following else value
    return str(total)
