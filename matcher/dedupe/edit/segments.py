"""All pairs of texts of at least some edit similarity, exactly: a join on segments, and a distance for what it leaves.

rapidfuzz alone computes every distance between texts of like length. Here two texts meet only where some of their
segments agree (`partition`, `meet`); the bags of characters (`masks`) send most of these away, and rapidfuzz sees the
few that are left. Lengths for which the segments would be too many are compared by masks, all with all.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from os import cpu_count

import numpy as np

from catalog.runtime.progress import Progress, silent
from matcher.dedupe.base.join import Indices, Joined, Part, joined
from matcher.dedupe.base.records import Records
from matcher.dedupe.base.rolling_hash import Hashed, hashed
from matcher.dedupe.base.text_columns import Distinct, distinct, equal, once, rows_of
from matcher.dedupe.base.verify import allowed, distances, edit_reasons, similarities
from matcher.dedupe.edit.segment_candidates import MOST_AT_ONCE, Task, candidates


@dataclass(frozen=True)
class Segments:
    """The rung: pairs whose edit distance is at most (1 - threshold) times the longer one's length."""

    threshold: Fraction
    workers: int = 0

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = silent
    ) -> Joined:
        sides = hashed([distinct(side.texts) for side in (left, right) if side is not None])
        tasks = [*_tasks(sides, self.threshold)]
        parts = [equal(sides[0].column)] if right is None else []
        met = compared = 0
        with ThreadPoolExecutor(self.workers or cpu_count() or 1) as pool:
            for number, (task, done) in enumerate(
                zip(tasks, pool.map(_run, tasks), strict=True), 1
            ):
                parts.append(_as_rows(task, done, sides[0]))
                met, compared = met + done.candidates, compared + done.comparisons
                progress("lengths joined", number, len(tasks))
        reasons = edit_reasons(max((task.edits for task in tasks), default=0))
        return joined(parts, reasons, candidates=met, comparisons=compared)


@dataclass(frozen=True)
class _Done:
    a: Indices
    b: Indices
    distance: Indices
    candidates: int
    comparisons: int


def _tasks(sides: list[Hashed], threshold: Fraction) -> Iterator[Task]:
    left, right, same = sides[0], sides[-1], len(sides) == 1
    for length in left.spans:
        yield Task(left, right, length, allowed(length, threshold), same)
    for length in () if same else right.spans:
        yield Task(right, left, length, allowed(length, threshold), strictly=True)


def _run(task: Task) -> _Done:
    """The pairs of one task; the distance of each candidate is computed once."""
    parts, met = candidates(task)
    code = once(np.concatenate([np.empty(0, dtype=np.int64), *parts]))
    a, b = code >> 32, code & 0xFFFFFFFF
    distance = np.zeros(len(code), dtype=np.int64)
    for start in range(0, len(code), MOST_AT_ONCE):
        part = slice(start, start + MOST_AT_ONCE)
        left, right = _texts(task.longer.column, a[part]), _texts(task.shorter.column, b[part])
        distance[part] = distances(left, right, task.edits)
    kept = distance <= task.edits
    return _Done(a[kept], b[kept], distance[kept], met, len(code))


def _texts(column: Distinct, rows: Indices) -> list[str]:
    return [column.texts[row] for row in rows.tolist()]


def _as_rows(task: Task, done: _Done, left: Hashed) -> Part:
    a, b, of = rows_of(done.a, done.b, task.longer.column, task.shorter.column)
    if task.same:
        a, b = np.minimum(a, b), np.maximum(a, b)
    elif task.longer is not left:
        a, b = b, a
    distance = done.distance[of]
    return a, b, similarities(distance, task.length), distance
