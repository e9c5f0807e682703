"""Amounts whose cents stand in an element of their own."""

import pytest

from catalog.models import Attribute
from catalog.values import normalise
from parser.page.document import Document
from parser.page.texts import element_text

TWELVE_FIFTY = [
    "12<sup>50</sup> €",
    "12 <sup>50</sup> €",
    "12 €<sup>50</sup>",
    "12 €<sup> 50</sup>",
    "12€<sup>50</sup> inkl. MwSt.",
    "12<sup>€50</sup>",
    "12<sup>€ 50</sup>",
    "12<sup>50 €</sup>",
    "12<sup>.50</sup> €",
    "12,<sup>50</sup> €",
    "12<sub>50</sub> €",
    "12<small>50</small> €",
    "€12<small>.50</small>",
    "<sup>€</sup>12<sup>50</sup>",
    "<span>12</span><sup>,50</sup> €",
    "<span>12</span><sup>50</sup> €",
    "<span>12</span><sup>€</sup><sup>50</sup>",
    "<span>12</span><span>50</span> €",
    "€<span>12</span><span>50</span>",
    "<span>12 €</span><span>50</span>",
    "<b>12</b><b>50</b><b>€</b>",
    "<span>12</span>.<span>50</span> <span>€</span>",
    "<span>12</span>\n<span>,50</span>\n<span>€</span>",
    '<span class="int">12</span><span class="cents">50</span> €',
    '<span class="int">12</span> <span class="price__decimal">50</span> €',
    '<span class="whole">12</span><span class="price-fraction">50</span><span>€</span>',
    "12<span class='sr-only'>,</span><sup>50</sup> €",
    "<div>12</div><div class='cents'>50</div><div>€</div>",
    "12<!-- -->,<!-- -->50<!-- --> €",
    "ab <span>12</span><sup>50</sup> €",
    "12&nbsp;€<sup>50</sup>",
    "12 €<sup>50</sup><sup>1</sup>",
    "12,50 €<sup>1</sup>",
    "12,50 €<sup>12</sup>",
    "12,50 €<sup>1)</sup>",
    "12,50<sup>1</sup> €",
    "12,50<sup>*</sup> €",
    "12.50 zł<sup>*</sup>",
]


@pytest.mark.parametrize("markup", TWELVE_FIFTY)
def test_cents_are_read_in_any_markup(markup: str) -> None:
    """Two digits behind the units are cents, by a raised tag, a class or their own element."""
    assert _price_of(markup) == "12.50"


OTHER_AMOUNTS = [
    ("1.299<sup>95</sup> €", "1299.95"),
    ("1 299<sup>95</sup> €", "1299.95"),
    ("$1,299<sup>95</sup>", "1299.95"),
    ("1,299<sup>95</sup> $", "1299.95"),
    ("1299<sup>00</sup> kr", "1299.00"),
    ("129<span>90</span> Kč", "129.90"),
    ("0<sup>99</sup> €", "0.99"),
    ("£<span>5</span><span>99</span>", "5.99"),
    ("12 €<sup>1</sup>", "12.00"),
    ("12<sup>1</sup> €", "12.00"),
    ("12<sup>–</sup> €", "12.00"),
    ("12,<sup>–</sup> €", "12.00"),
    ("12<sup>-</sup>€", "12.00"),
    ("1<span>299</span> €", "1299.00"),
    ("1<b>299</b>,<i>50</i> €", "1299.50"),
    ("<span>1</span><span>2</span><span>9</span> €", "129.00"),
]


@pytest.mark.parametrize(("markup", "expected"), OTHER_AMOUNTS)
def test_other_parts_of_amounts_keep_their_meaning(markup: str, expected: str) -> None:
    """Thousands, dashes, digits one by one and numbers of footnotes are no cents."""
    assert _price_of(markup) == expected


TEXTS = [
    ("Room 12<b>50</b>", "Room 1250"),
    ("4006<b>38</b>1333931", "4006381333931"),
    ("m<sup>2</sup>", "m2"),
    ("50 m<sup>2</sup> 12<b>34</b>", "50 m2 1234"),
    ("2024<b>25</b>", "202425"),
]


@pytest.mark.parametrize(("markup", "expected"), TEXTS)
def test_texts_without_an_amount_stay(markup: str, expected: str) -> None:
    """Numbers in titles and identifiers are joined as before."""
    page = Document(f"<p>{markup}</p>", "https://shop.example/")
    node = page.first("p")
    assert node is not None
    assert element_text(node) == expected


def _price_of(markup: str) -> str | None:
    node = Document(f'<div id="price">{markup}</div>', "https://shop.example/").first("#price")
    assert node is not None
    return normalise(Attribute.PRICE, element_text(node) or "")
