"""The exact joins against their peers, in one run, on the same records; exactness pair by pair.

    python -m benchmarks.joins segments FILE [--share 0.05]      edit join; rapidfuzz's cdist by length
    python -m benchmarks.joins levels FILE [--levels 1,4,10,16]  the prefix filter by number of levels
    python -m benchmarks.joins exact FILE                        equal records; DuckDB's join
    python -m benchmarks.joins all FILE                          all of these

FILE holds a record per line. cdist compares every pair of like length, so it serves as brute force
too. `--share` is the random share of its blocks that is measured: seconds are scaled up, and the
pairs of these blocks must be ours. CPU seconds count all processes.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from benchmarks.measure import processor_seconds
from matcher.array_types import Ints
from matcher.dedupe.base.edit_distance import max_distance
from matcher.dedupe.base.join import JoinResult, parse_threshold
from matcher.dedupe.base.pair_codes import pack_pairs
from matcher.dedupe.base.records import Records, load_records
from matcher.dedupe.edit.segments import Segments
from matcher.dedupe.exact.exact_join import Exact
from matcher.dedupe.prefix.prefix_filter import PrefixFilter

THRESHOLD = parse_threshold(0.8)  # edit similarity
BLOCK_SIZE = 500  # texts of a block of brute force
PEER_WORKERS = 2  # threads of cdist
RANDOM_SEED = 0  # seed of the sample of blocks
Result = TypeVar("Result", JoinResult, Ints)


@dataclass(frozen=True)
class Timing(Generic[Result]):
    """The result of some work, its seconds, and its CPU seconds over all processes."""

    result: Result
    seconds: float
    cpu_seconds: float


def main() -> None:
    """Run the benchmark that is named on the command line."""
    argument_parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    argument_parser.add_argument("benchmark", choices=["segments", "levels", "exact", "all"])
    argument_parser.add_argument("file", type=Path)
    argument_parser.add_argument("--share", type=float, default=0.05)
    argument_parser.add_argument("--levels", default="1,4,10,16")
    arguments = argument_parser.parse_args()
    records = load_records(arguments.file)
    print(f"{len(records):,} records", flush=True)
    if arguments.benchmark in ("segments", "all"):
        compare_segments(records, arguments.share)
    if arguments.benchmark in ("levels", "all"):
        compare_levels(records, [int(count) for count in arguments.levels.split(",")])
    if arguments.benchmark in ("exact", "all"):
        compare_exact(records)


def compare_segments(records: Records, share: float) -> None:
    """Compare the segment join with rapidfuzz's cdist on all texts of like length."""
    ours = measure("segments", lambda: Segments(THRESHOLD)(records))
    brute_force = BruteForce(records, share)
    peer = measure(
        f"rapidfuzz cdist in length windows, {PEER_WORKERS} workers, share {share:g}",
        brute_force.pairs,
    )
    seconds = peer.seconds / brute_force.measured_share / ours.seconds
    cpu_seconds = peer.cpu_seconds / brute_force.measured_share / ours.cpu_seconds
    our_pairs = brute_force.select_measured(ours.result)
    common = len(np.intersect1d(our_pairs, peer.result))
    print(f"segments are {seconds:.1f} x faster in seconds, {cpu_seconds:.1f} x in CPU seconds")
    print(
        f"{common:,} pairs are the same, {len(our_pairs) - common} only ours, "
        f"{len(peer.result) - common} only brute force's"
    )


def compare_levels(records: Records, level_counts: list[int]) -> None:
    """Compare the prefix filter at several numbers of levels with the first of them."""
    expected = sorted_codes(Segments(THRESHOLD)(records))
    first: Timing[JoinResult] | None = None
    for levels in level_counts:
        method = PrefixFilter(THRESHOLD, levels=levels)
        # Bound as a default value: the lambda must not see the next method.
        timing = measure(f"prefix-filter, {levels} levels", lambda method=method: method(records))
        first = first or timing
        comparisons = timing.result.comparisons
        fewer = 1 - comparisons / first.result.comparisons
        less_time = 1 - timing.seconds / first.seconds
        less_cpu_time = 1 - timing.cpu_seconds / first.cpu_seconds
        is_exact = np.array_equal(expected, sorted_codes(timing.result))
        print(
            f"{comparisons:,} similarities computed, {fewer:.1%} fewer, "
            f"{less_time:.1%} less time, {less_cpu_time:.1%} less CPU time; "
            f"{'the pairs of segments' if is_exact else 'OTHER PAIRS THAN SEGMENTS'}",
            flush=True,
        )


def compare_exact(records: Records) -> None:
    """Compare the exact join (after normalising) with DuckDB's join of the unchanged texts."""
    ours = measure("exact, normalised", lambda: Exact()(records))
    if is_installed("duckdb"):
        peer = measure("duckdb join, not normalised", lambda: _join_with_duckdb(records.texts))
        print(f"duckdb takes {peer.seconds / ours.seconds:.2f} x the seconds")


def measure(name: str, work: Callable[[], Result]) -> Timing[Result]:
    """Run some work, and print its seconds, CPU seconds and number of pairs."""
    begun, cpu_begun = time.perf_counter(), processor_seconds()
    result = work()
    seconds, cpu_seconds = time.perf_counter() - begun, processor_seconds() - cpu_begun
    print(
        f"{name:60} {seconds:8.2f} s {cpu_seconds:8.2f} CPU s {len(result):12,} pairs", flush=True
    )
    return Timing(result, seconds, cpu_seconds)


def is_installed(peer: str) -> bool:
    """Return True if a peer is installed; print a note if not."""
    installed = importlib.util.find_spec(peer) is not None
    if not installed:
        print(
            f"{peer} is left out: it is not installed (pip install -r requirements/bench.txt)",
            flush=True,
        )
    return installed


def sorted_codes(result: JoinResult) -> Ints:
    """Return pairs as single numbers, sorted."""
    return np.sort(pack_pairs(result.left, result.right))


class BruteForce:
    """Records by length in blocks; a random share of blocks is compared with all later texts.

    Only texts that are not too long for the threshold are compared.
    """

    def __init__(self, records: Records, share: float) -> None:
        lengths = np.array([len(text) for text in records.texts])
        self._order = np.argsort(lengths, kind="stable")
        self._lengths = lengths[self._order]
        self._texts = [records.texts[row] for row in self._order.tolist()]
        longest = int(lengths.max(initial=0))
        self._max_distance = np.array(
            [max_distance(length, THRESHOLD) for length in range(longest + 1)]
        )
        blocks = [*pairwise([*range(0, len(self._texts), BLOCK_SIZE), len(self._texts)])]
        is_sampled = np.random.default_rng(RANDOM_SEED).random(len(blocks)) < share
        sampled = [block for block, taken in zip(blocks, is_sampled, strict=True) if taken]
        self._blocks = sampled or blocks[:1]
        measured = sum(self._count_pairs(*block) for block in self._blocks)
        self.measured_share = measured / sum(self._count_pairs(*block) for block in blocks)

    def pairs(self) -> Ints:
        """Return the similar pairs of the sampled blocks, packed and sorted."""
        codes = [np.empty(0, dtype=np.int64)]
        for start, stop in self._blocks:
            end = self._window_end(stop)
            cutoffs = self._max_distance[self._lengths[start:end]]
            distances = cdist(
                self._texts[start:stop],
                self._texts[start:end],
                scorer=Levenshtein.distance,
                score_cutoff=int(cutoffs.max()),
                # Distances beyond the cutoff are one more than it.
                dtype=np.uint8 if cutoffs.max() < np.iinfo(np.uint8).max else np.uint16,
                workers=PEER_WORKERS,
            )
            is_later = np.arange(end - start)[None, :] > np.arange(stop - start)[:, None]
            places, later_places = np.nonzero((distances <= cutoffs[None, :]) & is_later)
            rows, later_rows = self._order[places + start], self._order[later_places + start]
            codes.append(pack_pairs(np.minimum(rows, later_rows), np.maximum(rows, later_rows)))
        return np.sort(np.concatenate(codes))

    def select_measured(self, result: JoinResult) -> Ints:
        """Return the pairs of a result that belong to the sampled blocks."""
        place = np.argsort(self._order)
        block = np.minimum(place[result.left], place[result.right]) // BLOCK_SIZE
        sampled = [start // BLOCK_SIZE for start, _ in self._blocks]
        return pack_pairs(result.left, result.right)[np.isin(block, sampled)]

    def _window_end(self, stop: int) -> int:
        """Return the end of the texts that are short enough for the last text of a block."""
        lengths = np.arange(len(self._max_distance))
        is_possible = lengths - self._max_distance <= self._lengths[stop - 1]
        longest = np.flatnonzero(is_possible).max()
        return int(np.searchsorted(self._lengths, longest, side="right"))

    def _count_pairs(self, start: int, stop: int) -> int:
        return (stop - start) * (self._window_end(stop) - start)


def _join_with_duckdb(texts: list[str]) -> Ints:
    import duckdb

    with duckdb.connect() as database:
        database.register(
            "given", {"text": np.array(texts, dtype=object), "number": np.arange(len(texts))}
        )
        database.execute("CREATE TABLE texts AS SELECT * FROM given")
        pairs = database.execute(
            "SELECT a.number AS first FROM texts a "
            "JOIN texts b ON a.text = b.text AND a.number < b.number"
        )
        return np.asarray(pairs.fetchnumpy()["first"])


if __name__ == "__main__":
    main()
