"""Readiness tells machines whether database, schema and disk are ready."""

import pytest
from sqlalchemy import text

from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.web.api import status
from tests.scout.conftest import web_client


def test_ready(settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each thing that is missing is a line; health is another matter."""
    client = web_client(settings, store)
    assert (client.get("/readyz").status_code, client.get("/readyz").text) == (200, "ready\n")
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    monkeypatch.setattr(status, "MIN_FREE_SPACE", 10**18)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    schema, disk = answer.text.splitlines()
    assert "schema 0001" in schema
    assert "MB left" in disk
    assert client.get("/healthz").text == "ok\n"


def test_a_database_that_is_gone(settings: Settings, store: Store) -> None:
    """It is reported as such, without any detail of it."""
    client = web_client(settings, store)
    with store.engine.begin() as connection:
        connection.execute(text("DROP TABLE alembic_version"))
    assert client.get("/readyz").text == "the database does not answer\n"
