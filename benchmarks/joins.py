"""The exact rungs against their peers, in one run, on the same records; exactness pair by pair.

    python -m benchmarks.joins segments FILE [--share 0.05]      edit join; rapidfuzz's cdist in length windows
    python -m benchmarks.joins levels FILE [--levels 1,4,10,16]  the prefix filter, level count by level count
    python -m benchmarks.joins exact FILE                        equal records; DuckDB's join
    python -m benchmarks.joins all FILE                          all of these

FILE holds a record a line. `--share` measures cdist, which sees every pair of like length and so is brute force too, on
a random share of its blocks: seconds are scaled up, and the pairs of these blocks must be ours. CPU seconds count all
processes.
"""

import argparse
import importlib.util
import os
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from matcher.dedupe.base.join import Indices, Joined, exactly
from matcher.dedupe.base.records import Records, load
from matcher.dedupe.base.verify import allowed
from matcher.dedupe.edit.segments import Segments
from matcher.dedupe.exact.exact import Exact
from matcher.dedupe.prefix.prefix_filter import PrefixFilter

THRESHOLD = exactly(0.8)
BLOCK = 500
WORKERS = 2
Found = TypeVar("Found", Joined, Indices)


def main() -> None:
    """Carry out the benchmark that is named."""
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    words.add_argument("what", choices=["segments", "levels", "exact", "all"])
    words.add_argument("file", type=Path)
    words.add_argument("--share", type=float, default=0.05)
    words.add_argument("--levels", default="1,4,10,16")
    given = words.parse_args()
    records = load(given.file)
    print(f"{len(records):,} records", flush=True)
    for name, work in (("segments", segments), ("levels", levels), ("exact", exact)):
        if given.what in (name, "all"):
            work(records, given)


def segments(records: Records, given: argparse.Namespace) -> None:
    """Segments, and rapidfuzz's cdist on all texts of like length."""
    ours, found = timed("segments", lambda: Segments(THRESHOLD)(records))
    windows = Windows(records, given.share)
    peer, theirs = timed(
        f"rapidfuzz cdist in length windows, {WORKERS} workers, share {given.share:g}",
        windows.pairs,
    )
    seconds, cpu = peer[0] / windows.measured / ours[0], peer[1] / windows.measured / ours[1]
    mine = windows.of_blocks(found)
    same = len(np.intersect1d(mine, theirs))
    print(f"segments are {seconds:.1f} x faster in seconds, {cpu:.1f} x in CPU seconds")
    print(
        f"{same:,} pairs are the same, {len(mine) - same} only ours, {len(theirs) - same} only brute force's"
    )


def levels(records: Records, given: argparse.Namespace) -> None:
    """The prefix filter at several numbers of levels: computations and seconds saved against the first of them."""
    base, wanted = (0.0, 0.0, 0), codes(Segments(THRESHOLD)(records))
    for count in map(int, given.levels.split(",")):
        (seconds, cpu), found = timed(
            f"prefix-filter, {count} levels", lambda count=count: _filtered(records, count)
        )
        base = base if base[2] else (seconds, cpu, found.comparisons)
        saved = f"{1 - seconds / base[0]:.1%} less time, {1 - cpu / base[1]:.1%} less CPU time"
        fewer = f"{found.comparisons:,} similarities computed, {1 - found.comparisons / base[2]:.1%} fewer"
        same = (
            "the pairs of segments"
            if np.array_equal(wanted, codes(found))
            else "OTHER PAIRS THAN SEGMENTS"
        )
        print(f"{fewer}, {saved}; {same}", flush=True)


def exact(records: Records, given: argparse.Namespace) -> None:
    """Equal records after normalising, and DuckDB's join of the texts as they are."""
    ours, _ = timed("exact, normalised", lambda: Exact()(records))
    if installed("duckdb"):
        theirs, _ = timed("duckdb join, not normalised", lambda: _duckdb(records.texts))
        print(f"duckdb takes {theirs[0] / ours[0]:.2f} x the seconds")


def timed(name: str, work: Callable[[], Found]) -> tuple[tuple[float, float], Found]:
    """Carry out some work; prints its seconds, CPU seconds and pairs, and gives them with what was found."""
    begun, before = time.perf_counter(), os.times()
    found = work()
    seconds, after = time.perf_counter() - begun, os.times()
    cpu = sum(after[:4]) - sum(before[:4])
    print(f"{name:60} {seconds:8.2f} s {cpu:8.2f} CPU s {len(found):12,} pairs", flush=True)
    return (seconds, cpu), found


def installed(peer: str) -> bool:
    """Whether a peer is there; says so where it is not."""
    there = importlib.util.find_spec(peer) is not None
    if not there:
        print(
            f"{peer} is left out: it is not installed (pip install -r requirements/bench.txt)",
            flush=True,
        )
    return there


def codes(found: Joined) -> Indices:
    """Pairs as single numbers, sorted."""
    return np.sort(found.left << 32 | found.right)


def _filtered(records: Records, count: int) -> Joined:
    return PrefixFilter(THRESHOLD, levels=count)(records)


class Windows:
    """The records by length, in blocks, a random share of which is compared with all that are long enough and after."""

    def __init__(self, records: Records, share: float) -> None:
        self._lengths = np.array([len(text) for text in records.texts])
        self._order = np.argsort(self._lengths, kind="stable")
        self._texts = [records.texts[row] for row in self._order.tolist()]
        self._lengths = self._lengths[self._order]
        self._most = np.array(
            [allowed(length, THRESHOLD) for length in range(int(self._lengths.max(initial=0)) + 1)]
        )
        every = [*pairwise([*range(0, len(self._texts), BLOCK), len(self._texts)])]
        chosen = np.random.default_rng(0).random(len(every)) < share
        self._blocks = [
            block for block, taken in zip(every, chosen, strict=True) if taken
        ] or every[:1]
        cells = [self._cells(*block) for block in every]
        self.measured = sum(self._cells(*block) for block in self._blocks) / sum(cells)

    def pairs(self) -> Indices:
        """The pairs of the chosen blocks."""
        found = [np.empty(0, dtype=np.int64)]
        for start, stop in self._blocks:
            end = self._end(stop)
            longer = self._most[self._lengths[start:end]]
            distance = cdist(self._texts[start:stop], self._texts[start:end], scorer=Levenshtein.distance,
                             score_cutoff=int(longer.max()), dtype=np.uint8, workers=WORKERS)  # fmt: skip
            later = np.arange(end - start)[None, :] > np.arange(stop - start)[:, None]
            a, b = np.nonzero((distance <= longer[None, :]) & later)
            one, other = self._order[a + start], self._order[b + start]
            found.append(np.minimum(one, other) << 32 | np.maximum(one, other))
        return np.sort(np.concatenate(found))

    def of_blocks(self, found: Joined) -> Indices:
        """Of some pairs those of the chosen blocks."""
        place = np.argsort(self._order)
        block = np.minimum(place[found.left], place[found.right]) // BLOCK
        return codes(found)[np.isin(block, [start // BLOCK for start, _ in self._blocks])]

    def _end(self, stop: int) -> int:
        """Where the texts end that are not too long for the last of a block."""
        possible = np.arange(len(self._most)) - self._most <= self._lengths[stop - 1]
        return int(np.searchsorted(self._lengths, np.flatnonzero(possible).max(), side="right"))

    def _cells(self, start: int, stop: int) -> int:
        return (stop - start) * (self._end(stop) - start)


def _duckdb(texts: list[str]) -> Indices:
    import duckdb

    with duckdb.connect() as base:
        base.register(
            "given", {"text": np.array(texts, dtype=object), "number": np.arange(len(texts))}
        )
        base.execute("CREATE TABLE texts AS SELECT * FROM given")
        joined = "SELECT a.number AS one FROM texts a JOIN texts b ON a.text = b.text AND a.number < b.number"
        return np.asarray(base.execute(joined).fetchnumpy()["one"])


if __name__ == "__main__":
    main()
