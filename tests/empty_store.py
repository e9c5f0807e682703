"""An empty store in a few milliseconds: its schema is made once in a process, and copied."""

import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

from sqlalchemy.engine import make_url

from catalog.runtime.settings import Settings
from catalog.storage.store import Store


def open_empty_store(settings: Settings) -> Store:
    """Open a store without rows in a new SQLite database; `Store.open` would run all migrations."""
    path = Path(make_url(settings.database).database or "")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_empty_database())
    return Store.open(settings)


@cache
def _empty_database() -> bytes:
    """Return the content of a database of the newest schema."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        Store.open(Settings.load(data_dir=Path(folder), database_url=f"sqlite:///{path}"))
        # Not the bytes of the file: most of them are still in its write-ahead log.
        with closing(sqlite3.connect(path)) as connection:
            return connection.serialize()
