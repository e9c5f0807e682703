"""Page de-duplication: an offer on several URLs counts once, different offers stay apart."""

from decimal import Decimal
from typing import Any

import pytest

from catalog.models import OfferFields
from matcher.records.page_dedup import group_pages
from matcher.records.record import build_records

PAGE: dict[str, Any] = {
    "url": "https://shop.example/p/paint",
    "title": "Paint by numbers",
    "price": Decimal("9.90"),
    "images": ["https://cdn.example/paint.jpg"],
    "description": "Forty colours, two brushes and a canvas to be painted in an afternoon.",
}
OTHER_URL = "https://shop.example/p/other-paint"

CASES = [
    ("the same link", {"title": "Paint"}, 1),
    ("the same link but for a final slash", {"url": PAGE["url"] + "/"}, 1),
    ("through a category", {"url": "https://shop.example/sale/paint", "images": []}, 1),
    (
        "the same sku, title and price",
        {"url": OTHER_URL, "images": [], "description": None, "sku": "P1"},
        1,
    ),
    ("the same content altogether", {"url": OTHER_URL}, 1),
    (
        "the same title only",
        {"url": OTHER_URL, "images": [], "description": None, "price": Decimal(12)},
        2,
    ),
    ("the same title and price only", {"url": OTHER_URL, "images": [], "description": None}, 2),
    (
        "all the same but the image",
        {"url": OTHER_URL, "images": ["https://cdn.example/other.jpg"]},
        2,
    ),
    (
        "the same sku, another image",
        {"url": OTHER_URL, "images": ["https://cdn.example/other.jpg"], "sku": "P1"},
        2,
    ),
    ("all the same but the sku", {"url": OTHER_URL, "sku": "P2"}, 2),
    ("all the same but the price", {"url": OTHER_URL, "price": Decimal(10)}, 2),
]


@pytest.mark.parametrize(
    ("changes", "number"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_groups(changes: dict[str, Any], number: int) -> None:
    """Pages are one offer if they agree in title and in evidence that tells offers apart."""
    sku = {"sku": "P1"} if "sku" in changes else {}
    assert (
        len(group_pages(build_records([OfferFields(**PAGE | sku), OfferFields(**PAGE | changes)])))
        == number
    )


MUG = PAGE | {"title": "Blaue Tasse", "ean": "4006381333931", "sku": "M1"}
ABROAD: dict[str, Any] = {
    "url": "https://shop.example/en/blue-mug",
    "title": "Blue mug",
    "description": None,
}
MARKETS = [
    ("another language", {}, 1),
    ("another language and another price", {"price": Decimal("8.50")}, 1),
    ("another picture", {"images": ["https://cdn.example/other.jpg"]}, 2),
    ("no picture", {"images": []}, 2),
    ("another EAN", {"ean": "4006381333948"}, 2),
    ("the same sku, without EANs", {"ean": None}, 1),
    (
        "the same sku and title, another price",
        {"ean": None, "title": "Blaue Tasse", "price": Decimal("8.50")},
        1,
    ),
    ("the same sku, another title and price", {"ean": None, "price": Decimal("8.50")}, 2),
    ("another size", {"title": "Blue mug 500 ml"}, 2),
]


@pytest.mark.parametrize(
    ("changes", "number"), [case[1:] for case in MARKETS], ids=[case[0] for case in MARKETS]
)
def test_languages_and_markets(changes: dict[str, Any], number: int) -> None:
    """An offer in another language or market is joined by identifier and image, a variant not."""
    size = {"title": "Blaue Tasse 250 ml"} if "ml" in changes.get("title", "") else {}
    mug = MUG | size | ({"ean": None} if changes.get("ean", "") is None else {})
    assert (
        len(group_pages(build_records([OfferFields(**mug), OfferFields(**mug | ABROAD | changes)])))
        == number
    )


def test_the_language_of_the_catalog_stands_for_an_offer() -> None:
    """Of equally complete pages, the one in a folder that the catalog links comes first."""
    german = MUG | {"url": "https://shop.example/deutsch/tasse"}
    english = MUG | ABROAD | {"description": "A mug."}
    listed = OfferFields(**PAGE | {"url": "https://shop.example/deutsch/malen"})
    assert group_pages(
        build_records([OfferFields(**english), OfferFields(**german), listed]),
        build_records([listed]),
    ) == [(1, 0), (2,)]


def test_an_identifier_of_very_many_pages_is_none() -> None:
    """A shop without EANs may write the same digits on every page, beside its logo."""
    pages = [MUG | {"url": f"https://shop.example/p/{n}", "title": f"Thing {n}"} for n in range(50)]
    assert len(group_pages(build_records(OfferFields(**page) for page in pages))) == 50


def test_a_dash_is_no_sku() -> None:
    """Two offers with a dash for a SKU do not share one."""
    bare = PAGE | {"images": [], "description": None, "sku": "-"}
    assert (
        len(
            group_pages(
                build_records([OfferFields(**bare), OfferFields(**bare | {"url": OTHER_URL})])
            )
        )
        == 2
    )


def test_offers_that_the_catalog_lists_stay_apart() -> None:
    """Two pages of equal content whose links are two known offers are two offers."""
    pages = build_records([OfferFields(**PAGE), OfferFields(**PAGE | {"url": OTHER_URL})])
    assert group_pages(pages, pages) == [(0,), (1,)]


def test_the_best_page_comes_first() -> None:
    """The page that the catalog links to stands for the group, else the one that says most."""
    pages = build_records(
        [
            OfferFields(**PAGE | {"images": []}),
            OfferFields(**PAGE | {"url": "https://shop.example/a/paint"}),
        ]
    )
    assert group_pages(pages) == [(1, 0)]
    assert group_pages(pages, build_records([OfferFields(**PAGE)])) == [(0, 1)]
