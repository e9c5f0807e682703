"""Feed health: rejected rows, links, prices and titles that differ."""

from typing import Any

from catalog.models import Shop, Word
from catalog.storage.store import Store
from reports.causes.feed_quality import Health
from reports.model.report_model import gather


def test_prices_and_titles_of_listed_offers_are_compared(
    fill: Any, store: Store, shop: Shop
) -> None:
    """A stale price or another title is shown, greatest difference first; other currencies are not compared."""
    run = fill.run()
    fill.listed(run, "same", price=10, title="Red lamp 40 cm")
    fill.listed(run, "stale", price=12, nearest={"price": 10})
    fill.listed(run, "very-stale", price=100, nearest={"price": 150})
    fill.listed(run, "francs", price=10, nearest={"price": 12, "currency": "CHF"})
    fill.listed(run, "order", title="Red lamp 40 cm", nearest={"title": "LAMP 40 cm, red"})
    fill.listed(run, "other", title="Red lamp 40 cm", nearest={"title": "Article 7"})
    fill.found(run, "rejected", price=1, nearest={"price": 2, "currency": "EUR"}, known_id=1)
    fill.word("rejected", Word.REJECT)
    fill.save()
    health = gather(store, shop, run).health
    assert [(one.url, one.share) for one in health.prices] == [
        (fill.url("very-stale"), -1 / 3),
        (fill.url("stale"), 0.2),
    ]
    assert health.prices_compared == 3
    assert [one.url for one in health.titles] == [fill.url("other")]


def test_bad_rows_are_counted_by_reason_with_examples(fill: Any, store: Store, shop: Shop) -> None:
    """Reasons come by frequency, each with the first rows; a feed of a million reasons does not fill the memory."""
    run = fill.run()
    for n in range(5):
        fill.bad(f"raw {n}", "no price", line=n)
    fill.bad("raw", "no title")
    fill.save()
    health = gather(store, shop, run).health
    assert [(one.reason, one.rows, len(one.examples)) for one in health.bad.values()] == [
        ("no price", 5, 3),
        ("no title", 1, 1),
    ]
    assert health.bad_rows == 6
    many = Health()
    with store.write() as session:
        fill.rows = []
        for n in range(1500):
            fill.bad("raw", f"reason {n}")
        session.add_all(fill.rows)
    with store.read() as session:
        assert sum(1 for _ in many.watched(session, shop)) == 1506
    assert len(many.bad) == 1001


def test_links_are_counted_as_readable_opaque_or_broken(
    fill: Any, store: Store, shop: Shop
) -> None:
    """An opaque link hides where it leads; a broken one leads nowhere."""
    run = fill.run()
    fill.known("a")
    fill.known(None, opaque=True)
    fill.known(None)
    fill.known(None)
    fill.save()
    assert gather(store, shop, run).health.links == {"readable": 1, "opaque": 1, "broken": 2}
