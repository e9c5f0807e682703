"""The corpus itself: every folder is complete, and its values are canonical."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from lxml import html

from catalog.models import Attribute
from catalog.values import Hint, normalise

PAGES = sorted(path.parent for path in Path(__file__).parent.glob("*/*/page.html"))


def offer_of(page: Path):
    """The offer of a page's folder."""
    return json.loads((page / "offer.json").read_text("utf-8"))


def test_enough_pages():
    """Each host has at least four offer pages and two other pages."""
    hosts = {page.parent for page in PAGES}
    assert len(hosts) == 4
    for host in hosts:
        offers = [offer_of(page) is not None for page in PAGES if page.parent == host]
        assert offers.count(True) >= 4
        assert offers.count(False) >= 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_a_folder_is_complete(page):
    """A folder holds a page, a URL on its host, and canonical values or null."""
    url, offer = (page / "url.txt").read_text().strip(), offer_of(page)
    assert urlsplit(url).hostname == page.parent.name
    assert html.fromstring((page / "page.html").read_bytes()).xpath("//h1")
    if offer is None:
        return
    assert {"title", "price", "sku"} <= set(offer) <= {attribute.value for attribute in Attribute}
    for name, value in offer.items():
        if value is not None:
            assert normalise(Attribute(name), value, Hint(base_url=url)) == value, name
