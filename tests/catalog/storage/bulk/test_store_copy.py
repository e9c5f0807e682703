"""Copies of a store: every row of every table arrives as it was, or nothing does."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count, product
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import SQLModel

from catalog.errors import SchemaOutdated, StoreError
from catalog.models import KnownOffer, Shop, UtcDateTime
from catalog.runtime.settings import Settings
from catalog.storage.bulk import store_copy
from catalog.storage.bulk.store_copy import copy_store
from catalog.storage.store import Store, newest_revision
from tests.catalog.storage import postgresql
from tests.catalog.storage.full_store import ROWS
from tests.catalog.storage.older_schemas import insert_rows
from tests.empty_store import open_empty_store

MakeUrl = Callable[[str], str]


@pytest.fixture
def make_url(tmp_path: Path) -> Iterator[MakeUrl]:
    """Make a database of a kind without rows; returns its URL."""
    numbers = count()
    with ExitStack() as stack:

        def make(kind: str) -> str:
            if kind == "postgresql":
                return stack.enter_context(postgresql.fresh_database())
            url = f"sqlite:///{tmp_path / f'{next(numbers)}.db'}"
            open_empty_store(Settings.load(database_url=url)).engine.dispose()
            return url

        yield make


def fill(url: str) -> None:
    """Give every table of a database its rows."""
    store = Store.open(Settings.load(database_url=url))
    with store.write() as session:
        insert_rows(session.connection(), ROWS)
    store.engine.dispose()


def copied_tables() -> list[sa.Table]:
    """List the tables whose rows are copied: not those of leases and jobs."""
    tables = SQLModel.metadata.sorted_tables
    return [table for table in tables if table.name not in store_copy._OF_PROCESSES]


def column_text(column: sa.Column[Any]) -> str:
    """Return a column as SQL, so that both databases give it in the same form."""
    if isinstance(column.type, sa.JSON):
        return f'CAST("{column.name}" AS TEXT)'
    if isinstance(column.type, UtcDateTime):
        # SQLite holds a time as text with six digits of a second.
        return f"rtrim(CAST(\"{column.name}\" AS TEXT), '0.')"
    return f'"{column.name}"'


def read(url: str) -> dict[str, list[Any]]:
    """Read all rows of all tables, JSON as it is stored."""
    store = Store.open(Settings.load(database_url=url))
    rows = {}
    with store.read() as session:
        for table in copied_tables():
            columns = ", ".join(column_text(column) for column in table.columns)
            key = ", ".join(column.name for column in table.primary_key.columns)
            query = f'SELECT {columns} FROM "{table.name}" ORDER BY {key}'
            rows[table.name] = list(map(tuple, session.connection().exec_driver_sql(query)))
    store.engine.dispose()
    return rows


def test_every_table_has_rows() -> None:
    """The rows of these tests are of all tables."""
    assert SQLModel.metadata.tables.keys() <= ROWS.keys()


@pytest.mark.parametrize(("source", "target"), list(product(["sqlite", "postgresql"], repeat=2)))
def test_copy(source: str, target: str, make_url: MakeUrl) -> None:
    """Every value arrives, and ids count on where they would have."""
    source_url, target_url = make_url(source), make_url(target)
    fill(source_url)
    before = read(source_url)
    result = copy_store(source_url, target_url)
    assert result.rows == {table.name: len(ROWS[table.name]) for table in copied_tables()}
    assert result.left_out == []
    assert read(target_url) == before == read(source_url)
    store = Store.open(Settings.load(database_url=target_url))
    with store.write() as session:
        shop = Shop(name="new", url="https://new.example/")
        session.add(shop)
    assert shop.id == 4
    store.engine.dispose()


def test_ids_of_deleted_rows(make_url: MakeUrl) -> None:
    """Ids that were given to rows deleted since are not given again after a copy."""
    first, second, third = make_url("sqlite"), make_url("postgresql"), make_url("sqlite")
    store = Store.open(Settings.load(database_url=first))
    with store.write() as session:
        session.add(Shop(id=41, name="gone", url="https://gone.example/"))
        session.flush()
        session.connection().execute(sa.text("DELETE FROM shop"))
    store.engine.dispose()
    copy_store(first, second)
    copy_store(second, third)
    store = Store.open(Settings.load(database_url=third))
    with store.write() as session:
        shop = Shop(name="new", url="https://new.example/")
        session.add(shop)
    assert shop.id == 42
    store.engine.dispose()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_failed_copy(kind: str, make_url: MakeUrl, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that ends early leaves nothing in the target, and can be made again."""
    source_url, target_url = make_url("sqlite"), make_url(kind)
    fill(source_url)

    def fail(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store_copy, "_set_counter", fail)
        with pytest.raises(KeyboardInterrupt):
            copy_store(source_url, target_url)
    assert not any(read(target_url).values())
    copy_store(source_url, target_url)
    assert read(target_url) == read(source_url)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_target_with_rows(kind: str, make_url: MakeUrl) -> None:
    """A target that holds rows is refused and stays as it is."""
    source_url, target_url = make_url("sqlite"), make_url(kind)
    fill(source_url)
    fill(target_url)
    before = read(target_url)
    with pytest.raises(StoreError, match=r"is not empty \(table \w+ has rows\): name an empty"):
        copy_store(source_url, target_url)
    assert read(target_url) == before


def test_no_source(make_url: MakeUrl, tmp_path: Path) -> None:
    """A source that is missing, of another program or of an older Scout is refused, not made."""
    missing = f"sqlite:///{tmp_path / 'missing.db'}"
    with pytest.raises(StoreError, match=r"there is no database .*missing\.db: name the one"):
        copy_store(missing, make_url("sqlite"))
    assert not (tmp_path / "missing.db").exists()
    (tmp_path / "empty.db").touch()
    with pytest.raises(StoreError, match="is not a database of Scout's"):
        copy_store(f"sqlite:///{tmp_path / 'empty.db'}", make_url("sqlite"))
    older = make_url("sqlite")
    store = Store.open(Settings.load(database_url=older))
    with store.write() as session:
        session.connection().execute(sa.text("UPDATE alembic_version SET version_num = '0001'"))
    store.engine.dispose()
    with pytest.raises(SchemaOutdated, match=f"needed {newest_revision()}"):
        copy_store(older, make_url("sqlite"))


def test_value_that_does_not_fit(make_url: MakeUrl) -> None:
    """A value that PostgreSQL cannot hold is named with its table; nothing is copied."""
    source_url, target_url = make_url("sqlite"), make_url("postgresql")
    store = Store.open(Settings.load(database_url=source_url))
    with store.write() as session:
        session.add(Shop(name="zero\x00", url="https://a.example/"))
    store.engine.dispose()
    with pytest.raises(StoreError, match=r"table shop cannot be copied: .*NUL"):
        copy_store(source_url, target_url)
    assert not any(read(target_url).values())


def test_foreign_tables(make_url: MakeUrl) -> None:
    """Tables that are not Scout's are not copied, and are named."""
    source_url = make_url("sqlite")
    store = Store.open(Settings.load(database_url=source_url))
    with store.write() as session:
        session.connection().execute(sa.text("CREATE TABLE theirs (id INTEGER)"))
        session.add(Shop(name="a", url="https://a.example/"))
    store.engine.dispose()
    assert copy_store(source_url, make_url("sqlite")).left_out == ["theirs"]


def test_progress_and_batches(make_url: MakeUrl, tmp_path: Path) -> None:
    """Rows are read and written in batches, and progress is reported."""
    source_url = make_url("sqlite")
    # The folder and the tables of the target are made as well.
    target_url = f"sqlite:///{tmp_path / 'new' / 'scout.db'}"
    store = Store.open(Settings.load(database_url=source_url))
    with store.write() as session:
        session.add(Shop(id=1, name="a", url="https://a.example/"))
        session.flush()
        session.add_all(KnownOffer(shop_id=1, ref=str(number)) for number in range(2_500))
    store.engine.dispose()
    reported: list[tuple[int, int | None]] = []
    result = copy_store(
        source_url,
        target_url,
        lambda label, done, total=None, **also: reported.append((done, total)),
    )
    assert result.rows["known_offer"] == 2_500
    assert reported == [(1_000, 2_501), (2_000, 2_501), (2_501, 2_501)]
