"""The prefix filter over two groups of records as bit matrices: which pairs share a selected token.

A pair costs a bit instead of an entry in an inverted list. The records of the second group that
selected a token are one row of bits; the union over a record's tokens is an OR of rows, the
intersection over levels an AND. If there are very many tokens, the rarest share rows. That may pass
a pair that the published filter rejects, and never loses one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from matcher.array_types import Bools, Ints, UInts
from matcher.dedupe.base.similarity_measures import Measure, tabulate
from matcher.dedupe.base.text_columns import expand_ranges, run_offsets
from matcher.dedupe.prefix.token_orders import SelectedTokens

# Words of bit rows that are gathered at a time: 512 KB, which a processor's cache holds.
GATHERED_WORDS = 65_536
MAX_BIT_ROWS = 4096  # bit rows of a group and level; tokens beyond it share the second half
MAX_GROUP_SIZE = 16_384  # records; a bit row is then at most 2 KB
MIN_GROUP_SIZE = 64  # records: one machine word of bits; smaller groups of sizes are united
BLOCK_BYTES = 1 << 18  # bytes; cap on the bit matrix of a block of left records
MAX_BATCH_TOKENS = 1 << 20  # selected tokens looked up at once

Range = tuple[int, int]  # first and end of consecutive records


@dataclass(frozen=True)
class FilterSide:
    """The records of one side by ascending size, and their selected tokens at each level."""

    sizes: Ints
    levels: list[SelectedTokens]


@dataclass(frozen=True)
class PassedPairs:
    """Pairs that passed all levels, and the number of pairs that passed each level."""

    left: Ints
    right: Ints
    passed_per_level: Ints


def group_by_size(sizes: Ints) -> list[Range]:
    """Split records, sorted by size, into groups: of one size if many records have it.

    Records of size 0 are left out.

    >>> group_by_size(np.array([0, 1, 2, 3] + [4] * 64))
    [(1, 4), (4, 68)]
    """
    start = previous = int(np.searchsorted(sizes, 0, side="right"))
    spans = list[Range]()
    size_ends = np.flatnonzero(np.diff(sizes[start:])) + 1 + start
    for stop in [*size_ends.tolist(), len(sizes)]:
        # A group ends before a size that is frequent, and after one that made it large enough.
        if previous > start and max(stop - previous, previous - start) >= MIN_GROUP_SIZE:
            spans.append((start, previous))
            start = previous
        previous = stop
    spans.append((start, previous))
    groups = list[Range]()
    for start, stop in spans:
        for first in range(start, stop, MAX_GROUP_SIZE):
            groups.append((first, min(first + MAX_GROUP_SIZE, stop)))
    return groups


class GroupFilter:
    """The prefix filter of one group of the second side, for groups of the first."""

    def __init__(self, side: FilterSide, group: Range, measure: Measure) -> None:
        self._side = side
        self._group = group
        self._measure = measure
        self._sizes = side.sizes[slice(*group)]
        self._rows_key = b""
        self._rows: list[_BitRows] = []

    def passing_pairs(
        self, left_side: FilterSide, left_group: Range, is_self_join: bool
    ) -> Iterator[PassedPairs]:
        """Yield the pairs that pass all levels, block by block; in a self-join each pair once."""
        min_overlap = self._measure.min_overlap
        sizes = left_side.sizes[slice(*left_group)]
        smallest, largest = int(sizes[0]), int(sizes[-1])
        # Sizes that differ too much rule out the whole group.
        if min_overlap(smallest, int(self._sizes[0])) > min(largest, int(self._sizes[-1])):
            return
        # With larger partners the required overlap grows, and fewer selected tokens suffice: so
        # each side selects by the smallest record of the other group.
        overlap_with_smallest = tabulate(min_overlap, sizes[:1], self._sizes)[0]
        rows = self._bit_rows(np.maximum(self._sizes - overlap_with_smallest + 1, 0))
        token_counts = sizes - tabulate(min_overlap, sizes, self._sizes[:1])[:, 0] + 1
        block_size = max(1, BLOCK_BYTES // rows[0].bits.shape[1] // 8)
        blocks_per_batch = max(1, MAX_BATCH_TOKENS // block_size // max(1, int(token_counts.max())))
        batch_size = block_size * blocks_per_batch
        first, end = left_group
        for batch_start in range(first, end, batch_size):
            batch = (batch_start, min(batch_start + batch_size, end))
            batch_counts = token_counts[batch_start - first : batch[1] - first]
            row_numbers = list[Ints]()
            for selected, level_rows in zip(left_side.levels, rows, strict=True):
                row_numbers.append(level_rows.row_numbers(selected, batch, batch_counts))
            for start in range(*batch, block_size):
                block = (start, min(start + block_size, batch[1]))
                if is_self_join and start >= self._group[1] - 1:
                    continue
                place = slice(start - batch_start, block[1] - batch_start)
                block_rows = [numbers[place] for numbers in row_numbers]
                yield self._filter_block(left_side, block, rows, block_rows, is_self_join)

    def _filter_block(
        self,
        left_side: FilterSide,
        block: Range,
        rows: "list[_BitRows]",
        row_numbers: list[Ints],
        is_self_join: bool,
    ) -> PassedPairs:
        passed = self._comparable_pairs(left_side, block, is_self_join)
        passed_per_level = np.zeros(len(rows), dtype=np.int64)
        for level, (level_rows, numbers) in enumerate(zip(rows, row_numbers, strict=True)):
            sharing = level_rows.unite(numbers)
            if passed is not None:
                sharing &= passed
            passed = sharing
            passed_per_level[level] = np.bitwise_count(passed).sum()
        # There is at least one level.
        assert passed is not None
        left, right = find_set_bits(passed)
        return PassedPairs(left + block[0], right + self._group[0], passed_per_level)

    def _comparable_pairs(
        self, left_side: FilterSide, block: Range, is_self_join: bool
    ) -> UInts | None:
        """Return the pairs that sizes and row order allow, as bits; None if all are allowed."""
        sizes = left_side.sizes[slice(*block)]
        is_one_size = sizes[0] == sizes[-1] and self._sizes[0] == self._sizes[-1]
        overlaps_group = is_self_join and block[1] > self._group[0]
        if is_one_size and not overlaps_group:
            return None
        count = len(self._sizes)
        padded_count = -(-count // 64) * 64
        allowed: Bools = np.zeros((len(sizes), padded_count), dtype=np.bool_)
        allowed[:, :count] = True
        if overlaps_group:
            allowed[:, :count] = np.arange(*block)[:, None] < np.arange(*self._group)[None, :]
        if not is_one_size:
            overlap = tabulate(self._measure.min_overlap, sizes, self._sizes)
            allowed[:, :count] &= overlap <= np.minimum(sizes[:, None], self._sizes[None, :])
        return np.packbits(allowed, axis=1, bitorder="little").view(np.uint64)

    def _bit_rows(self, token_counts: Ints) -> "list[_BitRows]":
        """Return the bit rows of each level; those of the last call if the counts are the same."""
        rows_key = token_counts.tobytes()
        if self._rows_key != rows_key:
            levels = self._side.levels
            self._rows = [_BitRows(level, self._group, token_counts) for level in levels]
            self._rows_key = rows_key
        return self._rows


class _BitRows:
    """For each token the records of a group that selected it at one level, as a row of bits.

    The last row is empty: it stands for tokens that nobody in the group selected.
    """

    def __init__(self, selected: SelectedTokens, group: Range, token_counts: Ints) -> None:
        tokens, owners = _first_tokens(selected, group, token_counts)
        distinct, place, counts = np.unique(tokens, return_inverse=True, return_counts=True)
        row_of = np.empty(len(distinct), dtype=np.int64)
        row_of[np.argsort(-counts, kind="stable")] = np.arange(len(distinct))
        if len(distinct) > MAX_BIT_ROWS:
            # The most frequent half of the rows has one token each; the rare tokens share the rest.
            half = MAX_BIT_ROWS // 2
            row_of = np.where(row_of < half, row_of, half + row_of % half)
        words_per_row = -(-(group[1] - group[0]) // 64)
        row_count = min(len(distinct), MAX_BIT_ROWS) + 1
        self.bits = np.zeros((row_count, words_per_row), dtype=np.uint64)
        word = row_of[place] * words_per_row + (owners >> 6)
        bit = np.uint64(1) << (owners & 63).astype(np.uint64)
        np.bitwise_or.at(self.bits.reshape(-1), word, bit)
        self._tokens = distinct
        self._empty_row = row_count - 1
        self._row_of = np.append(row_of, self._empty_row)

    def row_numbers(self, selected: SelectedTokens, group: Range, token_counts: Ints) -> Ints:
        """Return the bit rows of the selected tokens of another group, a line a record.

        Shorter lines are filled up with the empty row.
        """
        tokens, owners = _first_tokens(selected, group, token_counts)
        places = np.searchsorted(self._tokens, tokens)
        is_present = places < len(self._tokens)
        is_present[is_present] = self._tokens[places[is_present]] == tokens[is_present]
        counts = np.bincount(owners, minlength=group[1] - group[0])
        width = max(1, int(counts.max(initial=1)))
        numbers = np.full((len(counts), width), self._empty_row)
        nth = np.arange(len(owners)) - np.repeat(run_offsets(counts)[:-1], counts)
        # Place -1 is the empty row, appended last.
        numbers[owners, nth] = self._row_of[np.where(is_present, places, -1)]
        return numbers

    def unite(self, row_numbers: Ints) -> UInts:
        """Return for each line the union of its bit rows: the records that share a token."""
        lines, width = row_numbers.shape
        union: UInts = self.bits[row_numbers[:, 0]]
        # Few records of many tokens have their rows gathered many columns at a time.
        step = max(1, GATHERED_WORDS // max(1, lines * self.bits.shape[1]))
        for start in range(1, width, step):
            gathered = self.bits[row_numbers[:, start : start + step]]
            union |= gathered[:, 0] if step == 1 else np.bitwise_or.reduce(gathered, axis=1)
        return union


def find_set_bits(bits: UInts) -> tuple[Ints, Ints]:
    """Return row and column of each set bit of a bit matrix.

    Few bits are set, so bytes without any are skipped first.

    >>> rows, columns = find_set_bits(np.array([[0, 1], [6, 0]], dtype=np.uint64))
    >>> rows.tolist(), columns.tolist()
    ([0, 1, 1], [64, 1, 2])
    """
    flat = bits.view(np.uint8).reshape(-1)
    filled = np.flatnonzero(flat != 0)
    set_bits = np.flatnonzero(np.unpackbits(flat[filled], bitorder="little").view(np.bool_))
    place = filled[set_bits >> 3] << 3 | set_bits & 7
    bits_per_row = 64 * bits.shape[1]
    row = place // max(1, bits_per_row)
    return row, place - row * bits_per_row


def _first_tokens(selected: SelectedTokens, group: Range, token_counts: Ints) -> tuple[Ints, Ints]:
    """Return the first selected tokens of each record of a group, and the record's place in it."""
    starts = selected.offsets[group[0] : group[1]]
    available = selected.offsets[group[0] + 1 : group[1] + 1] - starts
    counts = np.minimum(np.maximum(token_counts, 0), available)
    tokens = selected.tokens[expand_ranges(starts, counts)]
    return tokens, np.repeat(np.arange(group[1] - group[0]), counts)
