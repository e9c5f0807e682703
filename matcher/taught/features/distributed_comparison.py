"""Comparison of candidate pairs on Spark: the records go to all executors, an item has pairs.

Each executor vectorises all records once, since weights of words depend on all of them. Rivals need
all pairs, and are compared by `Comparison.table` afterwards.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from catalog.runtime.spark.session import SparkJobs, Work
from matcher.array_types import Floats, Pairs
from matcher.dedupe.base.records import Records
from matcher.packed_arrays import pack_arrays, unpack_arrays
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.features.comparison import Comparison


def compare_distributed(
    jobs: SparkJobs, comparison: Comparison, chunks: Iterable[Pairs]
) -> Iterator[Floats]:
    """Yield the features of each chunk of pairs that depend on a pair alone. Raises WorkerError."""
    right = comparison.right
    shared = json.dumps(
        {
            "left": _encode_records(comparison.left),
            "right": None if right is None else _encode_records(right),
            "kinds": [kind.value for kind in comparison.kinds],
            "shingle_size": comparison.shingle_size,
        }
    ).encode()
    items = (pack_arrays(pairs=chunk) for chunk in chunks)
    for result in jobs.map(_prepare_comparison, shared, items):
        yield unpack_arrays(result)["features"]


def _prepare_comparison(shared: bytes) -> Work:
    comparison = _build_comparison(shared)

    def run(item: bytes) -> bytes:
        return pack_arrays(features=comparison.compare(unpack_arrays(item)["pairs"]))

    return run


# A Python process of an executor works on many tasks, one after the other.
@lru_cache(maxsize=1)
def _build_comparison(shared: bytes) -> Comparison:
    values = json.loads(shared)
    left = _decode_records(values["left"])
    right = None if values["right"] is None else _decode_records(values["right"])
    kinds = [ColumnKind(kind) for kind in values["kinds"]]
    return Comparison(left, right, kinds, values["shingle_size"])


def _encode_records(records: Records) -> dict[str, Sequence[object]]:
    fields = [[*column] for column in records.fields]
    return {"names": records.names, "fields": fields, "texts": [*records.texts]}


def _decode_records(values: dict[str, list[list[str]]]) -> Records:
    """Return the records of `_encode_records`; their lines are not compared."""
    texts: list[str] = values["texts"]  # type: ignore[assignment]
    names: list[str] = values["names"]  # type: ignore[assignment]
    return Records(tuple(values["fields"]), texts, range(len(texts)), tuple(names))
