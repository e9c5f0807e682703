"""Similarity of part numbers: `lum341-blk` is `lum341` in black, `qor41873` is `41873`.

Sellers add a maker's letters before a part number and a colour or a country after it, so one number
contains the other. Elsewhere a single different letter means another product. The features say how
similar the nearest number of the other offer is; the classifier learns the consequence.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from matcher.array_types import Floats
from matcher.records.record import Record
from matcher.records.text import has_digit

# Names of the features in matcher.features.table, in the order of `_similarity_range`.
PART_NUMBER_FEATURES = ("codes_near", "codes_far", "codes_long_near", "codes_long_far")
# Characters of a part number; shorter ones are sizes or counts.
MIN_LENGTH = 3
# Characters of a number that counts as contained in another one.
MIN_CONTAINED = 4
# Characters of a number that is hardly a size or a year.
LONG_LENGTH = 5
_UNKNOWN = (np.nan, np.nan)


def part_number_features(left: Sequence[Record], right: Sequence[Record]) -> dict[str, Floats]:
    """Compute PART_NUMBER_FEATURES of pairs (left[i], right[i]); NaN without numbers to compare."""
    rows = [_compare(first, second) for first, second in zip(left, right, strict=True)]
    table = np.array(rows, np.float32).reshape(-1, len(PART_NUMBER_FEATURES))
    return dict(zip(PART_NUMBER_FEATURES, table.T, strict=True))


def nearest_similarity(number: str, candidates: frozenset[str]) -> float:
    """Return the similarity to the nearest candidate, 0 to 1.

    A number that contains the other one has at least 0.5.

    >>> nearest_similarity("lumo341blk", frozenset({"lumo341"}))
    0.85
    >>> nearest_similarity("a12", frozenset({"a12", "a12s"}))
    1.0
    >>> round(nearest_similarity("zt52417", frozenset({"zt52316"})), 2)
    0.71
    """
    if number in candidates:
        return 1.0
    best = 0.0
    for candidate in candidates:
        if candidate in number or number in candidate:
            short, long = sorted((len(number), len(candidate)))
            if short >= MIN_CONTAINED:
                best = max(best, 0.5 + short / long / 2)
    edit = process.extractOne(number, candidates, scorer=Levenshtein.normalized_similarity)[1]
    return max(best, edit)


def _compare(first: Record, second: Record) -> tuple[float, float, float, float]:
    first_numbers, first_spellings = _part_numbers(first.title, first.han, first.sku)
    second_numbers, second_spellings = _part_numbers(second.title, second.han, second.sku)
    similarities = []
    long_similarities = []
    for numbers, candidates in (
        (first_numbers, second_spellings),
        (second_numbers, first_spellings),
    ):
        if not candidates:
            continue
        for number in numbers:
            similarity = nearest_similarity(number, candidates)
            similarities.append(similarity)
            if len(number) >= LONG_LENGTH:
                long_similarities.append(similarity)
    return (*_similarity_range(similarities), *_similarity_range(long_similarities))


def _similarity_range(similarities: Sequence[float]) -> tuple[float, float]:
    """Return the greatest and the least similarity; NaN if there is none."""
    if not similarities:
        return _UNKNOWN
    return max(similarities), min(similarities)


# Cache size: enough for a chunk of pairs; every offer is compared with many others.
@lru_cache(maxsize=65_536)
def _part_numbers(title: str, han: str, sku: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return an offer's numbers, and these with the joined spellings of its title."""
    record = Record(title=title, han=han, sku=sku)
    numbers = frozenset(
        number for number in (*record.model_numbers, han, sku) if len(number) >= MIN_LENGTH
    )
    return numbers, numbers.union(filter(has_digit, record.spellings))
