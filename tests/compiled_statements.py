"""SQL statements that are compiled once in a test process, instead of once for each store.

SQLAlchemy keeps compiled statements by engine and dialect, and each test has a store with both of its
own: half of the statements of the suite were compiled anew, which took most of the time of their
execution.
"""

from typing import Any

from sqlalchemy import Engine
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache

# Statements of all engines that are kept: more than the suite has, about.
MAX_STATEMENTS = 3000

_statements = LRUCache[Any, Any](MAX_STATEMENTS)
_init_engine = Engine.__init__


def share_compiled_statements() -> None:
    """Let all engines of this process that are made from now on use the same compiled statements."""
    Engine.__init__ = _init_with_shared_statements  # type: ignore[method-assign]
    # Dialects are parts of the statements' keys.
    DefaultDialect.__eq__ = _compiles_alike  # type: ignore[assignment]
    DefaultDialect.__hash__ = _hash_kind  # type: ignore[method-assign]


def _init_with_shared_statements(engine: Engine, *args: Any, **options: Any) -> None:
    _init_engine(engine, *args, **options)
    engine._compiled_cache = _statements


def _hash_kind(dialect: DefaultDialect) -> int:
    return hash(type(dialect))


def _compiles_alike(dialect: DefaultDialect, other: object) -> bool:
    """Return whether two dialects are of one kind, of one version, and have the same options."""
    if dialect is other:
        return True
    return type(dialect) is type(other) and _options(dialect) == _options(other)


def _options(dialect: Any) -> tuple[object, ...]:
    return (
        dialect.server_version_info,
        dialect.default_schema_name,
        dialect.paramstyle,
        dialect.insertmanyvalues_page_size,
        dialect._json_serializer,
        dialect._json_deserializer,
    )
