"""The feed of the demo shop's catalog, with its faults."""

from collections import Counter
from urllib.parse import unquote

import pytest
from lxml import etree
from stdnum import ean

from scout.demo.assortment.feed_rows import GONE, REJECTED
from scout.demo.assortment.merchant_links import FORMS, merchant_link

BASE = "http://127.0.0.1:8320/"
G = "{http://base.google.com/ns/1.0}"


@pytest.fixture(scope="module")
def items(demo):
    """The feed's items as dictionaries."""
    root = etree.fromstring(demo.feed(BASE))
    return [{child.tag.removeprefix(G): child.text for child in item} for item in root.iter("item")]


def test_feed_is_merchant_xml(demo, items):
    """The feed is Google Merchant XML with an item per row and unique ids."""
    assert len(items) == len(demo.rows)
    assert len({item["id"] for item in items}) == len(items)
    assert all(
        {"title", "link", "price", "availability"} <= set(item) for item in items if "title" in item
    )


def test_every_form_of_link_occurs(demo):
    """Links come in every form of `merchant_links.FORMS`."""
    assert set(Counter(row.form for row in demo.rows)) == set(FORMS)


@pytest.mark.parametrize("form", sorted(set(FORMS) - {"short"}))
def test_link_holds_the_offers_address(form):
    """All links but short ones contain the offer's URL, encoded up to twice."""
    link = merchant_link(form, BASE, "/en/products/a?variant=7", "SKU-7")
    assert f"{BASE}en/products/a?variant=7" in unquote(unquote(link))


def test_short_links_say_nothing():
    """A short link contains neither the shop's URL nor the offer's SKU."""
    link = merchant_link("short", BASE, "/en/products/a", "SKU-7")
    assert "127.0.0.1" not in unquote(link)
    assert "SKU" not in link


def test_bad_rows(items):
    """Some rows lack title and link, some have a wrong check digit, one has no valid price."""
    blank = [item for item in items if "title" not in item and "link" not in item]
    assert len(blank) == REJECTED + 2
    assert sum(not ean.is_valid(item["gtin"]) for item in items if "gtin" in item) == 3
    assert sum(not item["price"][0].isdigit() for item in items if "price" in item) == 1


def test_rejected_rows_belong_to_missing_offers(demo):
    """An offer whose only row is unusable is missing, and its row has the offer's SKU."""
    rejected = [row for row in demo.rows if row.fault == "neither title nor link"]
    assert len(rejected) == REJECTED
    assert {row.offer.path for row in rejected} <= demo.missing()
    assert all(row.ref == row.offer.sku for row in rejected)


def test_stale_rows(demo):
    """Some known offers have a wrong price, some a rewritten title; most rows are right."""
    good = [row for row in demo.rows if not row.fault and not row.offer.variants]
    wrong = [
        row for row in good if (row.sale_price or row.price).split()[0] != str(row.offer.price)
    ]
    rewritten = [row for row in good if row.title != row.offer.title]
    assert 0.05 < len(wrong) / len(good) < 0.15
    assert 0.04 < len(rewritten) / len(good) < 0.12


def test_gone_offers_stand_in_the_feed(demo):
    """Some rows belong to offers that are gone; they share no identifier with the shop's offers."""
    sold = {
        value for offer in demo.offers for value in (offer.path, offer.sku, offer.ean, offer.title)
    }
    rows = {row.offer.path for row in demo.rows if row.offer in demo.gone}
    assert len(rows) == len(demo.gone) == GONE
    assert not sold & {
        value for offer in demo.gone for value in (offer.path, offer.sku, offer.ean, offer.title)
    }


def test_base_url_with_or_without_slash(demo):
    """But for the channel's own link, a slash at the end of the base URL changes nothing."""
    with_slash, without = demo.feed(BASE), demo.feed(BASE.rstrip("/"))
    assert (
        with_slash.replace(b"<link>http://127.0.0.1:8320/<", b"<link>http://127.0.0.1:8320<")
        == without
    )
