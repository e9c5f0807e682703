"""Values in microdata and RDFa: those of the product itself."""

import pytest

from catalog.models import Attribute
from parser.heuristics.heuristic_reader import read_by_heuristics
from parser.page.document import Document

OFFER = (
    '<div itemprop="offers" itemscope itemtype="https://schema.org/Offer">'
    '<meta itemprop="price" content="12.50"></div>'
)
# Things that stand before the product's own name and picture, inside its scope.
OTHER_THINGS = [
    ("its breadcrumb", '<ol itemscope itemtype="https://schema.org/BreadcrumbList"><li itemprop="itemListElement" '
     'itemscope itemtype="https://schema.org/ListItem"><b itemprop="name">Start</b></li></ol>'),
    ("its brand", '<div itemprop="brand" itemscope itemtype="https://schema.org/Brand"><meta itemprop="name" '
     'content="Acme"><img itemprop="image" src="/logo.png"></div>'),
    ("a related product", '<div itemprop="isRelatedTo" itemscope itemtype="https://schema.org/Product">'
     '<b itemprop="name">Bulb</b><img itemprop="image" src="/bulb.png"><b itemprop="price">3.00</b></div>'),
    ("the author of a review in RDFa", '<div property="review" typeof="Review"><b property="name">Eva</b></div>'),
]  # fmt: skip


@pytest.mark.parametrize(("name", "other"), OTHER_THINGS, ids=[case[0] for case in OTHER_THINGS])
def test_values_of_other_things_inside_a_product(name: str, other: str) -> None:
    """A name, picture or price of another thing inside the product's scope is not the product's."""
    page = (
        f'<main itemscope itemtype="https://schema.org/Product">{other}<p itemprop="name">Desk lamp</p>'
        f'<img itemprop="image" src="/lamp.png">{OFFER}</main>'
    )
    read = read_by_heuristics(Document(page, "https://shop.example/p/1"))
    names = (Attribute.TITLE, Attribute.IMAGE, Attribute.PRICE)
    assert [read[name].value for name in names] == [
        "Desk lamp",
        "https://shop.example/lamp.png",
        "12.50",
    ]


PARTS = [
    ("a description in the offer", 'itemprop="offers" itemscope itemtype="https://schema.org/Offer"'),
    ("the product's type repeated", 'itemscope itemtype="https://schema.org/Product"'),
    ("an offer without its property", 'itemscope itemtype="https://schema.org/Offer"'),
    ("a scope without a type", "itemscope"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "scope"), PARTS, ids=[case[0] for case in PARTS])
def test_values_in_parts_of_a_product(name: str, scope: str) -> None:
    """What a product's offer or a repeated scope of the product states is the product's."""
    page = (
        '<main itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Desk lamp</h1>'
        f'<div {scope}><p itemprop="description">Warm light.</p></div></main>'
    )
    read = read_by_heuristics(Document(page, "https://shop.example/p/1"))
    assert read[Attribute.DESCRIPTION].value == "Warm light."
