"""Equal records of any number: their fingerprints on disk, in an LMDB store or sorted by DuckDB within a memory limit.

The LMDB store answers "seen before?" ahead of any work and remembers over calls, so a killed run goes on where it was:
a record that is there already as itself is no duplicate of itself. DuckDB serves hundreds of millions at once, where
one sort costs less than as many look-ups. Both libraries are optional.
"""

import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.errors import StorageFull
from matcher.dedupe.base.optional import optional

BATCH = 50_000
FIRST_SIZE = 1 << 26
Printed = tuple[str, bytes]
Repeat = tuple[str, str]


def seen(prints: Iterable[Printed], folder: Path) -> Iterator[Repeat]:
    """Of each record that repeats one, in this call or an earlier one, its name and that of the first.

    `prints` are names of records (a name stands for the same record in every call) and their fingerprints.
    Raises ConfigError where lmdb is not installed, StorageFull.
    """
    lmdb = optional("lmdb")
    folder.mkdir(parents=True, exist_ok=True)
    with lmdb.open(str(folder), map_size=FIRST_SIZE, max_dbs=0) as store:
        store.set_mapsize(max(FIRST_SIZE, 2 * store.info()["map_size"]))
        for batch in _batches(prints):
            yield from _entered(lmdb, store, batch)


def sorted_out(
    prints: Iterable[Printed], memory: str = "1GB", folder: Path | None = None
) -> Iterator[Repeat]:
    """The same for one call, by an external sort of all fingerprints. Raises ConfigError without duckdb."""
    duckdb = optional("duckdb")
    with (
        tempfile.TemporaryDirectory(dir=folder) as place,
        duckdb.connect(str(Path(place) / "prints.duckdb")) as base,
    ):
        base.execute(
            f"SET memory_limit = '{memory}'; SET temp_directory = '{place}/spill'; SET threads = 2"
        )
        base.execute("CREATE TABLE prints (high UBIGINT, low UBIGINT, number BIGINT, name VARCHAR)")
        number = 0
        for batch in _batches(prints):
            halves = np.frombuffer(b"".join(held for _, held in batch), dtype=np.uint64).reshape(
                -1, 2
            )
            columns: dict[str, NDArray[Any]] = {
                "high": halves[:, 0].copy(),
                "low": halves[:, 1].copy(),
                "number": np.arange(number, number + len(batch)),
                "name": np.array([name for name, _ in batch], dtype=object),
            }
            base.register("columns", columns)
            base.execute("INSERT INTO prints SELECT high, low, number, name FROM columns")
            number += len(batch)
        found = base.execute(_REPEATS)
        while rows := found.fetchmany(BATCH):
            yield from rows


_REPEATS = """
SELECT name, first FROM (
  SELECT number, name, first_value(name) OVER same AS first, row_number() OVER same AS nth
  FROM prints WINDOW same AS (PARTITION BY high, low ORDER BY number)
) WHERE nth > 1 ORDER BY number
"""


def _entered(lmdb: Any, store: Any, batch: list[Printed]) -> list[Repeat]:
    """One batch looked up and put in, in one transaction; tried again with twice the room where it does not fit."""
    while True:
        try:
            with store.begin(write=True) as transaction:
                found = []
                for name, fingerprint in batch:
                    if not transaction.put(fingerprint, name.encode(), overwrite=False):
                        first = bytes(transaction.get(fingerprint)).decode()
                        found += [(name, first)] if first != name else []
                return found
        except lmdb.MapFullError:
            store.set_mapsize(2 * store.info()["map_size"])
        except lmdb.DiskError as error:
            raise StorageFull(f"the store of fingerprints cannot be written: {error}") from error


def _batches(prints: Iterable[Printed]) -> Iterator[list[Printed]]:
    left = iter(prints)
    while batch := list(islice(left, BATCH)):
        yield batch
