"""The interface that all join methods share: records in, pairs with a similarity and a reason out.

A join finds similar pairs within one set of records (self-join) or between two. Every method also
counts its candidates and its similarity computations, so that methods can be compared by work as
well as by time. Thresholds are fractions: 0.8 is exactly four fifths, not the nearest binary float.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from catalog.errors import UsageError
from catalog.runtime.progress import Progress, no_progress
from matcher.array_types import Doubles, Ints
from matcher.dedupe.base.records import Records

MAX_PAIRS = 200_000_000  # pairs; cap: a result is held in memory 28 bytes a pair


@dataclass(frozen=True)
class PairBatch:
    """Pairs of row numbers with similarity; `reason` is an index into a list of reasons."""

    left: Ints
    right: Ints
    similarity: Doubles
    reason: Ints


@dataclass(frozen=True)
class Level:
    """The work up to one filter level, or of one method of a chain.

    `candidates` are the pairs that passed it; `comparisons` the similarities that would be computed
    if it were the last level. `method` names the step of a chain and is empty elsewhere.
    """

    level: int
    candidates: int
    comparisons: int
    method: str = ""


@dataclass(frozen=True)
class JoinResult:
    """Similar pairs by row number, sorted by `left`, then `right`.

    Pair i joins `left[i]` and `right[i]` with `similarity[i]`, for `reasons[reason[i]]`. In a
    self-join left < right. `representative` is set by a chain: for each row of the left side, the
    first of the rows equal to it (only that one is compared by the later methods); else None.
    """

    left: Ints
    right: Ints
    similarity: Doubles
    reason: NDArray[np.int32]
    reasons: tuple[str, ...] = ()
    candidates: int = 0
    comparisons: int = 0
    levels: tuple[Level, ...] = ()
    representative: Ints | None = None

    def __len__(self) -> int:
        return len(self.left)


class JoinMethod(Protocol):
    """A callable that finds similar pairs within `left`, or between `left` and `right`."""

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = no_progress
    ) -> JoinResult: ...


def parse_threshold(threshold: float | str | Fraction) -> Fraction:
    """Convert a threshold to the fraction it was written as. Raises UsageError outside (0, 1].

    >>> parse_threshold(0.8)
    Fraction(4, 5)
    """
    try:
        value = Fraction(str(threshold))
    except ValueError as error:
        raise UsageError(f"threshold {threshold}: is no number") from error
    if not 0 < value <= 1:
        raise UsageError(f"threshold {threshold}: must be above 0 and at most 1")
    return value


def build_result(
    batches: Sequence[PairBatch],
    reasons: Sequence[str],
    *,
    candidates: int = 0,
    comparisons: int = 0,
    levels: tuple[Level, ...] = (),
    representative: Ints | None = None,
) -> JoinResult:
    """Concatenate batches of pairs and sort them into one result."""
    # The empty arrays give the concatenation a dtype when there is no batch.
    no_rows = np.empty(0, dtype=np.int64)
    left = np.concatenate([no_rows, *(batch.left for batch in batches)])
    right = np.concatenate([no_rows, *(batch.right for batch in batches)])
    similarity = np.concatenate([np.empty(0), *(batch.similarity for batch in batches)])
    reason = np.concatenate([no_rows, *(batch.reason for batch in batches)])
    order = np.lexsort((right, left))
    return JoinResult(
        left[order].astype(np.int64),
        right[order].astype(np.int64),
        similarity[order].astype(np.float64),
        reason[order].astype(np.int32),
        tuple(reasons),
        candidates,
        comparisons,
        levels,
        representative,
    )


def check_pair_count(pairs: int) -> None:
    """Raise UsageError if there are more pairs than memory can hold."""
    if pairs > MAX_PAIRS:
        raise UsageError(
            f"there are {pairs:,} pairs, more than {MAX_PAIRS:,}: "
            "raise --threshold, or take other keys"
        )
