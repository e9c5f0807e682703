"""The prefix filter over two groups of records as bit rows: who of the one group shares a selected token with whom.

A pair costs a bit instead of an entry in a list: the records of the second group that selected a token are one row of
bits, the union over a record's tokens an OR of rows, the intersection over levels an AND. Of very many tokens the
rarest share rows; that may let a pair pass which the published filter sends away, and never loses one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from matcher.dedupe.base.join import Indices, Words
from matcher.dedupe.base.measures import Measure, table
from matcher.dedupe.base.text_columns import offsets, spread
from matcher.dedupe.prefix.orders import Selected

MOST_ROWS = 4096
MOST_TOGETHER = 16_384
FEWEST_TOGETHER = 64
BLOCK_BYTES = 1 << 18
MOST_LINES = 1 << 20
Range = tuple[int, int]


@dataclass(frozen=True)
class Side:
    """The records of one side, by size, and what they select at each level."""

    sizes: Indices
    levels: list[Selected]


@dataclass(frozen=True)
class Left:
    """Pairs that are left over, and how many were after each level."""

    a: Indices
    b: Indices
    after: Indices


def groups(sizes: Indices) -> list[Range]:
    """Consecutive records that are treated together, of one size where many have it; not those of size 0.

    >>> groups(np.array([0, 1, 2, 3] + [4] * 64))
    [(1, 4), (4, 68)]
    """
    start = previous = int(np.searchsorted(sizes, 0, side="right"))
    spans = list[Range]()
    for stop in [*(np.flatnonzero(np.diff(sizes[start:])) + 1 + start).tolist(), len(sizes)]:
        if previous > start and max(stop - previous, previous - start) >= FEWEST_TOGETHER:
            spans.append((start, previous))
            start = previous
        previous = stop
    spans.append((start, previous))
    return [
        (at, min(at + MOST_TOGETHER, stop))
        for start, stop in spans
        for at in range(start, stop, MOST_TOGETHER)
    ]


class Sieve:
    """The second group, ready to be met by groups of the first side."""

    def __init__(self, side: Side, group: Range, measure: Measure) -> None:
        self._side, self._group, self._measure = side, group, measure
        self._sizes = side.sizes[slice(*group)]
        self._held: tuple[bytes, list[_Rows]] = (b"", [])

    def passing(self, side: Side, group: Range, same: bool) -> Iterator[Left]:
        """The pairs that pass all levels, block by block; where the sides are the `same`, each once."""
        sizes = side.sizes[slice(*group)]
        if self._measure.least(int(sizes[0]), int(self._sizes[0])) > min(
            int(sizes[-1]), int(self._sizes[-1])
        ):
            return
        least = table(self._measure.least, sizes[:1], self._sizes)[0]
        rows = self._rows(np.maximum(self._sizes - least + 1, 0))
        wanted = sizes - table(self._measure.least, sizes, self._sizes[:1])[:, 0] + 1
        step = max(1, BLOCK_BYTES // rows[0].bits.shape[1] // 8)
        batch = step * max(1, MOST_LINES // step // max(1, int(wanted.max())))
        for first in range(group[0], group[1], batch):
            part = (first, min(first + batch, group[1]))
            asked = wanted[first - group[0] : part[1] - group[0]]
            lines = [
                held.lines(level, part, asked)
                for level, held in zip(side.levels, rows, strict=True)
            ]
            for start in range(first, part[1], step):
                block = (start, min(start + step, part[1]))
                here = [line[start - first : block[1] - first] for line in lines]
                if not same or start < self._group[1] - 1:
                    yield self._block(side, block, [*zip(rows, here, strict=True)], same)

    def _block(
        self, side: Side, block: Range, rows: "list[tuple[_Rows, Indices]]", same: bool
    ) -> Left:
        left = self._allowed(side, block, same)
        after = np.zeros(len(rows), dtype=np.int64)
        for level, (held, lines) in enumerate(rows):
            shared = held.united(lines)
            left = shared if left is None else np.bitwise_and(left, shared, out=shared)
            after[level] = np.bitwise_count(left).sum()
        a, b = places(left if left is not None else rows[0][0].bits[:0])
        return Left(a + block[0], b + self._group[0], after)

    def _allowed(self, side: Side, block: Range, same: bool) -> Words | None:
        """The pairs whose sizes and places allow them; None where all do."""
        sizes, others = side.sizes[slice(*block)], self._sizes
        one_size = sizes[0] == sizes[-1] and others[0] == others[-1]
        within = same and block[1] > self._group[0]
        if one_size and not within:
            return None
        allowed = np.zeros((len(sizes), -(-len(others) // 64) * 64), dtype=np.bool_)
        if within:
            allowed[:, : len(others)] = (
                np.arange(*block)[:, None] < np.arange(*self._group)[None, :]
            )
        if not one_size:
            least = table(self._measure.least, sizes, others)
            possible = least <= np.minimum(sizes[:, None], others[None, :])
            allowed[:, : len(others)] = allowed[:, : len(others)] & possible if within else possible
        return np.packbits(allowed, axis=1, bitorder="little").view(np.uint64)

    def _rows(self, wanted: Indices) -> "list[_Rows]":
        if self._held[0] != wanted.tobytes():
            self._held = (
                wanted.tobytes(),
                [_Rows(level, self._group, wanted) for level in self._side.levels],
            )
        return self._held[1]


class _Rows:
    """For each token the records of a group that selected it at one level, as a row of bits; the last row is empty."""

    def __init__(self, selected: Selected, group: Range, wanted: Indices) -> None:
        tokens, owners = _first(selected, group, wanted)
        kinds, kind, counts = np.unique(tokens, return_inverse=True, return_counts=True)
        row = np.empty(len(kinds), dtype=np.int64)
        row[np.argsort(-counts, kind="stable")] = np.arange(len(kinds))
        row = (
            np.where(row < MOST_ROWS // 2, row, MOST_ROWS // 2 + row % (MOST_ROWS // 2))
            if len(kinds) > MOST_ROWS
            else row
        )
        width = -(-(group[1] - group[0]) // 64)
        self.bits = np.zeros((min(len(kinds), MOST_ROWS) + 1, width), dtype=np.uint64)
        flat = self.bits.reshape(-1)
        np.bitwise_or.at(
            flat, row[kind] * width + (owners >> 6), np.uint64(1) << (owners & 63).astype(np.uint64)
        )
        self._kinds, self._row = kinds, np.append(row, len(self.bits) - 1)

    def lines(self, selected: Selected, group: Range, wanted: Indices) -> Indices:
        """Which rows stand for the tokens of each record of another group, filled up by the empty one."""
        tokens, owners = _first(selected, group, wanted)
        places = np.searchsorted(self._kinds, tokens)
        found = places < len(self._kinds)
        found[found] = self._kinds[places[found]] == tokens[found]
        counts = np.bincount(owners, minlength=group[1] - group[0])
        lines = np.full((len(counts), max(1, int(counts.max(initial=1)))), len(self.bits) - 1)
        nth = np.arange(len(owners)) - np.repeat(offsets(counts)[:-1], counts)
        lines[owners, nth] = self._row[np.where(found, places, -1)]
        return lines

    def united(self, lines: Indices) -> Words:
        """For each of some records those of the group that share one of its tokens."""
        union: Words = self.bits[lines[:, 0]]
        for column in range(1, lines.shape[1]):
            union |= self.bits[lines[:, column]]
        return union


def places(bits: Words) -> tuple[Indices, Indices]:
    """Where rows of bits are set: the row and the place in it. Few are, so whole bytes without any are left out first.

    >>> [found.tolist() for found in places(np.array([[0, 1], [6, 0]], dtype=np.uint64))]
    [[0, 1, 1], [64, 1, 2]]
    """
    held = bits.view(np.uint8).reshape(-1)
    some = np.flatnonzero(held != 0)
    found = np.flatnonzero(np.unpackbits(held[some], bitorder="little").view(np.bool_))
    place = some[found >> 3] << 3 | found & 7
    row = place // max(1, 64 * bits.shape[1])
    return row, place - row * 64 * bits.shape[1]


def _first(selected: Selected, group: Range, wanted: Indices) -> tuple[Indices, Indices]:
    """The first `wanted` tokens of each record of a group, and the record's place in the group."""
    starts = selected.starts[group[0] : group[1]]
    counts = np.minimum(
        np.maximum(wanted, 0), selected.starts[group[0] + 1 : group[1] + 1] - starts
    )
    return selected.tokens[spread(starts, counts)], np.repeat(
        np.arange(group[1] - group[0]), counts
    )
