"""`scout db upgrade`: a store of the first version shows its findings and decisions in this one."""

import json

import pytest

from catalog.runtime.settings import Settings
from catalog.storage.store import newest_revision
from tests.catalog.storage.full_store import ROWS, TEXT, URL
from tests.catalog.storage.older_schemas import insert_rows, older_database
from tests.scout.conftest import Scout


@pytest.mark.both_databases
def test_store_of_the_first_schema(scout: Scout, settings: Settings) -> None:
    """The upgrade says what it did, and finished runs get the findings that lists read."""
    shop = str(ROWS["shop"][0]["name"])
    with older_database(settings, "0001") as older, older.connect() as connection:
        insert_rows(connection, ROWS)
    assert "run 'scout db upgrade'" in scout("shop", "list").error
    upgraded = scout("db", "upgrade")
    assert (upgraded.code, upgraded.out) == (0, f"schema 0001 -> {newest_revision()}\n")
    (row,) = map(json.loads, scout("offers", shop, "--missing", "--json").out.splitlines())
    assert (row["url"], row["price"], row["word"], row["note"]) == (
        URL + "2",
        "5",
        "accept",
        " ".join(TEXT.split()),
    )
    assert scout("db", "upgrade").out == f"schema {newest_revision()}: nothing to do\n"
