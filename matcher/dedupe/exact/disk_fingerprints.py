"""Equal records of any number: fingerprints on disk, in an LMDB store or sorted by DuckDB.

The LMDB store persists over calls: each record is looked up before any other work. A call that was
killed is simply made again, because a record that is stored under its own name is no duplicate of
itself. DuckDB serves hundreds of millions at once, where one sort costs less than as many look-ups.
Both libraries are optional.
"""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.errors import StorageFull, UsageError
from catalog.runtime.batches import iterate_batches
from matcher.dedupe.base.optional_imports import import_optional

BATCH_SIZE = 50_000  # records per transaction or insert
INITIAL_MAP_SIZE = 1 << 26  # bytes: 64 MB of address space; the store doubles it when full

NamedFingerprint = tuple[str, bytes]
Repeat = tuple[str, str]

_SELECT_REPEATS = """
SELECT name, first FROM (
  SELECT number, name, first_value(name) OVER same AS first, row_number() OVER same AS nth
  FROM prints WINDOW same AS (PARTITION BY high, low ORDER BY number)
) WHERE nth > 1 ORDER BY number
"""


def find_stored_repeats(prints: Iterable[NamedFingerprint], folder: Path) -> Iterator[Repeat]:
    """Store fingerprints, and yield the name of each repeated record with that of the first.

    `prints` are pairs of a record's name and its fingerprint; a name must stand for the same record
    in every call. Repeats of records of earlier calls are found too. Raises ConfigError if lmdb is
    not installed, StorageFull.
    """
    lmdb = import_optional("lmdb")
    folder.mkdir(parents=True, exist_ok=True)
    with lmdb.open(str(folder), map_size=INITIAL_MAP_SIZE, max_dbs=0) as store:
        # The map must not be smaller than in earlier calls; twice that leaves room to grow.
        store.set_mapsize(max(INITIAL_MAP_SIZE, 2 * store.info()["map_size"]))
        for batch in iterate_batches(prints, BATCH_SIZE):
            yield from _store_batch(lmdb, store, batch)


def find_sorted_repeats(
    prints: Iterable[NamedFingerprint], memory: str = "1GB", folder: Path | None = None
) -> Iterator[Repeat]:
    """Yield the repeats within one call, by an external sort of all fingerprints.

    `memory` is DuckDB's limit; `folder` holds the temporary files. Raises ConfigError if duckdb is
    not installed, UsageError if the memory does not suffice.
    """
    duckdb = import_optional("duckdb")
    try:
        yield from _sort_prints(duckdb, prints, memory, folder)
    except duckdb.OutOfMemoryException as error:
        # What DuckDB needs grows with the records, so no least size is known beforehand.
        raise UsageError(
            f"--memory {memory} does not suffice to sort the fingerprints: allow more"
        ) from error


def _sort_prints(
    duckdb: Any, prints: Iterable[NamedFingerprint], memory: str, folder: Path | None
) -> Iterator[Repeat]:
    """Yield the repeats in a temporary database."""
    with (
        tempfile.TemporaryDirectory(dir=folder) as workspace,
        duckdb.connect(str(Path(workspace) / "prints.duckdb")) as database,
    ):
        database.execute(
            f"SET memory_limit = '{memory}'; SET temp_directory = '{workspace}/spill'; "
            "SET threads = 2"
        )
        database.execute(
            "CREATE TABLE prints (high UBIGINT, low UBIGINT, number BIGINT, name VARCHAR)"
        )
        stored = 0
        for batch in iterate_batches(prints, BATCH_SIZE):
            database.register("columns", _batch_columns(batch, stored))
            database.execute("INSERT INTO prints SELECT high, low, number, name FROM columns")
            stored += len(batch)
        repeats = database.execute(_SELECT_REPEATS)
        while rows := repeats.fetchmany(BATCH_SIZE):
            yield from rows


def _batch_columns(batch: list[NamedFingerprint], first_number: int) -> dict[str, NDArray[Any]]:
    """Return the columns of the DuckDB table for a batch; records are numbered in order."""
    joined = b"".join(fingerprint for _, fingerprint in batch)
    halves = np.frombuffer(joined, dtype=np.uint64).reshape(-1, 2)
    return {
        "high": halves[:, 0].copy(),
        "low": halves[:, 1].copy(),
        "number": np.arange(first_number, first_number + len(batch)),
        "name": np.array([name for name, _ in batch], dtype=object),
    }


def _store_batch(lmdb: Any, store: Any, batch: list[NamedFingerprint]) -> list[Repeat]:
    """Look up and store a batch in one transaction; retried in a larger map if it does not fit."""
    while True:
        try:
            with store.begin(write=True) as transaction:
                return _store_fingerprints(transaction, batch)
        except lmdb.MapFullError:
            store.set_mapsize(2 * store.info()["map_size"])
        except lmdb.DiskError as error:
            raise StorageFull(f"the store of fingerprints cannot be written: {error}") from error


def _store_fingerprints(transaction: Any, batch: list[NamedFingerprint]) -> list[Repeat]:
    repeats = list[Repeat]()
    for name, fingerprint in batch:
        if transaction.put(fingerprint, name.encode(), overwrite=False):
            continue
        first_name = bytes(transaction.get(fingerprint)).decode()
        # The same record from an earlier call that was killed is no repeat.
        if first_name != name:
            repeats.append((name, first_name))
    return repeats
