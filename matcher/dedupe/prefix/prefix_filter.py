"""All pairs of at least some edit, Jaccard or cosine similarity, exactly: the multi-level prefix filter.

After Tateishi and Kusui, "Fast Duplicated Documents Detection with Multi-level Prefix-filter": two records that share
none of their selected tokens cannot be similar enough; each level selects by another order (`orders`), and only pairs
that pass all of them (`sieve`) have their similarity computed. The least share of common tokens is taken from both
records' sizes, so that a longer partner asks for fewer selected tokens, and sizes that rule a pair out need no level.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from os import cpu_count

import numpy as np

from catalog.runtime.processes import worker_pool
from catalog.runtime.progress import Progress, silent
from matcher.dedupe.base.join import Joined, Level, Part, joined
from matcher.dedupe.base.measures import Measure, Similarity
from matcher.dedupe.base.records import Records
from matcher.dedupe.base.text_columns import rows_of
from matcher.dedupe.base.verify import edit_reasons
from matcher.dedupe.prefix.prefix_work import (
    Found,
    Task,
    Work,
    compare,
    prepare,
    tasks,
    without_tokens,
)

FEW = 30_000
LEVELS = 10


@dataclass(frozen=True)
class PrefixFilter:
    """The rung: pairs of at least some similarity, by some number of levels."""

    threshold: Fraction
    similarity: Similarity = "edit"
    levels: int = LEVELS
    workers: int = 0

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = silent
    ) -> Joined:
        texts = [side.texts for side in (left, right) if side is not None]
        work = prepare(texts, Measure(self.similarity, self.threshold), self.levels)
        todo = tasks(work)
        parts = [_as_rows(work, without_tokens(work))]
        after = np.zeros(self.levels, dtype=np.int64)
        for number, found in enumerate(
            _carried_out(work, todo, self.workers or cpu_count() or 1), 1
        ):
            parts.append(_as_rows(work, found))
            after += found.after
            progress("groups compared", number, len(todo))
        most = max((int(found.max(initial=0)) for *_, found in parts), default=0)
        reasons = (
            edit_reasons(most)
            if self.similarity == "edit"
            else ("equal text", f"{self.similarity} of words")
        )
        reported = tuple(
            Level(number, count, count) for number, count in enumerate(after.tolist(), 1)
        )
        return joined(
            parts, reasons, candidates=int(after[0]), comparisons=int(after[-1]), levels=reported
        )


def _carried_out(work: Work, todo: list[Task], workers: int) -> Iterator[Found]:
    """The tasks' results, from worker processes where there is much to do."""
    if workers == 1 or sum(len(column.texts) for column in work.columns) < FEW:
        yield from (compare(work, task) for task in todo)
        return
    with worker_pool(workers, _hold, work) as pool:
        yield from pool.map(_compare_held, todo)


_HELD: list[Work] = []


def _hold(work: Work) -> None:
    _HELD[:] = [work]


def _compare_held(task: Task) -> Found:
    return compare(_HELD[0], task)


def _as_rows(work: Work, found: Found) -> Part:
    a, b, of = rows_of(found.a, found.b, work.columns[0], work.columns[-1])
    if len(work.columns) == 1:
        a, b = np.minimum(a, b), np.maximum(a, b)
    return a, b, found.similarity[of], found.why[of]
