"""Duplicates in files: which rung does the work, and what it found."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from catalog.errors import UsageError
from catalog.progress import Progress
from matcher.ladder.chain import Chain
from matcher.ladder.cluster import clusters
from matcher.ladder.exact import Exact, fingerprint
from matcher.ladder.measures import Similarity
from matcher.ladder.minhash import MinHash
from matcher.ladder.prefix_filter import LEVELS, PrefixFilter
from matcher.ladder.records import Records, load, printed
from matcher.ladder.rung import Joined, Rung, exactly
from matcher.ladder.seen import seen, sorted_out
from matcher.ladder.segments import Segments
from matcher.ladder.simhash import SimHash

Method = Literal["exact", "prefix-filter", "segments", "minhash", "simhash", "ladder"]
OFFERED: dict[str, tuple[Similarity, ...]] = {
    "prefix-filter": ("edit", "jaccard", "cosine"),
    "segments": ("edit",),
    "minhash": ("jaccard",),
    "ladder": ("edit", "jaccard", "cosine"),
}
STEPS: dict[Similarity, tuple[Method, ...]] = {
    "edit": ("segments", "minhash"),
    "jaccard": ("minhash",),
    "cosine": ("prefix-filter",),
}


@dataclass(frozen=True)
class Asked:
    """What is to be compared, and by what."""

    file: Path
    right: Path | None = None
    keys: tuple[str, ...] = ()
    method: Method = "ladder"
    similarity: Similarity | None = None
    threshold: float = 0.8
    levels: int | None = None


@dataclass(frozen=True)
class Duplicates:
    """What was found: both sides' records, their pairs and clusters, and the seconds that finding the pairs took."""

    asked: Asked
    left: Records
    right: Records | None
    pairs: Joined
    clusters: list[list[int]]
    seconds: float

    def figures(self) -> dict[str, Any]:
        """The figures as `scout dedupe --json` prints them."""
        levels = [{key: value for key, value in vars(level).items() if value != ""} for level in self.pairs.levels]
        sides = [side for side in (self.left, self.right) if side is not None]
        return {
            "records": sum(map(len, sides)),
            "left_out": sum(side.left_out for side in sides),
            "bad": sum(side.bad for side in sides),
            "candidates": self.pairs.candidates,
            "comparisons": self.pairs.comparisons,
            "pairs": len(self.pairs),
            "clusters": len(self.clusters),
            "seconds": round(self.seconds, 3),
            "levels": levels,
        }

    def place(self, row: int) -> tuple[Path, int]:
        """The file and line of a record; rows of the right side stand after those of the left."""
        if row < len(self.left):
            return self.asked.file, self.left.lines[row]
        assert self.right is not None
        assert self.asked.right is not None
        return self.asked.right, self.right.lines[row - len(self.left)]

    def text(self, row: int) -> str:
        """The keys of a record as one text."""
        if row < len(self.left):
            return self.left.texts[row]
        assert self.right is not None
        return self.right.texts[row - len(self.left)]


def find(asked: Asked, progress: Progress) -> Duplicates:
    """The duplicates of a file, or between two. Raises UsageError, UnreadableFeed."""
    rung = chosen(asked)
    left = load(asked.file, asked.keys, progress)
    right = load(asked.right, asked.keys, progress) if asked.right else None
    begun = perf_counter()
    pairs = rung(left, right, progress)
    seconds = perf_counter() - begun
    return Duplicates(asked, left, right, pairs, clusters(pairs, None if right is None else len(left)), seconds)


def chosen(asked: Asked) -> Rung:
    """The rung that the words of the command name. Raises UsageError where they do not fit."""
    fitting = OFFERED.get(asked.method, ())
    if asked.similarity and asked.similarity not in fitting:
        raise UsageError(
            f"--similarity {asked.similarity}: --method {asked.method} has {' or '.join(fitting) or 'none'}"
        )
    if asked.levels and asked.method != "prefix-filter":
        raise UsageError(f"--levels: --method {asked.method} has none; --method prefix-filter has")
    similarity = asked.similarity or (fitting[0] if fitting else "edit")
    if asked.method != "ladder":
        return _rung(asked.method, similarity, asked)
    steps: list[Method] = ["exact", *STEPS[similarity]]
    return Chain([(step, _rung(step, similarity, asked)) for step in steps])


def _rung(method: Method, similarity: Similarity, asked: Asked) -> Rung:
    threshold = exactly(asked.threshold)
    if method == "exact":
        return Exact()
    if method == "prefix-filter":
        return PrefixFilter(threshold, similarity, asked.levels or LEVELS)
    kinds: dict[str, type[Segments | MinHash | SimHash]] = {
        "segments": Segments,
        "minhash": MinHash,
        "simhash": SimHash,
    }
    return kinds[method](threshold)


def on_disk(
    asked: Asked,
    store: Path | None,
    memory: str,
    write: Callable[[Iterator[tuple[str, str]]], int],
    progress: Progress,
) -> dict[str, Any]:
    """Equal records by fingerprints kept in a store, or sorted in so much memory; the figures. Raises UsageError."""
    if asked.method != "exact" or asked.right or (store and memory):
        raise UsageError("--store and --memory: one of them, with --method exact, and without --right")
    if memory and not re.fullmatch(r"\d+(\.\d+)? ?[KMGT]i?B", memory):
        raise UsageError(f"--memory {memory}: a size such as 500MB or 2GB is wanted")
    begun, count = perf_counter(), 0

    def counted() -> Iterator[tuple[str, bytes]]:
        nonlocal count
        for name, key in printed(asked.file, asked.keys, progress):
            count += 1
            yield name, fingerprint(key)

    pairs = write(seen(counted(), store) if store else sorted_out(counted(), memory))
    figures = {"records": count, "left_out": 0, "bad": 0, "candidates": pairs, "comparisons": 0, "pairs": pairs}
    return {**figures, "clusters": 0, "seconds": round(perf_counter() - begun, 3), "levels": []}
