"""Duplicates in files: what was asked, and what a rung found."""

from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from catalog.runtime.progress import Progress
from matcher.dedupe.base.join import Joined
from matcher.dedupe.base.measures import Similarity
from matcher.dedupe.base.records import Records, load
from matcher.dedupe.cluster.cluster import clusters
from scout.dedupe.methods import Method, Tuning, chosen


@dataclass(frozen=True)
class Asked:
    """What is to be compared, and by what."""

    file: Path
    right: Path | None = None
    keys: tuple[str, ...] = ()
    method: Method = "ladder"
    similarity: Similarity | None = None
    threshold: float = 0.8
    tuning: Tuning = field(default_factory=Tuning)
    age: str | None = None


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
        levels = [
            {key: value for key, value in vars(level).items() if value != ""}
            for level in self.pairs.levels
        ]
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
    rung = chosen(asked.method, asked.similarity, asked.threshold, asked.tuning)
    left = load(asked.file, asked.keys, progress)
    right = load(asked.right, asked.keys, progress) if asked.right else None
    begun = perf_counter()
    pairs = rung(left, right, progress)
    seconds = perf_counter() - begun
    return Duplicates(
        asked, left, right, pairs, clusters(pairs, None if right is None else len(left)), seconds
    )
