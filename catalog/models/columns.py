"""Column types of the tables: exact decimals, times in UTC, and large ids; defaults of columns."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, String
from sqlalchemy.types import TypeDecorator, TypeEngine

# Largest row id: the signed 64-bit integer of SQLite and PostgreSQL.
MAX_ROW_ID = 2**63 - 1
# Largest integer of PostgreSQL's columns of four bytes: ids of runs and shops, versions of rules.
MAX_INTEGER = 2**31 - 1


class DecimalText(TypeDecorator[Decimal]):
    """Column type: a decimal stored as text, since SQLite would turn it into a float."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        return str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Decimal | None:
        if value is None:
            return None
        return Decimal(value)


class UtcDateTime(TypeDecorator[datetime]):
    """Column type: a timezone-aware time, stored as UTC."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        # Neither SQLite nor a plain PostgreSQL timestamp keeps a timezone.
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC)


class LargeId(TypeDecorator[int]):
    """Column type: an id of 64 bits, for tables that grow with pages and offers.

    SQLite counts the ids of a column of type INTEGER only, which has 64 bits there.
    """

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[int]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(Integer())
        return dialect.type_descriptor(BigInteger())


def utc_now() -> datetime:
    """Return the current time, timezone-aware, in UTC."""
    return datetime.now(UTC)


# For each row pydantic looks at the signature of a default's function. Those of `list` and `dict` are
# texts, which it parses: that took most of the time of making a row.
def empty_list() -> list[Any]:
    """Return a new list, as the default of a column."""
    return []


def empty_dict() -> dict[str, Any]:
    """Return a new dictionary, as the default of a column."""
    return {}
