"""Part numbers that are not equal, but near: `lum341-blk` is `lum341` in black, `qor41873` is `41873`.

Sellers add a maker's letters before a part number and a colour or a country after it, so that one number stands within
the other. Elsewhere a single other letter is another product. How near the nearest number of the other offer comes
says which of both it may be; what that means is for the judge to learn.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from matcher.records.record import Record
from matcher.records.text import has_digit

NEARNESS = ("codes_near", "codes_far", "codes_long_near", "codes_long_far")
FEWEST = 3
WITHIN = 4
LONG = 5


def code_columns(left: Sequence[Record], right: Sequence[Record]) -> dict[str, NDArray[np.float32]]:
    """For each pair how near the numbers of each offer come to those of the other: the nearest and the farthest one.

    Then the same of those numbers only that are long enough to hardly be a size or a year.
    """
    rows = np.array([_near(a, b) for a, b in zip(left, right, strict=True)], np.float32).reshape(
        -1, len(NEARNESS)
    )
    return dict(zip(NEARNESS, rows.T, strict=True))


def nearest(code: str, others: frozenset[str]) -> float:
    """How near the nearest of the others comes, from 0 to 1; from a half on where one stands within the other.

    >>> nearest("lumo341blk", frozenset({"lumo341"})), nearest("a12", frozenset({"a12", "a12s"}))
    (0.85, 1.0)
    >>> round(nearest("zt52417", frozenset({"zt52316"})), 2)
    0.71
    """
    if code in others:
        return 1.0
    lengths = (
        sorted((len(code), len(other))) for other in others if other in code or code in other
    )
    within = max(
        (0.5 + short / long / 2 for short, long in lengths if short >= WITHIN), default=0.0
    )
    return max(
        within, process.extractOne(code, others, scorer=Levenshtein.normalized_similarity)[1]
    )


def _near(a: Record, b: Record) -> tuple[float, float, float, float]:
    (own, reach), (other, reach_there) = (_numbers(one.title, one.han, one.sku) for one in (a, b))
    pairs = [(code, reach_there) for code in own if reach_there] + [
        (code, reach) for code in other if reach
    ]
    said = [(len(code), nearest(code, pool)) for code, pool in pairs]
    return (
        *_ends([near for _, near in said]),
        *_ends([near for length, near in said if length >= LONG]),
    )


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return (max(values), min(values)) if values else (np.nan, np.nan)


@lru_cache(maxsize=65_536)
def _numbers(title: str, han: str, sku: str) -> tuple[frozenset[str], frozenset[str]]:
    """The numbers of an offer, and these with the joined spellings of its title, in which another's may be found."""
    record = Record(title=title, han=han, sku=sku)
    own = frozenset(code for code in (*record.codes, han, sku) if len(code) >= FEWEST)
    return own, own.union(filter(has_digit, record.spellings))
