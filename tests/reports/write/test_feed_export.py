"""Feeds of the missing offers: what a report finds missing, ready to be imported."""

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlmodel import select

from catalog.feeds.importing import import_offers
from catalog.models import CatalogImport, KnownOffer, ReviewDecision, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from reports.write.feed_export import FeedOffer, write_feeds
from reports.write.report_files import FEED_FORMATS, report_shop

FIELDS = ("title", "description", "price", "currency", "brand", "category", "ean", "han", "sku")
# Texts that break careless writers: formulas, markup, separators, quotes.
ODD_TITLES = (
    '=HYPERLINK("http://evil.example";"x")',
    "Lamp < 3 & chair > 2, 3; \"large\" 'x'",
    "'quoted' lamp",
    "-20 % Lampe Größe М 灯",
    "]]> end of CDATA",
    "back\\slash and\\",
)


@pytest.fixture
def run(fill: Any) -> int:
    """Fill a run with missing, listed and ignored offers; returns its id."""
    run_id: int = fill.run()
    for number, title in enumerate(ODD_TITLES):
        fill.finding(
            run_id,
            f"m{number}",
            title=title,
            description=f"{title} in words",
            price=f"{number + 1}299.90",
            currency="EUR" if number else "CHF",
            brand="Velmora",
            category="Living > Lamps & more > Tables",
            images=["http://shop.example/a,b.jpg", "http://shop.example/c.jpg"],
            ean="4006381333931",
            han=f"LX-{number}",
            sku=f"00{number}",
        )
    fill.finding(run_id, "bare", title="Without a price")
    fill.listed(run_id, "listed", price=10)
    fill.finding(run_id, "ignored", price=10)
    fill.decide("ignored", ReviewDecision.IGNORE)
    fill.save()
    return run_id


def exported(settings: Settings, store: Store, shop: Shop, run: int, name: str) -> Path:
    """Write one feed of a run; returns its file."""
    return report_shop(settings, store, shop, run, formats=(name,))[name]


@pytest.mark.parametrize("name", FEED_FORMATS)
def test_an_imported_feed_has_the_values_of_the_missing_offers(
    name: str, settings: Settings, store: Store, shop: Shop, fill: Any, run: int
) -> None:
    """Scout's importer reads each format back unchanged, odd texts included."""
    path = exported(settings, store, shop, run, name)
    summary = import_offers(store, shop, str(path))
    assert (summary.kept, summary.bad) == (len(ODD_TITLES) + 1, 0)
    with store.read() as session:
        known = {offer.url: offer for offer in session.exec(select(KnownOffer))}
    assert set(known) == {
        *(fill.url(f"m{number}") for number in range(len(ODD_TITLES))),
        fill.url("bare"),
    }
    for number, title in enumerate(ODD_TITLES):
        offer = known[fill.url(f"m{number}")]
        assert offer.title == title
        assert offer.description == f"{title} in words"
        assert (offer.price, offer.currency) == (
            Decimal(f"{number + 1}299.90"),
            "EUR" if number else "CHF",
        )
        assert offer.category == "Living > Lamps & more > Tables"
        assert offer.images == ["http://shop.example/a,b.jpg", "http://shop.example/c.jpg"]
        assert (offer.ean, offer.han, offer.sku) == (
            "4006381333931",
            f"LX-{number}",
            f"00{number}",
        )
    assert known[fill.url("bare")].price is None


def test_ids_are_the_same_in_every_run(
    settings: Settings, store: Store, shop: Shop, fill: Any, run: int
) -> None:
    """An offer that is still missing in the next run keeps its id."""
    later = fill.run()
    fill.finding(later, "m1", title="Changed title")
    fill.save()
    ids = []
    for run_id in (run, later):
        path = exported(settings, store, shop, run_id, "feed-jsonl")
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        ids.append({row["link"]: row["id"] for row in rows})
    assert ids[1][fill.url("m1")] == ids[0][fill.url("m1")]


def test_csv_has_the_column_names_of_the_last_import(
    settings: Settings, store: Store, shop: Shop, tmp_path: Path, run: int
) -> None:
    """Fields stand under the catalog's own names, those it has no column for under Scout's."""
    feed = tmp_path / "feed.csv"
    feed.write_text("Artikel-ID;Bezeichnung;URL;VK brutto\n1;Lampe;http://shop.example/x;9,90\n")
    import_offers(store, shop, str(feed), mapping={"id": "Artikel-ID", "price": "VK brutto"})
    path = exported(settings, store, shop, run, "feed-csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {"Artikel-ID", "Bezeichnung", "URL", "VK brutto", "brand"} <= set(rows[0])
    assert "currency" not in rows[0]
    prices = {row["VK brutto"] for row in rows}
    assert {"1299.90 CHF", "2299.90 EUR"} <= prices
    mapping = {"id": "Artikel-ID", "price": "VK brutto"}
    assert import_offers(store, shop, str(path), mapping=mapping).bad == 0


def test_an_import_is_recorded_with_its_columns_and_counts(
    store: Store, shop: Shop, tmp_path: Path
) -> None:
    """The history of imports has source, columns and counts, in the order of the imports."""
    feed = tmp_path / "feed.csv"
    feed.write_text("id,title,link\n1,Lamp,http://shop.example/a\n1,Lamp,http://shop.example/b\n")
    for _ in range(2):
        import_offers(store, shop, str(feed))
    with store.read() as session:
        first, second = session.exec(select(CatalogImport).order_by("id")).all()
    assert first.columns == {"id": ["id"], "link": ["link"], "title": ["title"]}
    assert (first.read, first.kept, first.bad) == (2, 1, 1)
    assert second.generation == first.generation + 1


def test_a_report_of_nothing_missing_is_a_feed_without_offers(
    settings: Settings, store: Store, shop: Shop, fill: Any
) -> None:
    """Each format of an empty feed is complete."""
    run_id = fill.run()
    fill.listed(run_id, "a", price=1)
    fill.save()
    for name in FEED_FORMATS:
        assert exported(settings, store, shop, run_id, name).is_file()


LINE = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Co", "Cn", "Zl", "Zp")), max_size=40
).map(lambda text: " ".join(text.split()))


@hypothesis_settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINE.filter(bool), min_size=1, max_size=4))
def test_any_texts_survive_every_format(
    store: Store, shop: Shop, tmp_path: Path, titles: list[str]
) -> None:
    """Titles of any characters are read back alike from all three formats."""
    offers = [
        FeedOffer({"id": str(number), "link": f"http://shop.example/{number}", "title": title}, [])
        for number, title in enumerate(titles)
    ]
    read_back = []
    paths = {name: tmp_path / file_name for name, file_name in FEED_FORMATS.items()}
    write_feeds(paths, offers, title="any", columns={})
    for path in paths.values():
        import_offers(store, shop, str(path))
        with store.read() as session:
            known = session.exec(select(KnownOffer).order_by("ref")).all()
        read_back.append([(offer.ref, offer.title) for offer in known])
    assert read_back[0] == read_back[1] == read_back[2]
