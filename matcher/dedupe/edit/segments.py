"""All pairs of texts with at least some edit similarity, exactly: a segment join (Pass-Join).

rapidfuzz alone computes every distance between texts of like length. Here two texts are candidates
only if some of their segments agree (`partition`, `segment_candidates`). Character masks reject
most of those, and rapidfuzz computes the distances of the remaining few. Lengths that would need
too many segments are compared by masks, all with all.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from os import cpu_count

import numpy as np

from catalog.runtime.progress import Progress, no_progress
from matcher.array_types import Ints
from matcher.dedupe.base.edit_distance import (
    compute_distances,
    edit_reasons,
    edit_similarity,
    max_distance,
)
from matcher.dedupe.base.join import JoinResult, PairBatch, build_result
from matcher.dedupe.base.packed_texts import take_texts
from matcher.dedupe.base.pair_codes import unpack_pairs
from matcher.dedupe.base.records import Records
from matcher.dedupe.base.text_columns import (
    equal_pairs,
    expand_to_rows,
    group_equal_texts,
    sort_unique,
)
from matcher.dedupe.edit.length_join import LengthJoin
from matcher.dedupe.edit.segment_candidates import find_candidates
from matcher.dedupe.edit.text_blocks import CodedColumn, code_columns

MAX_PENDING = 1_000_000  # candidates that wait for their distance; 100 MB of references


@dataclass(frozen=True)
class TextPairs:
    """Similar pairs of texts of one join by length, with the work it took."""

    longer: Ints
    shorter: Ints
    distances: Ints
    candidates: int
    comparisons: int


@dataclass(frozen=True)
class Segments:
    """The segment join: pairs with an edit distance of at most (1 - threshold) x longer length."""

    threshold: Fraction
    workers: int = 0

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = no_progress
    ) -> JoinResult:
        """Join two sets of records, or one with itself."""
        sides = [group_equal_texts(side.texts) for side in (left, right) if side is not None]
        columns = code_columns(sides)
        joins = [*_joins_by_length(columns, self.threshold)]
        batches = list[PairBatch]()
        if right is None:
            batches.append(equal_pairs(columns[0].column))
        candidates = comparisons = 0
        done = zip(joins, self.run_joins(joins), strict=True)
        for number, (join, pairs) in enumerate(done, 1):
            batches.append(_to_rows(join, pairs, columns[0]))
            candidates += pairs.candidates
            comparisons += pairs.comparisons
            progress("lengths joined", number, len(joins))
        reasons = edit_reasons(max((join.max_edits for join in joins), default=0))
        return build_result(batches, reasons, candidates=candidates, comparisons=comparisons)

    def run_joins(self, joins: Sequence[LengthJoin]) -> Iterator[TextPairs]:
        """Yield the similar pairs of each join by length."""
        # numpy and rapidfuzz release the GIL, so threads run in parallel without copying texts.
        with ThreadPoolExecutor(self.workers or cpu_count() or 1) as pool:
            yield from pool.map(join_lengths, joins)


def _joins_by_length(columns: list[CodedColumn], threshold: Fraction) -> Iterator[LengthJoin]:
    """Yield a join per length of the longer text; between two sides either may be the longer."""
    left, right = columns[0], columns[-1]
    is_self_join = len(columns) == 1
    for length in left.length_ranges:
        yield LengthJoin(left, right, length, max_distance(length, threshold), is_self_join)
    if is_self_join:
        return
    for length in right.length_ranges:
        max_edits = max_distance(length, threshold)
        # Texts of equal length were compared above.
        yield LengthJoin(right, left, length, max_edits, only_shorter=True)


def join_lengths(join: LengthJoin) -> TextPairs:
    """Find the similar pairs of one join by length."""
    verifier = _Verifier(join)
    candidates = 0
    for compared, codes in find_candidates(join):
        candidates += compared
        verifier.add(codes)
    return verifier.similar_pairs(candidates)


class _Verifier:
    """Computes the distances of candidates in chunks that bound the memory."""

    def __init__(self, join: LengthJoin) -> None:
        self._join = join
        self._pending = [np.empty(0, dtype=np.int64)]
        self._pending_count = 0
        self._similar = [np.empty(0, dtype=np.int64)]
        self._distances = [np.empty(0, dtype=np.int64)]
        self._comparisons = 0

    def add(self, codes: Ints) -> None:
        """Add packed pairs; the same pair may come several times."""
        self._pending.append(codes)
        self._pending_count += len(codes)
        if self._pending_count <= MAX_PENDING:
            return
        self._pending = [sort_unique(np.concatenate(self._pending))]
        self._pending_count = len(self._pending[0])
        # A pair that comes again later is compared again, so chunks should be large.
        if self._pending_count > MAX_PENDING // 2:
            self._verify()

    def similar_pairs(self, candidates: int) -> TextPairs:
        """Return the similar pairs among all candidates."""
        self._verify()
        codes, first = np.unique(np.concatenate(self._similar), return_index=True)
        longer, shorter = unpack_pairs(codes)
        distances = np.concatenate(self._distances)[first]
        return TextPairs(longer, shorter, distances, candidates, self._comparisons)

    def _verify(self) -> None:
        join = self._join
        codes = sort_unique(np.concatenate(self._pending))
        longer, shorter = unpack_pairs(codes)
        distances = compute_distances(
            take_texts(join.longer.column.texts, longer),
            take_texts(join.shorter.column.texts, shorter),
            join.max_edits,
        )
        is_similar = distances <= join.max_edits
        self._similar.append(codes[is_similar])
        self._distances.append(distances[is_similar])
        self._comparisons += len(codes)
        self._pending, self._pending_count = [np.empty(0, dtype=np.int64)], 0


def _to_rows(join: LengthJoin, pairs: TextPairs, left: CodedColumn) -> PairBatch:
    """Expand pairs of texts to pairs of rows, the left side first."""
    left_rows, right_rows, source = expand_to_rows(
        pairs.longer, pairs.shorter, join.longer.column, join.shorter.column
    )
    if join.is_self_join:
        left_rows, right_rows = np.minimum(left_rows, right_rows), np.maximum(left_rows, right_rows)
    elif join.longer is not left:
        left_rows, right_rows = right_rows, left_rows
    distances = pairs.distances[source]
    # The reasons are listed by distance, so the distance is the index of the reason.
    return PairBatch(left_rows, right_rows, edit_similarity(distances, join.length), distances)
