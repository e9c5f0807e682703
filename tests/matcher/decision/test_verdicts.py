"""Verdicts and their explanation, for single pairs and for competing offers."""

import json
from decimal import Decimal
from typing import Any

import pytest

from catalog.models import OfferFields, ReviewDecision, Verdict
from matcher.match import MatchResult, match_offers

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


def match_pair(shop: dict[str, Any], catalog: dict[str, Any]) -> MatchResult:
    return match_offers([OfferFields(**shop)], [OfferFields(**catalog)])[0]


@pytest.mark.parametrize(
    ("shop", "catalog"), [case[1:] for case in LISTED], ids=[case[0] for case in LISTED]
)
def test_listed(shop: dict[str, Any], catalog: dict[str, Any]) -> None:
    """An offer is listed if links, identifiers or texts show that it is the same one."""
    result = match_pair(shop, catalog)
    assert result.verdict is Verdict.LISTED, result
    assert result.nearest == 0


@pytest.mark.parametrize(
    ("shop", "catalog"), [case[1:] for case in MISSING], ids=[case[0] for case in MISSING]
)
def test_missing(shop: dict[str, Any], catalog: dict[str, Any]) -> None:
    """An offer is missing if the nearest catalog offer is another product, however similar."""
    result = match_pair(shop, catalog)
    assert result.verdict is Verdict.MISSING, result


@pytest.mark.parametrize(
    ("shop", "catalog", "reason"),
    [
        (LAMP, LAMP, "the catalog's link leads to this page"),
        (LAMP, NO_LINK, "same article number"),
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
def test_reasons(shop: dict[str, Any], catalog: dict[str, Any], reason: str) -> None:
    """A decision gives its reasons in words, and the difference that makes two offers variants."""
    assert reason in match_pair(shop, catalog).reasons


def test_a_link_that_now_leads_to_another_product_is_doubted() -> None:
    """The same link with another EAN, title, image and price is no proof."""
    catalog = LAMP | {
        "title": "Garden chair",
        "ean": "4006381333931",
        "price": Decimal(80),
        "images": [],
        "sku": "GC-1",
    }
    assert match_pair(LAMP | {"ean": "4012345678901"}, catalog).verdict is not Verdict.LISTED


def test_nothing_resembles_it() -> None:
    """Every offer is missing from an empty catalog, and the reason says so."""
    results = match_offers([OfferFields(**LAMP)], [])
    assert [(result.verdict, result.nearest, result.reasons) for result in results] == [
        (Verdict.MISSING, None, ("nothing in the catalog resembles it",))
    ]


@pytest.mark.parametrize(
    ("review", "verdicts"),
    [
        (ReviewDecision.ACCEPT, [Verdict.MISSING]),
        (ReviewDecision.REJECT, [Verdict.LISTED]),
        (ReviewDecision.IGNORE, []),
    ],
)
def test_a_review_overrides_the_scores(review: ReviewDecision, verdicts: list[Verdict]) -> None:
    """Accept keeps an offer missing, reject keeps it listed, ignore leaves it out."""
    for catalog in (LAMP, BARE, {"title": "Garden chair"}):
        reviews = {LAMP["url"]: review}
        results = match_offers([OfferFields(**LAMP)], [OfferFields(**catalog)], reviews=reviews)
        assert [result.verdict for result in results] == verdicts


@pytest.mark.parametrize(
    ("review", "reason"),
    [
        (ReviewDecision.ACCEPT, "a reviewer confirmed that the catalog lacks it"),
        (ReviewDecision.REJECT, "a reviewer rejected the finding: the catalog lists it"),
    ],
)
def test_a_review_is_the_first_reason(review: ReviewDecision, reason: str) -> None:
    """The reasons begin with the review that overrides the scores."""
    reviews = {LAMP["url"]: review}
    result = match_offers([OfferFields(**LAMP)], [OfferFields(**BARE)], reviews=reviews)[0]
    assert result.reasons[0] == reason


def test_a_confirmed_offer_leaves_its_rival_to_others() -> None:
    """A catalog offer that a reviewer denied to one page is free for another one."""
    twin = LAMP | {"url": "https://shop.example/p/lamp-a12-new"}
    offers = [
        OfferFields(**LAMP),
        OfferFields(**twin | {"price": Decimal(51), "images": ["https://cdn.example/new.jpg"]}),
    ]
    reviews = {LAMP["url"]: ReviewDecision.ACCEPT}
    results = match_offers(offers, [OfferFields(**NO_LINK)], reviews=reviews)
    assert [result.verdict for result in results] == [Verdict.MISSING, Verdict.LISTED]


@pytest.mark.parametrize(
    ("shop", "catalog", "kind", "speaks"),
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
def test_evidence_for_and_against(
    shop: dict[str, Any], catalog: dict[str, Any], kind: str, speaks: str
) -> None:
    """The details name the kinds of evidence that moved the odds, and their direction."""
    details = match_pair(shop, catalog).details
    evidence = {entry["kind"]: entry for entry in details["evidence"]}
    assert evidence[kind]["speaks"] == speaks
    assert evidence[kind]["features"]
    assert [row for row, _, _ in details["candidates"]] == [0]
    assert json.loads(json.dumps(details, allow_nan=False))
