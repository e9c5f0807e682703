"""The exact join on Spark: fingerprints are computed per partition, and shuffled by themselves."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from catalog.runtime.progress import Progress
from catalog.runtime.spark.session import SparkJobs, import_spark_module, spark_errors
from matcher.array_types import Ints
from matcher.dedupe.base.records import Records
from matcher.dedupe.exact.exact_join import Exact, fingerprint

# Records of a file, and so of a task.
RECORDS_PER_FILE = 200_000


@dataclass(frozen=True, kw_only=True)
class SparkExact(Exact):
    """The exact join with its fingerprints on Spark."""

    jobs: SparkJobs

    def group_equal(self, sides: Sequence[Records], progress: Progress) -> tuple[Ints, int]:
        """Return the group of each record, side after side, and the number of groups."""
        pyarrow = import_spark_module("pyarrow")
        # ASCII JSON, because a text may hold halves of surrogate pairs.
        encoded = [
            json.dumps(fields).encode()
            for side in sides
            for fields in zip(*side.fields, strict=True)
        ]
        group = np.arange(len(encoded))
        progress("fingerprints", 0, len(encoded))
        with spark_errors():
            records = self.jobs.write_rows(
                {
                    "row": pyarrow.array(group),
                    "fields": pyarrow.array(encoded, pyarrow.binary()),
                },
                RECORDS_PER_FILE,
            )
            prints = records.mapInArrow(_fingerprint_batches, "print binary, row long")
            parts = max(self.jobs.cores, len(encoded) // RECORDS_PER_FILE)
            self.jobs.set_partitions(parts)
            sorted_prints = prints.repartition(parts, "print").sortWithinPartitions("print", "row")
            repeats = sorted_prints.mapInArrow(_find_repeats, "first long, row long").toArrow()
        group[repeats["row"].to_numpy()] = repeats["first"].to_numpy()
        progress("fingerprints", len(encoded), len(encoded))
        return group, len(group)


def _fingerprint_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """Replace the fields of records by their fingerprints."""
    import pyarrow

    for batch in batches:
        prints = [fingerprint(json.loads(fields)) for fields in batch["fields"].to_pylist()]
        columns = [pyarrow.array(prints, pyarrow.binary()), batch["row"]]
        yield pyarrow.record_batch(columns, names=["print", "row"])


def _find_repeats(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield each repeated record with the first of its fingerprint; the input is sorted."""
    import pyarrow

    last_print, first_row = b"", -1
    for batch in batches:
        first_rows, rows = list[int](), list[int]()
        for print_, row in zip(batch["print"].to_pylist(), batch["row"].to_pylist(), strict=True):
            if print_ == last_print:
                first_rows.append(first_row)
                rows.append(row)
            else:
                last_print, first_row = print_, row
        columns = [pyarrow.array(numbers, pyarrow.int64()) for numbers in (first_rows, rows)]
        yield pyarrow.record_batch(columns, names=["first", "row"])
