"""Inserts that may meet a row of the same key, in the dialect of a connection's database."""

from importlib import import_module
from typing import Any

from sqlalchemy import Dialect


def dialect_insert(dialect: Dialect, table: Any) -> Any:
    """Return an `INSERT` that knows `ON CONFLICT`, for SQLite or PostgreSQL.

    The two classes share these methods, but no type that has them.
    """
    # Only the dialect in use is loaded: PostgreSQL's takes 0.05 s.
    return import_module(f"sqlalchemy.dialects.{dialect.name}").insert(table)
