"""An invented shop with a catalog that counts as large, in SQLite and in PostgreSQL."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import delete, select

from catalog.feeds.importing import import_offers
from catalog.models import KnownIndex, KnownIndexPart, Page, PageState, Shop, ShopOffer
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from matcher.config import DEFAULT_CONFIG
from matcher.known_index.build import build_index
from tests.catalog.storage.postgresql import fresh_database

KINDS = ("desk lamp", "floor lamp", "wall light", "pendant", "spot", "lantern", "table lamp")
COLOURS = ("red", "blue", "green", "black", "ivory")
BRANDS = ("Lumo", "Hewlett Packard", "HP", "Vega", "")
CATALOG_SIZE = 240
PAGES = 20

Row = dict[str, Any]
Import = Callable[[Sequence[Row]], None]


def make_row(number: int) -> Row:
    """Make a known offer as a row of a feed."""
    kind, colour = KINDS[number % 7], COLOURS[number % 5]
    brand, series = BRANDS[number // 2 % 5], 100 + number // 35
    return {
        "id": f"{number:04}",
        "title": f"{brand} {kind} {series} {colour}".strip(),
        "brand": brand if number % 3 else "",
        "price": f"{20 + number * 37 % 400}.50 EUR",
        "sku": f"SKU-{number}" if number % 4 else "",
        "link": f"https://shop.example/p/{number}-{colour}" if number % 2 else "",
        "image": f"https://cdn.example/{number if number % 6 else 'logo'}.jpg",
        "description": f"A {colour} {kind} of the series {series}, {number % 11} m of cable, "
        "delivered free of charge within two working days by our own van",
        "product": f"P{number // 2}" if number % 7 == 0 else "",
    }


def make_rows(numbers: Sequence[int] = range(CATALOG_SIZE)) -> list[Row]:
    """Make the rows of a feed."""
    return [make_row(number) for number in numbers]


def _page_offer(number: int) -> Mapping[str, Any]:
    """Make the offer of a page: many known ones, some of them in other words, and missing ones."""
    if number % 5 == 0:
        return {"title": f"Umbrella stand {number} oak", "brand": "Vega"}
    row = make_row(number * 13 % CATALOG_SIZE)
    title = row["title"]
    if number % 3 == 1:
        title = title.replace("lamp", "light").upper()
    elif number % 3 == 2:
        title = f"{title} {number} XL"
    return {
        "title": title,
        "brand": row["brand"] or None,
        "sku": row["sku"] if number % 3 == 0 else None,
        "description": row["description"],
        "images": [row["image"]] if number % 2 else [],
    }


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a hundred offers count as a large catalog, and train no classifier: it takes seconds."""
    config = replace(DEFAULT_CONFIG, min_training_offers=10**9)
    monkeypatch.setattr("matcher.match_job.DEFAULT_CONFIG", config)
    monkeypatch.setattr("matcher.match.LARGE_CATALOG", 100)
    monkeypatch.setattr("matcher.known_side.LARGE_CATALOG", 100)
    monkeypatch.setattr("matcher.known_side.MIN_KNOWN_PER_OFFER", 10)
    monkeypatch.setattr("matcher.blocking.candidates.MAX_SEARCHING", 100)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """A store with a shop and its pages."""
    database = fresh_database() if request.param == "postgresql" else nullcontext()
    with database as url:
        yield from _fill(tmp_path_factory.mktemp("known"), url)


def _fill(folder: Path, url: str | None) -> Iterator[Store]:
    store = Store.open(Settings.load(data_dir=folder / "var", database_url=url))
    with store.write() as session:
        session.add(Shop(id=1, name="demo", url="https://shop.example/"))
        session.flush()
        for number in range(PAGES):
            page_url = f"https://shop.example/page/{number}"
            if number % 4 == 0:
                page_url = make_row(number * 13 % CATALOG_SIZE)["link"] or page_url
            page = Page(shop_id=1, url=page_url, state=PageState.FETCHED)
            session.add(page)
            session.flush()
            fields = _page_offer(number)
            session.add(ShopOffer(shop_id=1, page_id=page.id or 0, url=page_url, **fields))
    yield store
    store.engine.dispose()


@pytest.fixture
def import_rows(filled: Store, tmp_path: Path) -> Import:
    """Import rows as the known offers of the shop."""

    def import_(rows: Sequence[Row]) -> None:
        feed = tmp_path / "feed.jsonl"
        feed.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        import_offers(filled, filled.shop("demo"), str(feed))

    return import_


@pytest.fixture
def catalog(filled: Store, import_rows: Import) -> Store:
    """The store with all known offers, and no index of them."""
    import_rows(make_rows())
    with filled.write() as session:
        session.exec(delete(KnownIndex))
        session.exec(delete(KnownIndexPart))
    return filled


@pytest.fixture
def indexed(catalog: Store) -> Store:
    """The store with all known offers and their index."""
    build_index(catalog, 1)
    return catalog


def read_index(store: Store) -> KnownIndex:
    """Return the row of the shop's index."""
    with store.read() as session:
        return session.exec(select(KnownIndex)).one()
