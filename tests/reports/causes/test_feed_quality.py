"""Feed quality: rejected rows, links, and prices and titles that differ."""

from typing import Any

from catalog.models import ReviewDecision, Shop
from catalog.storage.store import Store
from reports.causes.feed_quality import FeedQuality
from reports.model.report_model import build_report


def test_prices_and_titles_of_listed_offers_are_compared(
    fill: Any, store: Store, shop: Shop
) -> None:
    """Listed offers with another price or title are listed, the greatest difference first; currencies are not mixed."""
    run = fill.run()
    fill.listed(run, "same", price=10, title="Red lamp 40 cm")
    fill.listed(run, "stale", price=12, nearest={"price": 10})
    fill.listed(run, "very-stale", price=100, nearest={"price": 150})
    fill.listed(run, "francs", price=10, nearest={"price": 12, "currency": "CHF"})
    fill.listed(run, "order", title="Red lamp 40 cm", nearest={"title": "LAMP 40 cm, red"})
    fill.listed(run, "other", title="Red lamp 40 cm", nearest={"title": "Article 7"})
    fill.finding(run, "rejected", price=1, nearest={"price": 2, "currency": "EUR"}, known_id=1)
    fill.decide("rejected", ReviewDecision.REJECT)
    fill.save()
    quality = build_report(store, shop, run).feed_quality
    assert [(offer.url, offer.share) for offer in quality.prices] == [
        (fill.url("very-stale"), -1 / 3),
        (fill.url("stale"), 0.2),
    ]
    assert quality.prices_compared == 3
    assert [offer.url for offer in quality.titles] == [fill.url("other")]


def test_rejected_rows_are_counted_by_reason_with_examples(
    fill: Any, store: Store, shop: Shop
) -> None:
    """Reasons are sorted by frequency, each with its first rows; their number is bounded."""
    run = fill.run()
    for n in range(5):
        fill.rejected_row(f"raw {n}", "no price", line=n)
    fill.rejected_row("raw", "no title")
    fill.save()
    quality = build_report(store, shop, run).feed_quality
    assert [
        (entry.reason, entry.rows, len(entry.examples)) for entry in quality.rejections.values()
    ] == [
        ("no price", 5, 3),
        ("no title", 1, 1),
    ]
    assert quality.rejected_rows == 6
    many = FeedQuality()
    with store.write() as session:
        fill.rows = []
        for n in range(1500):
            fill.rejected_row("raw", f"reason {n}")
        session.add_all(fill.rows)
    with store.read() as session:
        assert sum(1 for _ in many.read_rejected_rows(session, shop)) == 1506
    assert len(many.rejections) == 1001


def test_links_are_counted_as_readable_opaque_or_broken(
    fill: Any, store: Store, shop: Shop
) -> None:
    """A catalog offer without a URL has an opaque link or a broken one."""
    run = fill.run()
    fill.catalog_offer("a")
    fill.catalog_offer(None, opaque=True)
    fill.catalog_offer(None)
    fill.catalog_offer(None)
    fill.save()
    assert build_report(store, shop, run).feed_quality.links == {
        "readable": 1,
        "opaque": 1,
        "broken": 2,
    }


def test_the_greatest_relative_difference_comes_first(fill: Any, store: Store, shop: Shop) -> None:
    """Prices that differ are sorted by the share that the report shows, not by the amount."""
    run = fill.run()
    for path, page, catalog in (("a", 1100, 1000), ("b", 15, 10), ("c", 4, 10), ("d", 3, 0)):
        fill.listed(run, path, price=page, nearest={"price": catalog})
    fill.save()
    prices = build_report(store, shop, run).feed_quality.prices
    assert [offer.url[-1] for offer in prices] == ["d", "c", "b", "a"]
