"""Rungs one after the other, the cheapest first: what one has decided, the next does not see."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from catalog.progress import Progress, silent
from matcher.ladder.cluster import clusters
from matcher.ladder.records import Records
from matcher.ladder.rung import Indices, Joined, Level, Part, Rung, joined


@dataclass(frozen=True)
class Chain:
    """Named rungs as one: of each cluster only the first record goes on; of two sides, what has no partner yet."""

    rungs: Sequence[tuple[str, Rung]]

    def __call__(self, left: Records, right: Records | None = None, progress: Progress = silent) -> Joined:
        rows, parts, reasons, levels = np.arange(len(left)), list[Part](), list[str](), list[Level]()
        for number, (name, rung) in enumerate(self.rungs, 1):
            found = rung(left.only(rows.tolist()), right, progress)
            found = replace(found, left=rows[found.left], right=found.right if right is not None else rows[found.right])
            parts.append((found.left, found.right, found.similarity, found.why.astype(np.int64) + len(reasons)))
            reasons += [f"{name}: {reason}" for reason in found.reasons]
            levels.append(Level(number, found.candidates, found.comparisons, name))
            rows = np.setdiff1d(rows, _decided(found, right is not None))
        candidates, comparisons = sum(one.candidates for one in levels), sum(one.comparisons for one in levels)
        return joined(parts, reasons, candidates=candidates, comparisons=comparisons, levels=tuple(levels))


def _decided(found: Joined, two_sided: bool) -> Indices:
    if two_sided:
        return found.left
    return np.array([row for members in clusters(found) for row in members[1:]], dtype=np.int64)
