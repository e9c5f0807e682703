"""Matching whole shops: every offer once, one to one, in any order and with any text."""

import random
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.models import OfferFields, Verdict
from matcher.match import MatchResult, match_offers

NASTY = st.one_of(
    st.none(),
    st.text(max_size=40),
    st.sampled_from(
        [
            "",
            " ",
            "lamp a12",
            "lamp a12s",
            "Lamp  A 12",
            "0" * 500,
            "x" * 5000,
            "\u0000",
            "1,5 l",
            "𝟙𝟚 ﬁ ™",
        ]
    ),
)
OFFERS = st.lists(
    st.builds(
        OfferFields,
        url=st.one_of(
            st.none(),
            st.sampled_from([f"https://shop.example/{n}" for n in "abcdef"]),
            st.text(max_size=20),
        ),
        title=NASTY,
        description=NASTY,
        brand=NASTY,
        sku=NASTY,
        han=NASTY,
        ean=st.one_of(st.none(), st.sampled_from(["4006381333931", "12345670"])),
        images=st.lists(st.text(max_size=20), max_size=2),
        price=st.one_of(st.none(), st.decimals(-5, "1e15", allow_nan=False)),
    ),
    max_size=6,
)


def verdicts(
    results: list[MatchResult], offers: list[OfferFields]
) -> Counter[tuple[str, str, float]]:
    """Count the verdict and score of every page, by the page's content."""
    return Counter(
        (str(offers[index]), result.verdict, round(result.score, 5))
        for result in results
        for index in result.pages
    )


@pytest.mark.parametrize("number", [0, 1, 3, 36])
def test_a_complete_catalog_lists_everything(lamps: list[OfferFields], number: int) -> None:
    """A shop whose catalog is complete lacks nothing, however few offers it has."""
    results = match_offers(lamps[:number], lamps[:number])
    assert [result.verdict for result in results] == [Verdict.LISTED] * number
    assert [result.nearest for result in results] == [*range(number)]


@pytest.mark.parametrize("linked", [True, False], ids=["links", "no links"])
def test_finds_the_missing_offers(lamps: list[OfferFields], linked: bool) -> None:
    """Of siblings that differ in a word or a number, just those not in the catalog are missing."""
    lacking = {3, 7, 12, 20, 31}
    catalog = []
    for n, lamp in enumerate(lamps):
        if n not in lacking:
            url = lamp.url if linked else None
            price = Decimal(9) if n % 5 == 0 else lamp.price
            catalog.append(lamp.model_copy(update={"url": url, "price": price}))
    results = match_offers(lamps, catalog)
    missing = {result.offer for result in results if result.verdict is Verdict.MISSING}
    assert missing == lacking


def test_a_catalog_offer_is_paired_once(lamps: list[OfferFields]) -> None:
    """Two pages that both resemble one catalog offer cannot both be listed by it."""
    twins = []
    for price, name in enumerate("abc", 20):
        url = f"https://shop.example/twin/{name}"
        twins.append(lamps[0].model_copy(update={"url": url, "sku": None, "price": Decimal(price)}))
    results = match_offers(twins, [lamps[0].model_copy(update={"url": None})])
    assert sorted(result.verdict for result in results) == [
        Verdict.LISTED,
        Verdict.MISSING,
        Verdict.MISSING,
    ]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(shop=OFFERS, catalog=OFFERS, seed=st.integers(0, 9))
def test_any_text_in_any_order(
    shop: list[OfferFields], catalog: list[OfferFields], seed: int
) -> None:
    """No text raises, every page is in one offer, no catalog offer is given twice, in any order."""
    results = match_offers(shop, catalog)
    assert sorted(index for result in results for index in result.pages) == [*range(len(shop))]
    paired = [result.nearest for result in results if result.verdict is not Verdict.MISSING]
    assert len(paired) == len(set(paired))
    shuffled_shop = random.Random(seed).sample(shop, len(shop))
    shuffled_catalog = random.Random(seed).sample(catalog, len(catalog))
    shuffled = match_offers(shuffled_shop, shuffled_catalog)
    assert verdicts(shuffled, shuffled_shop) == verdicts(results, shop)


def test_a_trained_classifier_does_not_depend_on_the_order(lamps: list[OfferFields]) -> None:
    """With enough offers to train on, shuffled inputs still give the same verdicts and scores."""
    bare = {"url": None, "sku": None, "images": []}
    catalog = [lamp.model_copy(update=bare) for lamp in lamps[::2] + lamps[1::4]]
    shuffled_shop = random.Random(1).sample(lamps, len(lamps))
    shuffled_catalog = random.Random(2).sample(catalog, len(catalog))
    shuffled = match_offers(shuffled_shop, shuffled_catalog)
    assert verdicts(shuffled, shuffled_shop) == verdicts(match_offers(lamps, catalog), lamps)


def test_a_catalog_of_six_offers_is_enough_to_recognise_other_titles() -> None:
    """A scorecard is trained on so few offers, too; without a link, titles and prices have to do.

    Where a single word agrees, it is unsure, but takes no offer for missing that is listed.
    """
    known = {
        "Nordheim Trekking Backpack Fjell 45 litres, forest green": 129,
        "Lumora LED desk lamp with dimmer and USB port": 39,
        "Kaffina espresso machine Bella, 15 bar, stainless steel": 219,
        "Wollwerk merino socks, pack of three": 24,
        "Glasblick carafe with oak lid 1.2 l": 32,
        "Radfix bicycle pump with gauge": 18,
    }
    shown = {
        "Fjell rucksack 45L green Nordheim": 119,
        "Desk lamp LED USB dimmable Lumora": 39,
        "Espresso maker Kaffina Bella steel": 229,
        "Merino sock 3-pack Wollwerk": 24,
        "Carafe, glass, oak lid Glasblick": 29,
        "Floor pump gauge Radfix": 18,
        "Glasblick water jug set of two": 41,
        "Trail running shoes Tornado": 99,
    }
    catalog = [OfferFields(title=title, price=Decimal(price)) for title, price in known.items()]
    shop = [OfferFields(title=title, price=Decimal(price)) for title, price in shown.items()]
    nearest: dict[Verdict, dict[int, int | None]] = {verdict: {} for verdict in Verdict}
    for result in match_offers(shop, catalog):
        nearest[result.verdict][result.offer] = result.nearest
    assert nearest[Verdict.LISTED].items() >= {1: 1, 2: 2, 4: 4}.items()
    assert nearest[Verdict.MISSING] == {6: None, 7: None}
    assert nearest[Verdict.LISTED] | nearest[Verdict.UNSURE] == {n: n for n in range(6)}
