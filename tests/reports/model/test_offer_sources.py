"""Sources of findings: snapshot and readings in the rows of `scout offers --json`."""

from typing import Any

from sqlmodel import select

from catalog.models import Page, Shop, ShopOffer
from catalog.storage.store import Store
from reports.model.findings import list_findings


def add_offer(store: Store, shop: Shop, page_url: str, **fields: Any) -> None:
    """Add an offer that was parsed from a stored page."""
    with store.write() as session:
        page = session.exec(select(Page).where(Page.url == page_url)).one()
        session.add(ShopOffer(shop_id=shop.id or 0, page_id=page.id or 0, **fields))


def rows_of(store: Store, shop: Shop, run: int) -> dict[str, dict[str, Any]]:
    """Return the rows of a run's findings by the last step of their URLs."""
    findings = list_findings(store, shop, run)
    return {finding.url.rpartition("/")[2]: finding.as_row() for finding in findings}


def test_readings_and_snapshot(fill: Any, store: Store, shop: Shop) -> None:
    """A row has the text, value and rule of each reading, and the stored page."""
    run = fill.run()
    fill.page("a", body="5f3a")
    fill.finding(run, "a", price="7.90")
    fill.save()
    reading = {"weight": 0.97, "votes": 4, "raw": "7,90 €\x1b", "rule": ".price"}
    older = {"weight": 0.5, "votes": 1}
    readings = {"price": reading, "title": older, "image": older}
    images = ["https://shop.example/a.jpg"]
    add_offer(store, shop, fill.url("a"), title="A", price="7.90", images=images, readings=readings)
    row = rows_of(store, shop, run)["a"]
    assert row["snapshot"]["body"] == "5f3a"
    assert row["snapshot"]["url"] == fill.url("a")
    assert row["readings"]["price"] == {
        "raw": "7,90 €",
        "value": "7.90",
        "rule": ".price",
        "confidence": 0.97,
        "votes": 4,
    }
    assert row["readings"]["title"]["rule"] is None
    assert row["readings"]["image"]["value"] == images[0]


def test_pages_under_another_url(fill: Any, store: Store, shop: Shop) -> None:
    """An offer with a canonical URL has the snapshot of the page that shows it; one without a page has none."""
    run = fill.run()
    fill.page("a?ref=1", body="5f3a")
    fill.finding(run, "a", urls=[fill.url("a"), fill.url("a?ref=1")])
    fill.finding(run, "b")
    fill.save()
    add_offer(store, shop, fill.url("a?ref=1"), title="A", readings={"title": {"raw": "A"}})
    rows = rows_of(store, shop, run)
    assert rows["a"]["snapshot"]["body"] == "5f3a"
    assert rows["a"]["readings"]["title"]["raw"] == "A"
    assert (rows["b"]["snapshot"], rows["b"]["readings"]) == (None, {})


def test_variants_of_a_page(fill: Any, store: Store, shop: Shop) -> None:
    """Each variant has its own readings of the one page; where two may be meant, none."""
    run = fill.run()
    fill.page("shirt", body="5f3a")
    page = fill.url("shirt")
    for color in ("red", "blue"):
        fill.finding(run, f"shirt#{color}", title=f"Shirt {color}", variant_of=page)
    fill.finding(run, "shirt#3", title="Shirt", variant_of=page)
    fill.save()
    for number, title in enumerate(("Shirt blue", "Shirt red", "Shirt", "Shirt")):
        url = f"{page}#{title.split()[1]}" if " " in title else page
        readings = {"title": {"raw": title}}
        add_offer(store, shop, page, variant=number, url=url, title=title, readings=readings)
    rows = rows_of(store, shop, run)
    assert rows["shirt#red"]["readings"]["title"]["raw"] == "Shirt red"
    assert rows["shirt#blue"]["readings"]["title"]["raw"] == "Shirt blue"
    assert rows["shirt#3"]["readings"] == {}
    assert {row["snapshot"]["body"] for row in rows.values()} == {"5f3a"}
