"""Rungs one after the other, the cheapest first: what one has decided, the next does not see."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from catalog.runtime.progress import Progress, silent
from matcher.dedupe.base.join import Joined, Level, Part, Rung, joined
from matcher.dedupe.base.records import Records
from matcher.dedupe.cluster.cluster import clusters
from matcher.dedupe.exact.exact import Exact


@dataclass(frozen=True)
class Chain:
    """Named rungs as one: of each cluster only the first record goes on; of two sides, what has no partner yet."""

    rungs: Sequence[tuple[str, Rung]]

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = silent
    ) -> Joined:
        rows, parts, reasons, levels = (
            np.arange(len(left)),
            list[Part](),
            list[str](),
            list[Level](),
        )
        same, seen = np.arange(len(left)), np.empty(0, dtype=np.int64)
        for number, (name, rung) in enumerate(self.rungs, 1):
            found = rung(left.only(rows.tolist()), right, progress)
            found = replace(
                found,
                left=rows[found.left],
                right=found.right if right is not None else rows[found.right],
            )
            new = np.flatnonzero(~np.isin(found.left << 32 | found.right, seen))
            why = found.why[new].astype(np.int64) + len(reasons)
            parts.append((found.left[new], found.right[new], found.similarity[new], why))
            seen = np.concatenate([seen, found.left[new] << 32 | found.right[new]])
            reasons += [f"{name}: {reason}" for reason in found.reasons]
            levels.append(Level(number, found.candidates, found.comparisons, name))
            decided = _decided(found, right is not None)
            rows = np.setdiff1d(rows, [*decided])
            if isinstance(rung, Exact):
                same[[*decided]] = [*decided.values()]
        candidates, comparisons = (
            sum(one.candidates for one in levels),
            sum(one.comparisons for one in levels),
        )
        return joined(
            parts,
            reasons,
            candidates=candidates,
            comparisons=comparisons,
            levels=tuple(levels),
            same=same,
        )


def _decided(found: Joined, two_sided: bool) -> dict[int, int]:
    """The rows that need not go on, and those that stand for them."""
    if two_sided:
        return {row: row for row in found.left.tolist()}
    return {row: members[0] for members in clusters(found) for row in members[1:]}
