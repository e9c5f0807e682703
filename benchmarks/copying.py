"""`scout db copy` of a large store, from SQLite to PostgreSQL and back, beside the bare drivers.

    python -m benchmarks.copying [--offers 60000]

The drivers (sqlite3, psycopg) read all rows of all tables and write them by COPY, without a look at
any value. The copies run in processes of their own; memory is their largest, processor time theirs
without that of the server.
"""

import argparse
import multiprocessing
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy.engine import make_url
from sqlmodel import SQLModel

from benchmarks.databases import NotInstalledError, database_url
from benchmarks.large_store import fill_store
from benchmarks.measure import peak_megabytes
from catalog.runtime.settings import Settings
from catalog.storage.bulk.store_copy import copy_store
from catalog.storage.store import Store


def main() -> None:
    """Fill a store in SQLite, and copy it to PostgreSQL and from there to SQLite."""
    argument_parser = argparse.ArgumentParser(description=__doc__)
    argument_parser.add_argument("--offers", type=int, default=60_000)
    offers = argument_parser.parse_args().offers
    with tempfile.TemporaryDirectory() as folder, database_url("postgresql") as server:
        first, last = (f"sqlite:///{Path(folder) / name}" for name in ("first.db", "last.db"))
        settings = Settings.load(data_dir=Path(folder), database_url=first)
        _measure("filled", fill_store, settings, offers, offers * 5 // 6, 0)
        size = (Path(folder) / "first.db").stat().st_size
        print(f"{offers} offers, {size / 1e6:.0f} MB in SQLite")
        _measure("scout: SQLite to PostgreSQL", copy_store, first, server)
        _measure("scout: PostgreSQL to SQLite", copy_store, server, last)
        other = make_url(server).set(database="bare").render_as_string(hide_password=False)
        _make_database(server)
        Store.open(Settings.load(database_url=other)).engine.dispose()
        _measure("drivers: SQLite to PostgreSQL", _copy_by_drivers, first, other)


def _make_database(server: str) -> None:
    import psycopg

    url = make_url(server).set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False), autocommit=True) as connection:
        connection.execute("CREATE DATABASE bare")


def _measure(name: str, function: Callable[..., object], *arguments: object) -> None:
    """Call a function in a process of its own and print its costs."""
    process = multiprocessing.get_context("spawn").Process(
        target=_call, args=(name, function, *arguments)
    )
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"{name}: exit code {process.exitcode}")


def _call(name: str, function: Callable[..., object], *arguments: object) -> None:
    begin = time.perf_counter()
    function(*arguments)
    seconds = time.perf_counter() - begin
    print(
        f"{name:32}{seconds:8.1f} s {time.process_time():8.1f} s of processor time "
        f"{peak_megabytes():6.0f} MB",
        flush=True,
    )


def _copy_by_drivers(source: str, target: str) -> None:
    import psycopg

    url = make_url(target).set(drivername="postgresql").render_as_string(hide_password=False)
    with (
        closing(sqlite3.connect(make_url(source).database or "")) as reading,
        psycopg.connect(url) as writing,
        writing.cursor() as cursor,
    ):
        for table in SQLModel.metadata.sorted_tables:
            names = ", ".join(f'"{column.name}"' for column in table.columns)
            rows = reading.execute(f'SELECT {names} FROM "{table.name}"')
            with cursor.copy(f'COPY "{table.name}" ({names}) FROM STDIN') as copy:
                _copy_rows(rows, copy)


def _copy_rows(rows: sqlite3.Cursor, copy: Any) -> None:
    for row in rows:
        copy.write_row(row)


if __name__ == "__main__":
    try:
        main()
    except NotInstalledError as error:
        print(f"not measured: {error}")
