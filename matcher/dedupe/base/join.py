"""What all rungs share: they take records, one side or two, and give pairs with a similarity and a reason.

A rung says how many candidates it looked at and how many similarities it computed, so that rungs can be compared by
their work and not only by their time. Thresholds are fractions: 0.8 is four fifths, never 0.8000000000000000444.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from catalog.errors import UsageError
from catalog.runtime.progress import Progress, silent
from matcher.dedupe.base.records import Records

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Part = tuple[Indices, Indices, Floats, Indices]
Flags = NDArray[np.bool_]
_NONE: Indices = np.empty(0, dtype=np.int64)
MOST_PAIRS = 200_000_000


@dataclass(frozen=True)
class Level:
    """One level of a rung: the pairs that were left after it, and the similarities computed were it the last."""

    level: int
    candidates: int
    comparisons: int
    rung: str = ""


@dataclass(frozen=True)
class Joined:
    """Pairs found, by row: `left[i]` and `right[i]` are alike by `similarity[i]`, because of `reasons[why[i]]`.

    In a join of one set with itself, left < right; pairs are sorted. Of records that are equal only the first may have
    been compared further; `same` then says for each row which one that is.
    """

    left: Indices
    right: Indices
    similarity: Floats
    why: NDArray[np.int32]
    reasons: tuple[str, ...] = ()
    candidates: int = 0
    comparisons: int = 0
    levels: tuple[Level, ...] = field(default=())
    same: Indices | None = None

    def __len__(self) -> int:
        return len(self.left)


class Rung(Protocol):
    """Finds pairs within `left`, or between `left` and `right`."""

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = silent
    ) -> Joined: ...


def exactly(threshold: float | str | Fraction) -> Fraction:
    """A threshold as the fraction that a person meant. Raises UsageError outside of (0, 1].

    >>> exactly(0.8)
    Fraction(4, 5)
    """
    try:
        value = Fraction(str(threshold))
    except ValueError as error:
        raise UsageError(f"threshold {threshold}: is no number") from error
    if not 0 < value <= 1:
        raise UsageError(f"threshold {threshold}: must be above 0 and at most 1")
    return value


def joined(parts: Sequence[Part], reasons: Sequence[str], **figures: Any) -> Joined:
    """Parts of left, right, similarity and why, as one sorted whole."""
    whole = (
        [np.concatenate([_NONE, *column]) for column in zip(*parts, strict=True)]
        if parts
        else [_NONE] * 4
    )
    left, right, similarity, why = whole
    order = np.lexsort((right, left))
    return Joined(
        left[order].astype(np.int64),
        right[order].astype(np.int64),
        similarity[order].astype(np.float64),
        why[order].astype(np.int32),
        tuple(reasons),
        **figures,
    )


def refuse_flood(pairs: int) -> None:
    """Raise UsageError where there are more pairs than anybody can read or memory can hold."""
    if pairs > MOST_PAIRS:
        raise UsageError(
            f"there are {pairs:,} pairs, more than {MOST_PAIRS:,}: raise --threshold, or take other keys"
        )
