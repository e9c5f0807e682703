"""What a page does not show, and what comes nearest to it."""

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from rules_generator.evaluation.nearest import missing

PAGE = """<h1>Brass lamp, large</h1><b class="now">24,90 €</b><i data-sku="BL-77-A"></i>
<script>x = {"brand": "Ardwen Ltd", "stock": 4}</script>"""

CASES = [
    (Attribute.TITLE, "Large lamp of brass", "Brass lamp, large", "h1"),
    (Attribute.PRICE, "19.90", "24,90 €", "b.now"),
    (Attribute.SKU, "BL-77-B", "BL-77-A", "i[data-sku] ::attr(data-sku)"),
    (Attribute.BRAND, "Ardwen GmbH", "Ardwen Ltd", "script {x =} $.brand"),
    (Attribute.EAN, "4006381333931", None, None),
]


@pytest.mark.parametrize(
    ("attribute", "value", "nearest", "selector"), CASES, ids=[str(case[0]) for case in CASES]
)
def test_names_the_nearest(
    attribute: Attribute, value: str, nearest: str | None, selector: str | None
) -> None:
    """Whatever its kind of place, and nothing where nothing is near."""
    (found,) = missing(Document(PAGE, "https://shop.example/p"), {attribute: [value]})
    assert (found.value, found.nearest, found.selector) == (value, nearest, selector)


def test_what_the_page_shows_is_not_missing() -> None:
    """Neither as a whole text nor within one."""
    known = {
        Attribute.TITLE: ["Brass lamp"],
        Attribute.PRICE: ["24.90"],
        Attribute.CURRENCY: ["CHF"],
    }
    assert missing(Document(PAGE, "https://shop.example/p"), known) == []


def test_a_page_of_a_hundred_thousand_texts_ends_soon() -> None:
    """What is compared is bounded."""
    page = "".join(f"<p>text {number}" for number in range(100_000))
    assert missing(Document(page, "https://shop.example/p"), {Attribute.BRAND: ["Ardwen"]})
