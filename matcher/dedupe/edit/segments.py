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
from matcher.dedupe.base.edit_distance import (
    compute_distances,
    edit_reasons,
    edit_similarity,
    max_distance,
)
from matcher.dedupe.base.join import IntArray, JoinResult, PairBatch, build_result
from matcher.dedupe.base.pair_codes import unpack_pairs
from matcher.dedupe.base.records import Records
from matcher.dedupe.base.rolling_hash import HashedColumn, hash_columns
from matcher.dedupe.base.text_columns import (
    TextColumn,
    equal_pairs,
    expand_to_rows,
    group_equal_texts,
    sort_unique,
)
from matcher.dedupe.edit.segment_candidates import LengthJoin, find_candidates

TEXTS_PER_CHUNK = 4_000_000  # pairs whose texts are listed for rapidfuzz at once


@dataclass(frozen=True)
class TextPairs:
    """Similar pairs of texts of one join by length, with the work it took."""

    longer: IntArray
    shorter: IntArray
    distances: IntArray
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
        columns = hash_columns(sides)
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


def _joins_by_length(columns: list[HashedColumn], threshold: Fraction) -> Iterator[LengthJoin]:
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
    """Find the similar pairs of one join; the distance of each candidate is computed once."""
    chunks, candidates = find_candidates(join)
    codes = sort_unique(np.concatenate([np.empty(0, dtype=np.int64), *chunks]))
    longer, shorter = unpack_pairs(codes)
    distances = np.zeros(len(codes), dtype=np.int64)
    for start in range(0, len(codes), TEXTS_PER_CHUNK):
        chunk = slice(start, start + TEXTS_PER_CHUNK)
        longer_texts = _select_texts(join.longer.column, longer[chunk])
        shorter_texts = _select_texts(join.shorter.column, shorter[chunk])
        distances[chunk] = compute_distances(longer_texts, shorter_texts, join.max_edits)
    is_similar = distances <= join.max_edits
    return TextPairs(
        longer[is_similar], shorter[is_similar], distances[is_similar], candidates, len(codes)
    )


def _select_texts(column: TextColumn, places: IntArray) -> list[str]:
    return [column.texts[place] for place in places.tolist()]


def _to_rows(join: LengthJoin, pairs: TextPairs, left: HashedColumn) -> PairBatch:
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
