"""Join methods in sequence, the cheapest first: records that one method settles skip the next."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from catalog.runtime.progress import Progress, no_progress
from matcher.array_types import Ints
from matcher.dedupe.base.join import JoinMethod, JoinResult, Level, PairBatch, build_result
from matcher.dedupe.base.letter_pairs import drop_letter_pairs
from matcher.dedupe.base.pair_codes import pack_pairs
from matcher.dedupe.base.records import Records
from matcher.dedupe.cluster.clustering import cluster_pairs
from matcher.dedupe.exact.exact_join import Exact


@dataclass(frozen=True)
class Chain:
    """Named join methods as one method.

    In a self-join only the first record of each cluster goes on to the next method; between two
    sides, the left records without a partner. A pair that two methods find is reported once.
    """

    methods: Sequence[tuple[str, JoinMethod]]

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = no_progress
    ) -> JoinResult:
        """Join two sets of records, or one with itself."""
        remaining = np.arange(len(left))
        representative = np.arange(len(left))
        reported = np.empty(0, dtype=np.int64)
        batches, reasons, levels = list[PairBatch](), list[str](), list[Level]()
        for number, (name, method) in enumerate(self.methods, 1):
            compared = left.select(remaining.tolist())
            # A dropped pair must not settle its records, which later methods may pair with others.
            pairs = drop_letter_pairs(method(compared, right, progress), compared, right)
            pairs = _to_original_rows(pairs, remaining, is_self_join=right is None)
            codes = pack_pairs(pairs.left, pairs.right)
            is_new = ~np.isin(codes, reported)
            batches.append(_select_pairs(pairs, is_new, first_reason=len(reasons)))
            reported = np.concatenate([reported, codes[is_new]])
            reasons += [f"{name}: {reason}" for reason in pairs.reasons]
            levels.append(Level(number, pairs.candidates, pairs.comparisons, name))
            settled = _settled_rows(pairs, is_self_join=right is None)
            remaining = np.setdiff1d(remaining, [*settled])
            # Only equal records are represented by the first: similar ones may differ from others.
            if isinstance(method, Exact):
                representative[[*settled]] = [*settled.values()]
        return build_result(
            batches,
            reasons,
            candidates=sum(level.candidates for level in levels),
            comparisons=sum(level.comparisons for level in levels),
            levels=tuple(levels),
            representative=representative,
        )


def _to_original_rows(pairs: JoinResult, rows: Ints, is_self_join: bool) -> JoinResult:
    """Replace row numbers within the remaining records by those within all records."""
    right = pairs.right
    if is_self_join:
        right = rows[right]
    return replace(pairs, left=rows[pairs.left], right=right)


def _select_pairs(
    pairs: JoinResult, is_selected: "np.ndarray[tuple[int], np.dtype[np.bool_]]", first_reason: int
) -> PairBatch:
    """Return some pairs; their reasons are numbered from `first_reason` on."""
    return PairBatch(
        pairs.left[is_selected],
        pairs.right[is_selected],
        pairs.similarity[is_selected],
        pairs.reason[is_selected].astype(np.int64) + first_reason,
    )


def _settled_rows(pairs: JoinResult, is_self_join: bool) -> dict[int, int]:
    """Return the rows that need no further method, each with the row that represents it."""
    if not is_self_join:
        return {row: row for row in pairs.left.tolist()}
    settled = dict[int, int]()
    for members in cluster_pairs(pairs):
        settled.update(dict.fromkeys(members[1:], members[0]))
    return settled
