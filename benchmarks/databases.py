"""Databases of benchmarks: SQLite, or a PostgreSQL server of their own, and their processor time."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlalchemy import create_engine, text

from catalog.storage.store import Store

DATABASES = ("sqlite", "postgresql")
Clock = Callable[[], float]


class NotInstalledError(Exception):
    """A database whose programs are not there."""


@contextmanager
def database_url(database: str, *, is_durable: bool = False) -> Iterator[str]:
    """Give the URL of an empty database; "" is SQLite in the data folder.

    A durable server forces each transaction onto the disk, as PostgreSQL does unless it is told
    otherwise. Raises NotInstalledError.
    """
    if database == "sqlite":
        yield ""
        return
    # Imported late: pytest would count as memory of what is measured.
    import pytest

    from tests.catalog.storage.postgresql import cluster

    with ExitStack() as stack:
        try:
            url = stack.enter_context(cluster(is_durable=is_durable))
        except pytest.skip.Exception as skipped:
            raise NotInstalledError(str(skipped)) from skipped
        engine = create_engine(url.format("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text("CREATE DATABASE scout"))
            # The work of parallel processes could not be counted.
            connection.execute(text("ALTER DATABASE scout SET max_parallel_workers_per_gather = 0"))
        engine.dispose()
        yield url.format("scout")


def make_clock(store: Store) -> Clock:
    """Return a clock of the processor time of this process and of the database's server, in seconds.

    The time on the wall would measure other programs on the machine. The clock knows the
    connections that are open when it is made.
    """
    if store.engine.dialect.name == "sqlite":
        return time.process_time
    with store.read() as session:
        own = text("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
        backends = [Path(f"/proc/{pid}/schedstat") for pid in session.connection().scalars(own)]
    nanosecond = 1e-9

    def clock() -> float:
        # Its first figure is the time on a processor, in nanoseconds (Linux, sched-stats.rst).
        ticks = (int(backend.read_text().split()[0]) for backend in backends)
        return time.process_time() + sum(ticks) * nanosecond

    return clock
