"""The store: opened at the right schema or refused, written whole or not at all."""

import sqlite3
import threading
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import event, inspect, text
from sqlalchemy.exc import IntegrityError
from sqlmodel import SQLModel, select

from catalog.errors import (
    ConfigError,
    SchemaOutdated,
    SchemaTooNew,
    StorageFull,
    StoreError,
    UnknownShop,
)
from catalog.feeds.importing import import_offers
from catalog.models import KnownOffer, OfferFields, Run, Shop, ShopOffer
from catalog.runtime.settings import Settings
from catalog.storage import store as store_module
from catalog.storage.store import (
    MIGRATIONS,
    Store,
    _known_revisions,
    _make_engine,
    lock_shop,
    newest_revision,
    upgrade_schema,
)
from tests.catalog.conftest import Forked
from tests.catalog.storage.older_schemas import RUN, SHOP, TIME, older_database

INDEX_TEXTS = {
    "sqlite": "SELECT sql FROM sqlite_master WHERE name = 'page_frontier'",
    "postgresql": "SELECT indexdef FROM pg_indexes WHERE indexname = 'page_frontier'",
}


def database(settings: Settings) -> Path:
    """The file of a SQLite database."""
    return Path(settings.database.removeprefix("sqlite:///"))


def set_revision(settings: Settings, revision: str) -> None:
    """Make the database say that it has another schema."""
    engine = _make_engine(settings.database)
    with engine.execution_options(scout_write=True).begin() as connection:
        connection.execute(
            text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision}
        )
    engine.dispose()


@pytest.mark.both_databases
def test_migrations_make_what_the_models_say(store: Store) -> None:
    """The tables that the migrations make are those of the models, to the last index."""
    with store.engine.connect() as connection:
        opts = {
            "compare_type": True,
            "include_object": lambda _, name, *remaining: name != "page_frontier",
        }
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, SQLModel.metadata) == []
        # The comparison leaves out the order of an index.
        (made,) = connection.exec_driver_sql(INDEX_TEXTS[store.engine.dialect.name]).scalars()
    assert str(made).endswith("(shop_id, state, priority DESC, id)")


def test_revisions_are_told_by_file_names() -> None:
    """The newest migration by its file's name is the one that Alembic takes for the newest."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    script = ScriptDirectory.from_config(config)
    assert newest_revision() == script.get_current_head()
    assert sorted(item.revision for item in script.walk_revisions()) == _known_revisions()


@pytest.mark.both_databases
def test_a_new_database_is_made(settings: Settings) -> None:
    """Where there is no database one is made, folders and all, and opened again as it is."""
    store = Store.open(settings)
    with store.write() as session:
        session.add(Shop(name="a", url="https://a.example/"))
    assert Store.open(settings).shop("a").url == "https://a.example/"


@pytest.mark.both_databases
def test_an_older_database_is_refused_then_upgraded(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older schema is refused with what to do; the upgrade gives the revisions before and
    after.
    """
    before = newest_revision()
    monkeypatch.setattr("catalog.storage.store.newest_revision", lambda: "9999")
    with pytest.raises(
        SchemaOutdated,
        match=rf"of an older Scout \(schema {before}, needed 9999\): run 'scout db upgrade'",
    ):
        Store.open(settings)
    monkeypatch.undo()
    assert upgrade_schema(settings) == (before, before)


@pytest.mark.both_databases
def test_offers_of_an_older_schema_are_kept(settings: Settings, tmp_path: Path) -> None:
    """The upgrade gives the offers stored before generation 0, and back leaves them as they were."""
    stored = {"shop_id": 1, "images": [], "opaque": False, "imported_at": TIME}
    with older_database(settings, "0005") as older:
        older.add("shop", SHOP)
        older.add("known_offer", stored | {"ref": "one", "title": "Lamp"})
        older.add("known_offer", stored | {"ref": "two", "title": "Table"})
        assert upgrade_schema(settings) == ("0005", newest_revision())
        store = Store.open(settings)
        with store.read() as session:
            offers = session.exec(select(KnownOffer).order_by(KnownOffer.ref)).all()
        assert [(offer.ref, offer.title, offer.generation) for offer in offers] == [
            ("one", "Lamp", 0),
            ("two", "Table", 0),
        ]
        feed = tmp_path / "feed.jsonl"
        feed.write_text('{"id": "two", "title": "Table"}\n')
        import_offers(store, store.shop("a"), str(feed))
        with store.read() as session:
            kept = session.exec(select(KnownOffer)).all()
        assert [(offer.id, offer.ref, offer.generation) for offer in kept] == [(2, "two", 1)]
        store.engine.dispose()
        older.downgrade("0005")
        assert older.column("known_offer", "ref") == ["two"]


@pytest.mark.both_databases
def test_reports_of_an_older_schema_are_found(settings: Settings) -> None:
    """The upgrade makes the paths of reports relative to the data folder, and drops those elsewhere."""
    reports = {
        1: {"html": "/old/var/reports/1-a/1/report.html", "csv": "var/reports/1-a/1/report.csv"},
        2: {"html": "/elsewhere/report.html", "json": "C:\\var\\reports\\1-a\\2\\report.json"},
        3: {"html": "/old/var/reports/1-a/1/report.html", "seconds": 0.5},
    }
    with older_database(settings, "0006") as older:
        older.add("shop", SHOP)
        for number, paths in reports.items():
            figures = {"report": paths, "learn": {"version": 4}}
            older.add("run", RUN | {"id": number, "figures": figures})
        older.add("run", RUN | {"id": 4, "state": "running", "stage": "crawl", "figures": {}})
        assert upgrade_schema(settings) == ("0006", newest_revision())
    store = Store.open(settings)
    with store.read() as session:
        figures_of = {run.id: run.figures for run in session.exec(select(Run))}
    assert {run: figures_of[run].get("report") for run in figures_of} == {
        1: {"html": "reports/1-a/1/report.html", "csv": "reports/1-a/1/report.csv"},
        2: {"json": "reports/1-a/2/report.json"},
        3: {"seconds": 0.5},
        4: None,
    }
    assert figures_of[1]["learn"] == {"version": 4}


@pytest.mark.both_databases
def test_an_empty_database_is_upgraded(settings: Settings) -> None:
    """The upgrade of nothing makes the tables."""
    assert upgrade_schema(settings) == (None, newest_revision())
    Store.open(settings)


@pytest.mark.both_databases
def test_a_newer_database_is_refused(settings: Settings, store: Store) -> None:
    """A schema that this Scout does not know is refused, on opening and on upgrading."""
    set_revision(settings, "9999")
    for attempt in (Store.open, upgrade_schema):
        with pytest.raises(
            SchemaTooNew,
            match=r"written by a newer Scout \(schema 9999, known up to .*\): install that version",
        ):
            attempt(settings)


@pytest.mark.both_databases
def test_a_foreign_database_is_refused(settings: Settings) -> None:
    """Another program's database is refused and not touched."""
    engine = _make_engine(settings.database)
    with engine.execution_options(scout_write=True).begin() as connection:
        connection.exec_driver_sql("CREATE TABLE theirs (id INTEGER)")
    with pytest.raises(
        StoreError, match="is not a database of Scout's: name another with SCOUT_DATABASE_URL"
    ):
        Store.open(settings)
    with pytest.raises(StoreError, match="holds tables that are not Scout's"):
        upgrade_schema(settings)
    assert inspect(engine).get_table_names() == ["theirs"]
    engine.dispose()


@pytest.mark.sqlite_only
@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to have a header" * 20, b"short"]
)
def test_a_file_that_is_no_database(settings: Settings, content: bytes) -> None:
    """A file that is no database is said to be none."""
    path = database(settings)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is not a database"):
        Store.open(settings)


@pytest.mark.parametrize(
    "url", ["nonsense", "sqlite:/x", "mongodb://x/y", "oracle+nodriver://x/y", "mysql://x/y"]
)
def test_bad_database_urls_are_refused(url: str) -> None:
    """A setting that is no database's URL, or one that no driver is there for, is told with its
    name.
    """
    with pytest.raises((ConfigError, StoreError)) as caught:
        Store.open(Settings.load(database_url=url))
    assert url.partition(":")[0] in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["mysql://me:secret@h/x", "nodatabase://me:secret@h/x", "nonsense//me:secret@h"]
)
def test_passwords_stay_secret(url: str) -> None:
    """No error shows the password of a database's URL."""
    with pytest.raises(ConfigError) as caught:
        Store.open(Settings.load(database_url=url))
    assert "secret" not in str(caught.value)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """A data folder in the place of a file is told with the setting's name."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"setting 'data_dir': .*cannot be made"):
        Store.open(Settings.load(data_dir=tmp_path / "file" / "var"))


def add_shops(store: Store, *names: str) -> None:
    """Add shops in one transaction, each at once; a shop without a name is an error of the
    caller's.
    """
    with store.write() as session:
        for name in names:
            if not name:
                raise ZeroDivisionError
            session.add(Shop(name=name, url="https://shop.example/"))
            session.flush()


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("names", "error"), [(["a", ""], ZeroDivisionError), (["a", "b", "a"], IntegrityError)]
)
def test_an_error_leaves_nothing_behind(
    store: Store, names: list[str], error: type[Exception]
) -> None:
    """Where a transaction fails in its midst, nothing of it is kept, and the store goes on."""
    with pytest.raises(error):
        add_shops(store, *names)
    with store.read() as session:
        assert session.exec(select(Shop)).all() == []
    add_shops(store, "a")
    assert store.shop("a")


@pytest.mark.both_databases
def test_unknown_shop(store: Store) -> None:
    """A name that no shop has is an error that names the commands to use."""
    with pytest.raises(UnknownShop, match="no shop is called 'x': 'scout shop list' shows all"):
        store.shop("x")


@pytest.mark.sqlite_only
def test_a_full_disk(store: Store) -> None:
    """A full disk is told as such, and what was stored before is still there."""

    def limit(connection: sqlite3.Connection, record: object) -> None:
        connection.execute("PRAGMA max_page_count=1")

    add_shops(store, "before")
    store.engine.dispose()
    event.listen(store.engine, "connect", limit)
    with pytest.raises(
        StorageFull, match=r"no space left for .*: free some, then run the same command again"
    ):
        add_shops(store, *(f"{n}" * 500 for n in range(500)))
    assert store.shop("before")


@pytest.mark.sqlite_only
def test_a_database_that_another_holds(
    settings: Settings,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A wait for another process is logged, and ends with an error if it takes too long."""
    monkeypatch.setattr(store_module, "LOGGED_WAIT", 0.02)
    monkeypatch.setattr(store_module, "LOCK_TIMEOUT", 0.05)
    other = sqlite3.connect(database(settings))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="is held by another process"):
        add_shops(store, "a")
    assert caplog.messages == ["another process writes to the database: waiting for it"]
    other.close()
    add_shops(store, "a")
    assert len(caplog.messages) == 1


@pytest.mark.sqlite_only
def test_a_damaged_database(settings: Settings, store: Store) -> None:
    """The message names the way out."""
    add_shops(store, *(f"{n}" * 500 for n in range(50)))
    store.engine.dispose()
    file = database(settings)
    contents = bytearray(file.read_bytes())
    contents[8_192:] = b"\xff" * (len(contents) - 8_192)
    file.write_bytes(contents)
    with pytest.raises(StoreError, match=r"is damaged: .*scout db restore"):
        Store.open(settings).shop("0" * 500)


@pytest.mark.both_databases
def test_a_row_of_a_shop_that_was_removed(store: Store) -> None:
    """Is refused in one line, as where a shop is removed while somebody decides on its offers."""
    with pytest.raises(StoreError, match="another process has removed"), store.write() as session:
        session.add(Run(shop_id=7))


@pytest.mark.both_databases
def test_readers_do_not_wait_for_writers(store: Store) -> None:
    """While one writes, others read what was before."""
    with store.write() as writing:
        writing.add(Shop(name="new", url="https://new.example/"))
        writing.flush()
        with store.read() as session:
            assert session.exec(select(Shop)).all() == []
    assert store.shop("new")


@pytest.mark.both_databases
def test_writers_wait_for_each_other(store: Store) -> None:
    """Threads that lock a shop, read a number and write the next never lose one."""
    with store.write() as session:
        session.add(Shop(name="counter", url="https://c.example/", max_pages=0))

    def count() -> None:
        for _ in range(10):
            with store.write() as session:
                lock_shop(session, 1)
                session.exec(select(Shop)).one().max_pages += 1

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.shop("counter").max_pages == 40


@pytest.mark.both_databases
def test_several_processes_make_one_database(settings: Settings, forked: Forked) -> None:
    """Processes that open a new database at the same moment all get it."""
    assert forked(Store.open, settings, processes=6) == [0] * 6
    Store.open(settings)


@pytest.mark.both_databases
def test_amounts_and_moments_come_back_exactly(store: Store, shop: Shop) -> None:
    """A price keeps its cents, and a time its moment whatever its zone."""
    east = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    with store.write() as session:
        session.add(
            KnownOffer(shop_id=shop.id, ref="1", price=Decimal("1299.10"), imported_at=east)
        )
    with store.read() as session:
        offer = session.exec(select(KnownOffer)).one()
        assert (
            session.connection().execute(text("SELECT price FROM known_offer")).scalar_one()
            == "1299.10"
        )
    assert (offer.price, offer.imported_at) == (
        Decimal("1299.10"),
        datetime(2026, 1, 1, 10, tzinfo=UTC),
    )


def test_both_tables_of_offers_have_all_fields() -> None:
    """Both tables of offers have all fields of `OfferFields`."""
    for table in (KnownOffer, ShopOffer):
        assert OfferFields.model_fields.keys() <= table.model_fields.keys()
