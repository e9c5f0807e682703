"""Pairs: what is the same offer, what is another one, and what is said of it."""

import json
from decimal import Decimal
from typing import Any

import pytest

from catalog.models import OfferFields, Verdict, Word
from matcher.match import Found, match

LAMP: dict[str, Any] = {
    "url": "https://shop.example/p/lamp-a12",
    "title": "Lumo Lamp A12 black",
    "price": Decimal("49.90"),
    "brand": "Lumo",
    "sku": "LU-12",
    "images": ["https://cdn.example/a12.jpg"],
    "description": "A lamp of black steel with a cable of two metres and a switch.",
}
NO_LINK = LAMP | {"url": None}
BARE = {"title": LAMP["title"], "price": LAMP["price"]}

LISTED = [
    (
        "the same link, another title and price",
        LAMP,
        LAMP | {"title": "Old name", "price": Decimal(20)},
    ),
    (
        "the same link but for scheme, www and suffix",
        LAMP,
        LAMP | {"url": "http://www.shop.example/p/lamp-a12.html"},
    ),
    (
        "the same page through a category",
        LAMP,
        BARE | {"url": "https://shop.example/sale/lamps/lamp-a12"},
    ),
    (
        "a query that only one side has",
        LAMP,
        BARE | {"url": "https://shop.example/p/lamp-a12?colour=black"},
    ),
    ("no link, all else equal", LAMP, NO_LINK),
    ("no link, stale price", LAMP, NO_LINK | {"price": Decimal("44.90")}),
    (
        "brand left out of the title",
        LAMP,
        NO_LINK | {"title": "Lamp A12 black", "brand": None, "sku": None},
    ),
    (
        "brand put before the title",
        LAMP,
        NO_LINK | {"title": "Lumo Lumo Lamp A12 black", "sku": None},
    ),
    ("only title and price", LAMP, BARE),
    (
        "a model number in another spelling",
        LAMP,
        NO_LINK | {"title": "Lumo Lamp A 12 black", "sku": None},
    ),
    (
        "the same GTIN, title reworded",
        LAMP | {"ean": "4006381333931"},
        {"title": "A12 lamp", "ean": "4006381333931"},
    ),
    ("a quantity in another unit", BARE | {"title": "Oil 1,5 l"}, BARE | {"title": "Oil 1500 ml"}),
]
MISSING = [
    ("nothing in common", LAMP, {"title": "Garden chair, folding", "price": Decimal(80)}),
    (
        "a longer model number",
        BARE,
        BARE | {"title": "Lumo Lamp A12s black", "price": Decimal("59.90")},
    ),
    (
        "another storage size",
        BARE | {"title": "Fono X 64 GB"},
        {"title": "Fono X 128 GB", "price": Decimal(99)},
    ),
    (
        "another pack",
        BARE | {"title": "Cups, set of 2"},
        {"title": "Cups, set of 6", "price": Decimal(120)},
    ),
    (
        "the same sku under a clashing title",
        LAMP,
        {"title": "Garden chair", "sku": "LU-12", "price": Decimal(80)},
    ),
    ("no title at all", LAMP, {"price": Decimal("49.90")}),
]


def pair(shop: dict[str, Any], known: dict[str, Any]) -> Found:
    return match([OfferFields(**shop)], [OfferFields(**known)])[0]


@pytest.mark.parametrize(
    ("shop", "known"), [case[1:] for case in LISTED], ids=[case[0] for case in LISTED]
)
def test_listed(shop: dict[str, Any], known: dict[str, Any]) -> None:
    """An offer is listed where links, identifiers or texts say that it is the same one."""
    found = pair(shop, known)
    assert found.verdict is Verdict.LISTED, found
    assert found.known == 0


@pytest.mark.parametrize(
    ("shop", "known"), [case[1:] for case in MISSING], ids=[case[0] for case in MISSING]
)
def test_missing(shop: dict[str, Any], known: dict[str, Any]) -> None:
    """An offer is missing where the nearest known one is another thing, however alike."""
    found = pair(shop, known)
    assert found.verdict is Verdict.MISSING, found


@pytest.mark.parametrize(
    ("shop", "known", "reason"),
    [
        (LAMP, LAMP, "the catalog's link leads to this page"),
        (LAMP, NO_LINK, "same sku"),
        (LAMP, NO_LINK | {"price": Decimal(40)}, "price 49.90 in the shop, 40.00 in the catalog"),
        (
            BARE,
            BARE | {"title": "Lumo Lamp A12s black"},
            "variant: 'a12' in the shop, 'a12s' in the catalog",
        ),
        (
            BARE | {"title": "X 64 GB"},
            BARE | {"title": "X 128 GB"},
            "variant: 64 gb in the shop, 128 gb in the catalog",
        ),
    ],
)
def test_reasons(shop: dict[str, Any], known: dict[str, Any], reason: str) -> None:
    """A decision says in words what it rests on, and what makes two offers variants."""
    assert reason in pair(shop, known).reasons


def test_a_link_that_now_leads_to_another_product_is_doubted() -> None:
    """The same link with another EAN, title, image and price is no proof."""
    known = LAMP | {
        "title": "Garden chair",
        "ean": "4006381333931",
        "price": Decimal(80),
        "images": [],
        "sku": "GC-1",
    }
    assert pair(LAMP | {"ean": "4012345678901"}, known).verdict is not Verdict.LISTED


def test_nothing_resembles_it() -> None:
    """An offer with an empty catalog is missing, and says so."""
    found = match([OfferFields(**LAMP)], [])
    assert [(one.verdict, one.known, one.reasons) for one in found] == [
        (Verdict.MISSING, None, ("nothing in the catalog resembles it",))
    ]


@pytest.mark.parametrize(
    ("word", "verdicts"),
    [(Word.ACCEPT, [Verdict.MISSING]), (Word.REJECT, [Verdict.LISTED]), (Word.IGNORE, [])],
)
def test_a_persons_word_stands_above_all(word: Word, verdicts: list[Verdict]) -> None:
    """Accept keeps an offer missing, reject keeps it listed, ignore leaves it out."""
    for known in (LAMP, BARE, {"title": "Garden chair"}):
        found = match([OfferFields(**LAMP)], [OfferFields(**known)], words={LAMP["url"]: word})
        assert [one.verdict for one in found] == verdicts


def test_what_a_person_called_missing_leaves_its_rival_to_others() -> None:
    """A known offer that a person denied to one page is free for another one."""
    twin = LAMP | {"url": "https://shop.example/p/lamp-a12-new"}
    offers = [
        OfferFields(**LAMP),
        OfferFields(**twin | {"price": Decimal(51), "images": ["https://cdn.example/new.jpg"]}),
    ]
    found = match(offers, [OfferFields(**NO_LINK)], words={LAMP["url"]: Word.ACCEPT})
    assert [one.verdict for one in found] == [Verdict.MISSING, Verdict.LISTED]


@pytest.mark.parametrize(
    ("shop", "known", "kind", "speaks"),
    [
        (LAMP, NO_LINK, "identifiers", "for"),
        (LAMP, NO_LINK | {"sku": "LU-77"}, "identifiers", "against"),
        (LAMP, NO_LINK | {"price": Decimal(15)}, "price", "against"),
        (BARE, BARE | {"title": "Lumo Lamp A12s black"}, "model numbers", "against"),
        (
            BARE | {"title": "Fono X 64 GB"},
            BARE | {"title": "Fono X 128 GB"},
            "quantities",
            "against",
        ),
        (
            BARE | {"title": "Fono X case"},
            BARE | {"title": "case for Fono X case"},
            "variant",
            "against",
        ),
        (LAMP, LAMP, "title", "for"),
    ],
)
def test_what_speaks_for_and_against(
    shop: dict[str, Any], known: dict[str, Any], kind: str, speaks: str
) -> None:
    """A decision tells programs which kinds of evidence moved the odds, which way, and what was seen."""
    why = pair(shop, known).why
    evidence = {one["kind"]: one for one in why["evidence"]}
    assert evidence[kind]["speaks"] == speaks
    assert evidence[kind]["features"]
    assert [row for row, _ in why["candidates"]] == [0]
    assert json.loads(json.dumps(why, allow_nan=False))
