"""The prefix filter as tasks: prepare both sides once, compare groups anywhere."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matcher.array_types import Bools, Doubles, Ints
from matcher.dedupe.base.edit_distance import (
    ObjectArray,
    compute_distances_by_row,
    edit_similarity,
    max_distance,
)
from matcher.dedupe.base.similarity_measures import Measure, TokenBags, tokenize_columns
from matcher.dedupe.base.text_columns import (
    TextColumn,
    expand_ranges,
    run_offsets,
    sort_by_length,
)
from matcher.dedupe.base.token_overlap import count_shared_tokens
from matcher.dedupe.prefix.bit_filter import (
    FilterSide,
    GroupFilter,
    PassedPairs,
    Range,
    group_by_size,
)
from matcher.dedupe.prefix.token_orders import select_tokens

LEFT_GROUPS_PER_TASK = 2  # the first task of a group has so many left groups, a second the others


@dataclass(frozen=True)
class GroupTask:
    """One group of the right side, to be compared with some groups of the left side."""

    right: Range
    left: tuple[Range, ...]


@dataclass(frozen=True)
class PreparedJoin:
    """Both sides (a self-join has one) sorted by number of tokens, with their selected tokens."""

    columns: list[TextColumn]
    bags: list[TokenBags]
    sides: list[FilterSide]
    measure: Measure

    @property
    def is_self_join(self) -> bool:
        """True if there is one side only."""
        return len(self.sides) == 1

    @cached_property
    def texts(self) -> list[ObjectArray]:
        """The texts of each side as arrays, to select many by index at once."""
        return [np.array(column.texts, dtype=object) for column in self.columns]

    @cached_property
    def max_distances(self) -> Ints:
        """The distance that the threshold allows, by the length of the longer text."""
        longest = 0
        for bags in self.bags:
            longest = max(longest, int(bags.sizes.max(initial=0)))
        threshold = self.measure.threshold
        distances = [max_distance(length, threshold) for length in range(longest + 1)]
        return np.array(distances, dtype=np.int64)


@dataclass(frozen=True)
class SimilarPairs:
    """Similar pairs of texts, and the number of pairs that passed each level."""

    left: Ints
    right: Ints
    similarity: Doubles
    reason: Ints
    passed_per_level: Ints


def prepare_join(texts: Sequence[Sequence[str]], measure: Measure, levels: int) -> PreparedJoin:
    """Tokenize the texts of both sides (or one) and select tokens at each level."""
    columns = [sort_by_length(side) for side in texts]
    bags, vocabulary_size = tokenize_columns(columns, measure.name)
    for side, (column, side_bags) in enumerate(zip(columns, bags, strict=True)):
        columns[side], bags[side] = _sort_by_size(column, side_bags)
    max_tokens = [_selected_counts(side_bags, measure) for side_bags in bags]
    selected = [*select_tokens(bags, max_tokens, vocabulary_size, levels)]
    sides = list[FilterSide]()
    for side, side_bags in enumerate(bags):
        sides.append(FilterSide(side_bags.sizes, [level[side] for level in selected]))
    return PreparedJoin(columns, bags, sides, measure)


def _sort_by_size(column: TextColumn, bags: TokenBags) -> tuple[TextColumn, TokenBags]:
    """Sort a column and its bags by the number of tokens."""
    order = np.argsort(bags.sizes, kind="stable")
    counts, sizes = np.diff(column.row_starts)[order], bags.sizes[order]
    rows = column.rows[expand_ranges(column.row_starts[:-1][order], counts)]
    texts = [column.texts[place] for place in order.tolist()]
    tokens = bags.tokens[expand_ranges(bags.offsets()[:-1][order], sizes)]
    sorted_column = TextColumn(texts, column.lengths[order], rows, run_offsets(counts))
    return sorted_column, TokenBags(tokens, sizes)


def _selected_counts(bags: TokenBags, measure: Measure) -> Ints:
    """Return the number of tokens that each record selects.

    A record that shares at least n of its s tokens with every similar one shares one of any
    s - n + 1 of them.
    """
    sizes, size_of = np.unique(bags.sizes, return_inverse=True)
    counts = [size - measure.min_overlap_any(size) + 1 for size in sizes.tolist()]
    return np.array(counts, dtype=np.int64)[size_of]


def split_tasks(join: PreparedJoin) -> list[GroupTask]:
    """Split the comparison into tasks of about equal work, the largest first."""
    sized_tasks = list[tuple[int, Range, tuple[Range, ...]]]()
    for right in group_by_size(join.sides[-1].sizes):
        lefts = [*_comparable_groups(join, right)]
        for part in (lefts[:LEFT_GROUPS_PER_TASK], lefts[LEFT_GROUPS_PER_TASK:]):
            if part:
                pairs = (right[1] - right[0]) * sum(end - first for first, end in part)
                sized_tasks.append((pairs, right, tuple(part)))
    return [GroupTask(right, left) for _, right, left in sorted(sized_tasks, reverse=True)]


def _comparable_groups(join: PreparedJoin, right: Range) -> Iterator[Range]:
    """Yield the groups of the left side whose sizes can reach the threshold with a right group."""
    left_sizes, right_sizes = join.sides[0].sizes, join.sides[-1].sizes
    smallest_right, largest_right = int(right_sizes[right[0]]), int(right_sizes[right[1] - 1])
    for left in group_by_size(left_sizes):
        # In a self-join the pair of two groups is compared once.
        if join.is_self_join and left[0] > right[0]:
            continue
        smallest_left, largest_left = int(left_sizes[left[0]]), int(left_sizes[left[1] - 1])
        overlap = join.measure.min_overlap(smallest_right, smallest_left)
        if overlap <= min(largest_right, largest_left):
            yield left


def compare_groups(join: PreparedJoin, task: GroupTask) -> SimilarPairs:
    """Find the similar pairs of one task."""
    group_filter = GroupFilter(join.sides[-1], task.right, join.measure)
    parts = list[SimilarPairs]()
    for left in task.left:
        for passed in group_filter.passing_pairs(join.sides[0], left, join.is_self_join):
            parts.append(_compare_pairs(join, passed))
    return _concatenate(parts, len(join.sides[-1].levels))


def _concatenate(parts: Sequence[SimilarPairs], levels: int) -> SimilarPairs:
    # The empty arrays give the concatenation a dtype when nothing was found.
    no_rows = np.empty(0, dtype=np.int64)
    passed_per_level = np.zeros(levels, dtype=np.int64)
    for pairs in parts:
        passed_per_level += pairs.passed_per_level
    return SimilarPairs(
        np.concatenate([no_rows, *(pairs.left for pairs in parts)]),
        np.concatenate([no_rows, *(pairs.right for pairs in parts)]),
        np.concatenate([np.empty(0), *(pairs.similarity for pairs in parts)]),
        np.concatenate([no_rows, *(pairs.reason for pairs in parts)]),
        passed_per_level,
    )


def _compare_pairs(join: PreparedJoin, passed: PassedPairs) -> SimilarPairs:
    """Compute the similarity of pairs that passed the filter, and keep the similar ones."""
    left_sizes = join.bags[0].sizes[passed.left]
    right_sizes = join.bags[-1].sizes[passed.right]
    if join.measure.name == "edit":
        longer = np.maximum(left_sizes, right_sizes)
        cutoffs = join.max_distances[longer]
        distances = compute_distances_by_row(
            join.texts[0], join.texts[-1], passed.left, passed.right, int(cutoffs.max(initial=0))
        )
        is_similar = distances <= cutoffs
        similarity = edit_similarity(distances, longer)
        reason = distances  # reasons are listed by distance
    else:
        overlap = count_shared_tokens(join.bags[0], join.bags[-1], passed.left, passed.right)
        is_similar, similarity = _score_overlaps(join.measure, overlap, left_sizes, right_sizes)
        reason = np.ones(len(overlap), dtype=np.int64)
    return SimilarPairs(
        passed.left[is_similar],
        passed.right[is_similar],
        similarity[is_similar],
        reason[is_similar],
        passed.passed_per_level,
    )


def _score_overlaps(
    measure: Measure, overlap: Ints, left_sizes: Ints, right_sizes: Ints
) -> tuple[Bools, Doubles]:
    """Return for each pair whether it is similar, and its similarity.

    Few combinations of overlap and sizes differ, so each is scored once.
    """
    base = int(max(left_sizes.max(initial=0), right_sizes.max(initial=0))) + 1
    codes = (overlap * base + left_sizes) * base + right_sizes
    distinct, case_of = np.unique(codes, return_inverse=True)
    is_similar = np.empty(len(distinct), dtype=np.bool_)
    scores = np.empty(len(distinct), dtype=np.float64)
    for case, code in enumerate(distinct.tolist()):
        shared, sizes = divmod(code, base * base)
        left_size, right_size = divmod(sizes, base)
        is_similar[case] = shared >= measure.min_overlap(left_size, right_size)
        scores[case] = measure.score(shared, left_size, right_size)
    return is_similar[case_of], scores[case_of]


def pair_empty_texts(join: PreparedJoin) -> SimilarPairs:
    """Return the pairs of texts without tokens: they are similar, and the filter finds none."""
    left_count = int(np.searchsorted(join.sides[0].sizes, 0, side="right"))
    right_count = int(np.searchsorted(join.sides[-1].sizes, 0, side="right"))
    left, right = np.divmod(np.arange(left_count * right_count), max(1, right_count))
    if join.is_self_join:
        is_once = left < right
        left, right = left[is_once], right[is_once]
    return SimilarPairs(
        left,
        right,
        np.ones(len(left)),
        np.zeros(len(left), dtype=np.int64),
        np.zeros(len(join.sides[0].levels), dtype=np.int64),
    )
