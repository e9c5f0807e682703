"""Imports in the control room: upload, preview with the mapping, start, refused rows, undo."""

import re
from typing import Any

import pytest
from fastapi import FastAPI
from sqlmodel import select

from catalog.feeds.importing import import_offers
from catalog.models import CatalogImport, KnownOffer, LostOffer, Role, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.web.app import create_app
from scout.web.files.uploads import find_upload
from tests.scout.web.browser import Browser, signed_in
from tests.scout.web.test_run_pages import started as started

IMPORTS = "/shops/demo/imports"
FEED = b"name;preis;seite\nLamp;12,50;https://a.example/1\nTable;99;https://a.example/2\n;;\n"


@pytest.fixture
def app(settings: Settings, store: Store, shop: Shop) -> FastAPI:
    """Return the application on a shop without offers."""
    return create_app(settings, store, ["127.0.0.1"])


@pytest.fixture
def browser(app: FastAPI) -> Browser:
    """Return an editor's browser."""
    return signed_in(app, Role.EDITOR)


def upload(browser: Browser, content: bytes, name: str = "feed.csv") -> str:
    """Upload a feed; returns the path of its preview."""
    token = re.search(r'name="csrf_token" value="(\w+)"', browser.get(IMPORTS).text)
    assert token is not None
    answer = browser.post(
        f"{IMPORTS}/choose", data={"csrf_token": token[1]}, files={"feed": (name, content)}
    )
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def test_preview_and_mapping(browser: Browser) -> None:
    """The preview shows columns, guesses and first offers; a chosen column replaces a guess."""
    preview = upload(browser, FEED)
    page = browser.get(preview).text
    assert "2 would be offers" in page
    assert "Lamp" in page
    mapped = browser.get(f"{preview}&map-link=seite").text
    assert '<option value="seite" selected' in mapped
    assert "https://a.example/1" in mapped


def test_a_feed_without_usable_columns(browser: Browser) -> None:
    """Where no title and no link is found, the columns are shown with the reason and no button."""
    page = browser.get(upload(browser, b"a;b\n1;2\n")).text
    assert "an offer needs one of them" in page
    assert "Import the feed" not in page


def test_start_with_a_mapping(
    app: FastAPI, browser: Browser, settings: Settings, shop: Shop, started: list[tuple[Any, ...]]
) -> None:
    """The import runs in the background, with the file that was looked at and the chosen columns."""
    preview = upload(browser, FEED, "my feed (1).csv")
    token = preview.split("upload=")[1].split("&")[0]
    browser.submit(IMPORTS, upload=token, format="csv", **{"map-title": "name"})
    path = find_upload(settings, shop, token).path
    assert path.name == "my-feed-1-.csv"
    assert started == [
        ("demo", "import", ["--format", "csv", "--map", "title=name"], [str(path)], {})
    ]


SOURCES = [
    {"upload": "../../../etc/passwd"},
    {"upload": "A" * 22},
    {"url": "/etc/passwd"},
    {"url": "sqlite:///var/scout.db::select 1"},
    {"url": "ftp://shop.example/feed.csv"},
    {"url": "http://"},
    {"url": "http://[::1"},
    {"format": "sql", "url": "https://shop.example/feed.csv"},
]


@pytest.mark.parametrize("source", SOURCES, ids=[str(source) for source in SOURCES])
def test_only_uploads_and_addresses(
    browser: Browser, started: list[tuple[Any, ...]], source: dict[str, str]
) -> None:
    """Neither files of the server nor queries of databases can be imported."""
    assert browser.submit(IMPORTS, **source).status_code == 400
    assert started == []


def test_private_addresses_need_a_private_shop(
    app: FastAPI, browser: Browser, store: Store, started: list[tuple[Any, ...]]
) -> None:
    """A shop of the internet cannot be used to read an address of the private network."""
    with store.write() as session:
        session.add(Shop(name="public", url="https://shop.example/"))
    answer = browser.submit("/shops/public/imports", url="http://127.0.0.1:9/feed.csv")
    assert answer.status_code == 400
    assert "private address" in answer.text
    assert started == []


def test_a_second_import_is_refused_with_the_first(
    app: FastAPI, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While an import waits or is under way, another one is refused as such, and so is a run."""
    monkeypatch.setattr(app.state.jobs, "_work", lambda *_arguments: None)
    source = {"url": "http://127.0.0.1:9/feed.csv"}
    assert browser.submit(IMPORTS, **source).status_code == 303
    for path in (IMPORTS, "/shops/demo/runs"):
        answer = browser.submit(path, **source)
        assert answer.status_code == 409
        assert "in use already, for an import: wait for that to end" in answer.text


def test_undo_brings_the_offers_back(
    browser: Browser, store: Store, shop: Shop, tmp_path: Any
) -> None:
    """Undoing an import brings back the offers before it with their keys, once only."""
    feed = tmp_path / "feed.csv"
    feed.write_text("id,title,price\n1,Lamp,5\n2,Table,9\n")
    import_offers(store, shop, str(feed))
    with store.read() as session:
        before = [offer.model_dump() for offer in session.exec(select(KnownOffer))]
    feed.write_text("id,title,price\n1,Lamp red,6\n3,Chair,7\n")
    import_offers(store, shop, str(feed))
    assert browser.submit(f"{IMPORTS}/undo").status_code == 303
    with store.read() as session:
        after = [offer.model_dump() for offer in session.exec(select(KnownOffer))]
        assert session.exec(select(LostOffer)).all() == []
        last = session.exec(select(CatalogImport)).all()[-1]
    assert after == before
    assert last.undone_by == "editor-0"
    answer = browser.submit(f"{IMPORTS}/undo")
    assert answer.status_code == 400
    assert "undone already" in answer.text
    import_offers(store, shop, str(feed))
    with store.read() as session:
        assert {offer.ref for offer in session.exec(select(KnownOffer))} == {"1", "3"}


def test_undo_of_the_first_import(
    browser: Browser, store: Store, shop: Shop, tmp_path: Any
) -> None:
    """Before the first import there was nothing, and that comes back."""
    assert browser.submit(f"{IMPORTS}/undo").status_code == 400
    feed = tmp_path / "feed.csv"
    feed.write_text("id,title\n1,Lamp\n2,\n")
    import_offers(store, shop, str(feed))
    assert "has neither a title nor a link" in browser.get(f"{IMPORTS}/refused").text
    assert "feed.csv" in browser.get("/imports").text
    browser.submit(f"{IMPORTS}/undo")
    with store.read() as session:
        assert session.exec(select(KnownOffer)).all() == []
