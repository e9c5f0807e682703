"""Where texts meet: the candidates of the segment join for the texts of one length, and of all with all by masks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from matcher.dedupe.base.char_masks import near
from matcher.dedupe.base.join import Flags, Indices, Words
from matcher.dedupe.base.rolling_hash import Hashed, mixed
from matcher.dedupe.base.text_columns import chunks, once, runs, spread
from matcher.dedupe.edit.partition import Choice, bounds, choices, effort

MOST_AT_ONCE = 4_000_000
MOST_EDITS = 40
MOST_EDITS_TWO_WHOLE = 5
CALL = 20e-6
LOOK = 15e-9
COMPARE = 2e-9
Found = tuple[list[Indices], int]


@dataclass(frozen=True)
class Task:
    """The texts of one length with all that are at most `edits` shorter: of the same set, or of another.

    `strictly` leaves out those of the same length.
    """

    longer: Hashed
    shorter: Hashed
    length: int
    edits: int
    same: bool = False
    strictly: bool = False

    def lengths(self) -> list[int]:
        """The lengths of the shorter texts."""
        last = self.length - self.strictly
        return [
            length
            for length in range(self.length - self.edits, last + 1)
            if length in self.shorter.spans
        ]


def candidates(task: Task) -> Found:
    """Candidates as numbers `longer << 32 | shorter`, and how many there were before the masks."""
    lengths = task.lengths()
    return _all_with_all(task, lengths) if _is_cheap(task, lengths) else _by_segments(task, lengths)


def _is_cheap(task: Task, lengths: Sequence[int]) -> bool:
    """Whether comparing all masks with all costs less than looking for segments."""
    start, stop = task.longer.spans[task.length]
    others = sum(_size(task.shorter, length) for length in lengths)
    if task.edits > MOST_EDITS or task.length <= task.edits:
        return True
    places = effort(task.edits, _whole(task))
    looks = places * (CALL + LOOK * others / max(1, len(lengths)))
    return (stop - start) * others * COMPARE <= looks


def _whole(task: Task) -> int:
    return 2 if task.edits <= MOST_EDITS_TWO_WHOLE and task.length >= task.edits + 2 else 1


def _size(side: Hashed, length: int) -> int:
    start, stop = side.spans[length]
    return stop - start


def _all_with_all(task: Task, lengths: Sequence[int]) -> Found:
    start, stop = task.longer.spans[task.length]
    parts, met = list[Indices](), 0
    for length in lengths:
        first, last = task.shorter.spans[length]
        step = max(1, MOST_AT_ONCE // (last - first))
        for here in range(start, stop, step):
            longer = task.longer.mask[here : min(here + step, stop), None]
            kept = near(
                longer, task.shorter.mask[None, first:last], task.edits, task.length - length
            )
            a, b = np.nonzero(kept)
            parts.append(_codes(task, a + here, b + first))
            met += kept.size
    return parts, met


def _by_segments(task: Task, lengths: Sequence[int]) -> Found:
    keys, owners = _offered(task)
    seen = _Seen(keys)
    looked = [*_looked_up(task, lengths, seen)]
    wanted = pl.DataFrame(
        {
            "key": np.concatenate([part for part, _ in looked]),
            "b": np.concatenate([part for _, part in looked]),
        }
    )
    order = np.argsort(keys)
    offered, first, count = runs(keys[order])
    index = pl.DataFrame({"key": offered, "first": first, "count": count})
    met = wanted.join(index, on="key", how="inner")
    first, count, b = (met[name].to_numpy() for name in ("first", "count", "b"))
    total = int(count.sum())
    start, stop = task.longer.spans[task.length]
    if total > (stop - start) * sum(_size(task.shorter, length) for length in lengths):
        return _all_with_all(task, lengths)
    return [_expanded(task, owners[order], part) for part in _cut(first, count, b)], total


def _cut(first: Indices, count: Indices, b: Indices) -> Iterator[tuple[Indices, Indices, Indices]]:
    for part in chunks(count, MOST_AT_ONCE):
        yield first[part], count[part], b[part]


def _expanded(
    task: Task, owners: NDArray[np.uint32], met: tuple[Indices, Indices, Indices]
) -> Indices:
    """The candidates of some keys that both sides have, without those that the masks rule out."""
    first, count, shorter = met
    a, b = owners[spread(first, count)], np.repeat(shorter, count)
    by = task.length - task.shorter.column.lengths[shorter]
    kept = near(task.longer.mask[a], task.shorter.mask[b], task.edits, np.repeat(by, count))
    return once(_codes(task, a[kept], b[kept]))


def _codes(task: Task, a: NDArray[np.integer[Any]], b: NDArray[np.integer[Any]]) -> Indices:
    if task.same:
        kept = a > b
        a, b = a[kept], b[kept]
    codes: Indices = a.astype(np.int64) << 32 | b
    return codes


def _offered(task: Task) -> tuple[Words, NDArray[np.uint32]]:
    """The keys of the longer texts' whole segments, and whose they are."""
    start, stop = task.longer.spans[task.length]
    sets = {tuple(number for number, _ in choice) for choice in _every(task)}
    keys = [
        _key(task, task.longer, task.length, tuple((number, 0) for number in one))
        for one in sorted(sets)
    ]
    return np.concatenate(keys), np.tile(np.arange(start, stop, dtype=np.uint32), len(keys))


def _every(task: Task) -> Iterator[Choice]:
    for shorter_by in range(task.edits + 1):
        yield from choices(task.edits, _whole(task), shorter_by)


def _looked_up(
    task: Task, lengths: Sequence[int], seen: "_Seen"
) -> Iterator[tuple[Words, NDArray[np.uint32]]]:
    """The keys of the shorter texts' substrings that a longer text may have offered, and whose they are."""
    yield np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint32)
    places = bounds(task.length, task.edits + _whole(task))
    for length in lengths:
        first, _ = task.shorter.spans[length]
        for choice in choices(task.edits, _whole(task), task.length - length):
            if all(
                places[n] + moved >= 0 and places[n + 1] + moved <= length for n, moved in choice
            ):
                keys = _key(task, task.shorter, length, choice)
                kept = np.flatnonzero(seen.perhaps(keys))
                yield keys[kept], (kept + first).astype(np.uint32)


def _key(task: Task, side: Hashed, length: int, choice: Choice) -> Words:
    """One number for the choice's segments, as they stand in each text of a length."""
    places = bounds(task.length, task.edits + _whole(task))
    found = np.zeros(_size(side, length), dtype=np.uint64)
    for number, moved in choice:
        substring = side.substring(length, places[number] + moved, places[number + 1] + moved)
        found += substring * _SALTS[number]
    found ^= found >> np.uint64(29)
    found *= np.uint64(0xBF58476D1CE4E5B9)
    return found


_SALTS = mixed(np.arange(MOST_EDITS + 3)) | np.uint64(1)


class _Seen:
    """Which keys may be there: a byte for each of some leading bits, small enough for the processor's cache."""

    def __init__(self, keys: Words) -> None:
        bits = min(22, max(10, len(keys).bit_length() + 3))
        self._shift = np.uint64(64 - bits)
        self._flags = np.zeros(1 << bits, dtype=np.bool_)
        self._flags[keys >> self._shift] = True

    def perhaps(self, keys: Words) -> Flags:
        """False where a key is not there."""
        found: Flags = self._flags[keys >> self._shift]
        return found
