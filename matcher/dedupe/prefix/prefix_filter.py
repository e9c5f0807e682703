"""All pairs with at least some edit, Jaccard or cosine similarity, exactly: the prefix filter.

After Tateishi and Kusui, "Fast Duplicated Documents Detection with Multi-level Prefix-filter": two
records that share none of their selected tokens cannot be similar enough. Each level selects by
another order (`token_orders`), and only pairs that pass all levels (`bit_filter`) have their
similarity computed. The required overlap follows from the sizes of both records, so a larger
partner requires fewer selected tokens, and sizes that rule a pair out need no level.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from os import cpu_count

import numpy as np

from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.worker_pool import worker_pool
from matcher.dedupe.base.edit_distance import edit_reasons
from matcher.dedupe.base.join import JoinResult, Level, PairBatch, build_result
from matcher.dedupe.base.records import Records
from matcher.dedupe.base.similarity_measures import Measure, SimilarityName
from matcher.dedupe.base.text_columns import expand_to_rows
from matcher.dedupe.prefix.group_join import (
    GroupTask,
    PreparedJoin,
    SimilarPairs,
    compare_groups,
    pair_empty_texts,
    prepare_join,
    split_tasks,
)

MIN_RECORDS_FOR_PROCESSES = 30_000  # below it starting processes costs more than it saves
DEFAULT_LEVELS = 10  # benchmarks.joins levels: 74 to 76 % fewer computations than one level


@dataclass(frozen=True)
class PrefixFilter:
    """The prefix filter join, with a number of levels.

    `workers` is the number of processes; 0 means one per core.
    """

    threshold: Fraction
    similarity: SimilarityName = "edit"
    levels: int = DEFAULT_LEVELS
    workers: int = 0

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = no_progress
    ) -> JoinResult:
        """Join two sets of records, or one with itself."""
        texts = [side.texts for side in (left, right) if side is not None]
        measure = Measure(self.similarity, self.threshold)
        join = prepare_join(texts, measure, self.levels)
        tasks = split_tasks(join)
        batches = [_to_rows(join, pair_empty_texts(join))]
        passed_per_level = np.zeros(self.levels, dtype=np.int64)
        workers = self.workers or cpu_count() or 1
        for number, pairs in enumerate(_run_tasks(join, tasks, workers), 1):
            batches.append(_to_rows(join, pairs))
            passed_per_level += pairs.passed_per_level
            progress("groups compared", number, len(tasks))
        levels = [
            Level(number, count, count) for number, count in enumerate(passed_per_level.tolist(), 1)
        ]
        return build_result(
            batches,
            self._reasons(batches),
            candidates=levels[0].candidates,
            comparisons=levels[-1].comparisons,
            levels=tuple(levels),
        )

    def _reasons(self, batches: list[PairBatch]) -> tuple[str, ...]:
        if self.similarity != "edit":
            return "equal text", f"{self.similarity} of words"
        max_edits = max(int(batch.reason.max(initial=0)) for batch in batches)
        return edit_reasons(max_edits)


def _run_tasks(join: PreparedJoin, tasks: list[GroupTask], workers: int) -> Iterator[SimilarPairs]:
    """Yield the results of all tasks in order, from worker processes if there is much to do."""
    record_count = sum(len(column.texts) for column in join.columns)
    if workers == 1 or record_count < MIN_RECORDS_FOR_PROCESSES:
        for task in tasks:
            yield compare_groups(join, task)
        return
    with worker_pool(workers, _set_up_worker, join) as pool:
        yield from pool.map(_compare_in_worker, tasks)


# State of a worker process, set once when it starts: pickling both sides with every task would cost
# more than comparing them. It stays empty in the process that calls the join.
_worker_join: list[PreparedJoin] = []


def _set_up_worker(join: PreparedJoin) -> None:
    _worker_join[:] = [join]


def _compare_in_worker(task: GroupTask) -> SimilarPairs:
    return compare_groups(_worker_join[0], task)


def _to_rows(join: PreparedJoin, pairs: SimilarPairs) -> PairBatch:
    left, right, source = expand_to_rows(pairs.left, pairs.right, join.columns[0], join.columns[-1])
    if join.is_self_join:
        left, right = np.minimum(left, right), np.maximum(left, right)
    return PairBatch(left, right, pairs.similarity[source], pairs.reason[source])
