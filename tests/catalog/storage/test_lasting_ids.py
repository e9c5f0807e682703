"""A row's id is never given to another row, however many were deleted; ids of many rows are large."""

from collections.abc import Callable

import pytest
from sqlalchemy import inspect
from sqlmodel import SQLModel

from catalog.models import CatalogImport, KnownOffer, Match, Run, Shop, StoredRules, Verdict
from catalog.runtime.settings import Settings
from catalog.storage.store import Store, upgrade_schema
from tests.catalog.storage.older_schemas import RUN, SHOP, TIME, older_database

pytestmark = pytest.mark.both_databases

# Rows whose ids people see or other rows keep; each is made for a shop and a run.
ROWS: dict[str, Callable[[int, int], SQLModel]] = {
    "shop": lambda shop, run: Shop(name="another", url="https://other.example/"),
    "run": lambda shop, run: Run(shop_id=shop),
    "known offer": lambda shop, run: KnownOffer(shop_id=shop, ref="1"),
    "match": lambda shop, run: Match(
        run_id=run, shop_id=shop, url="https://a.example/1", verdict=Verdict.MISSING
    ),
    "import": lambda shop, run: CatalogImport(shop_id=shop, generation=1, source="", format=""),
    "rules": lambda shop, run: StoredRules(shop_id=shop, version=1),
}


@pytest.mark.parametrize("make", ROWS.values(), ids=ROWS.keys())
def test_id_of_a_deleted_row(
    make: Callable[[int, int], SQLModel], store: Store, shop: Shop
) -> None:
    """The id of a deleted row is not used again, not even that of the newest."""
    with store.write() as session:
        run = Run(shop_id=shop.id or 0)
        session.add(run)
        session.flush()
        ids = []
        for _ in range(2):
            row = make(shop.id or 0, run.id or 0)
            session.add(row)
            session.flush()
            ids.append(inspect(row).identity[0])
            session.delete(row)
            session.flush()
    assert ids[1] > ids[0]


@pytest.mark.sqlite_only
def test_all_tables_count_their_ids(store: Store) -> None:
    """Every table of SQLite with an id counts on; a migration that adds one has to say so."""
    tables = "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
    with store.read() as session:
        texts = dict(session.connection().exec_driver_sql(tables).all())
    counted = [table.name for table in SQLModel.metadata.sorted_tables if "id" in table.columns]
    assert [name for name in counted if "AUTOINCREMENT" not in texts[name]] == []


@pytest.mark.sqlite_only
def test_ids_of_rows_deleted_before_the_upgrade(settings: Settings) -> None:
    """A match that was deleted under an earlier schema, and is referred to, keeps its id."""
    known = {"shop_id": 1, "images": [], "opaque": False, "imported_at": TIME, "generation": 1}
    with older_database(settings, "0015") as older:
        older.add("shop", SHOP)
        older.add("run", RUN | {"fingerprints": {}})
        older.add("former_offer", known | {"known_id": 70, "ref": "gone"})
        upgrade_schema(settings)
    store = Store.open(settings)
    with store.write() as session:
        offer = KnownOffer(shop_id=1, ref="new")
        session.add(offer)
    assert offer.id == 71
    store.engine.dispose()


@pytest.mark.postgresql_only
def test_large_ids(store: Store, shop: Shop) -> None:
    """Tables that grow with pages and offers count beyond 32 bits."""
    with store.write() as session:
        session.connection().exec_driver_sql("SELECT setval('known_offer_id_seq', 5000000000)")
        offer = KnownOffer(shop_id=shop.id or 0, ref="new")
        session.add(offer)
    assert offer.id == 5_000_000_001
