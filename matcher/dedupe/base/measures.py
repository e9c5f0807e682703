"""Three similarities of texts as bags of tokens, and the tokens that two texts must share to reach a threshold.

Edit similarity is 1 - distance / longer length, its tokens are the characters (each with the how-many-th of its kind it
is); Jaccard's and the cosine's tokens are the distinct words. All bounds are whole numbers, computed from fractions.
Two texts without any token are alike, one without and one with are not.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt, sqrt
from typing import Literal

import numpy as np

from matcher.dedupe.base.join import Indices
from matcher.dedupe.base.text_columns import Distinct, bags, code_points, offsets
from matcher.dedupe.base.verify import allowed

Similarity = Literal["edit", "jaccard", "cosine"]
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Measure:
    """A similarity with its threshold."""

    name: Similarity
    threshold: Fraction

    def least(self, a: int, b: int) -> int:
        """The number of tokens that texts of `a` and `b` tokens share at least, where they are similar enough.

        >>> Measure("edit", Fraction(4, 5)).least(9, 10), Measure("jaccard", Fraction(4, 5)).least(9, 10)
        (8, 9)
        """
        if self.name == "edit":
            return max(a, b) - allowed(max(a, b), self.threshold)
        if not a or not b:
            return max(a, b)
        if self.name == "jaccard":
            return ceil(self.threshold * (a + b) / (1 + self.threshold))
        square = ceil(self.threshold**2 * a * b)
        return isqrt(square - 1) + 1

    def least_of_any(self, size: int) -> int:
        """The number of its tokens that a text shares at least with any that is similar enough."""
        if self.name == "edit":
            return size - allowed(size, self.threshold)
        return ceil(size * (self.threshold if self.name == "jaccard" else self.threshold**2))

    def value(self, shared: int, a: int, b: int) -> float:
        """Jaccard or cosine of two sets of `a` and `b` words, `shared` of them in both."""
        if not a or not b:
            return float(a == b)
        return shared / (a + b - shared) if self.name == "jaccard" else shared / sqrt(a * b)


@dataclass(frozen=True)
class Bags:
    """The tokens of each text, end to end, as numbers that mean the same for both sides."""

    tokens: Indices
    sizes: Indices

    def starts(self) -> Indices:
        """Where the tokens of each text begin, and where the last end."""
        return offsets(self.sizes)


def bagged(columns: Sequence[Distinct], similarity: Similarity) -> tuple[list[Bags], int]:
    """The tokens of some columns, and how many different ones there are."""
    known: dict[str, int] = {}
    read = [
        _characters(column) if similarity == "edit" else _word_codes(column, known)
        for column in columns
    ]
    once, codes = np.unique(np.concatenate([tokens for tokens, _ in read]), return_inverse=True)
    parts = np.split(codes, np.cumsum([len(tokens) for tokens, _ in read])[:-1])
    return [Bags(part, sizes) for part, (_, sizes) in zip(parts, read, strict=True)], len(once)


def words(text: str) -> list[str]:
    """The distinct words of a text, in order.

    >>> words("Red mug, red!")
    ['red', 'mug']
    """
    return list(dict.fromkeys(_WORD.findall(text.casefold())))


def table(function: Callable[[int, int], int], a: Indices, b: Indices) -> Indices:
    """A function of two sizes for all of `a` by all of `b`, called once for each two sizes."""
    rows, row_of = np.unique(a, return_inverse=True)
    columns, column_of = np.unique(b, return_inverse=True)
    values = np.array(
        [[function(x, y) for y in columns.tolist()] for x in rows.tolist()], dtype=np.int64
    )
    found: Indices = values.reshape(len(rows), len(columns))[row_of[:, None], column_of[None, :]]
    return found


def _characters(column: Distinct) -> tuple[Indices, Indices]:
    points, nth = bags(code_points(column.texts), column.lengths)
    return points.astype(np.int64) << 40 | nth, column.lengths


def _word_codes(column: Distinct, known: dict[str, int]) -> tuple[Indices, Indices]:
    read = [words(text) for text in column.texts]
    codes = [known.setdefault(word, len(known)) for found in read for word in found]
    return np.array(codes, dtype=np.int64), np.array([len(found) for found in read], dtype=np.int64)
