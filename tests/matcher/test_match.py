"""Whole shops: every offer once, one to one, whatever the order and whatever the text."""

import random
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.models import OfferFields, Verdict
from matcher.match import Found, match

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


def verdicts(found: list[Found], offers: list[OfferFields]) -> Counter[tuple[str, str, float]]:
    """What was said of every page, told by what the page says."""
    return Counter(
        (str(offers[i]), one.verdict, round(one.score, 5)) for one in found for i in one.members
    )


@pytest.mark.parametrize("number", [0, 1, 3, 36])
def test_an_own_catalog_lists_everything(lamps: list[OfferFields], number: int) -> None:
    """A shop whose catalog is complete lacks nothing, however few offers it has."""
    found = match(lamps[:number], lamps[:number])
    assert [one.verdict for one in found] == [Verdict.LISTED] * number
    assert [one.known for one in found] == [*range(number)]


@pytest.mark.parametrize("linked", [True, False], ids=["links", "no links"])
def test_finds_what_the_catalog_lacks(lamps: list[OfferFields], linked: bool) -> None:
    """Of siblings that differ in a word or a number, exactly those that the catalog lacks are missing."""
    lacking = {3, 7, 12, 20, 31}
    known = [
        one.model_copy(
            update={
                "url": one.url if linked else None,
                "price": Decimal(9) if n % 5 == 0 else one.price,
            }
        )
        for n, one in enumerate(lamps)
        if n not in lacking
    ]
    found = match(lamps, known)
    assert {one.members[0] for one in found if one.verdict is Verdict.MISSING} == lacking


def test_a_known_offer_is_paired_once(lamps: list[OfferFields]) -> None:
    """Two pages that both resemble one known offer cannot both be listed by it."""
    twins = [
        lamps[0].model_copy(update={"url": f"https://shop.example/twin/{n}", "sku": None})
        for n in "abc"
    ]
    twins = [one.model_copy(update={"price": Decimal(n)}) for n, one in enumerate(twins, 20)]
    found = match(twins, [lamps[0].model_copy(update={"url": None})])
    assert sorted(one.verdict for one in found) == [
        Verdict.LISTED,
        Verdict.MISSING,
        Verdict.MISSING,
    ]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(shop=OFFERS, known=OFFERS, seed=st.integers(0, 9))
def test_any_text_in_any_order(
    shop: list[OfferFields], known: list[OfferFields], seed: int
) -> None:
    """No text raises, every page is in one offer, no known offer is given twice, and the order is of no account."""
    found = match(shop, known)
    assert sorted(i for one in found for i in one.members) == [*range(len(shop))]
    paired = [one.known for one in found if one.verdict is not Verdict.MISSING]
    assert len(paired) == len(set(paired))
    other_shop, other_known = (
        random.Random(seed).sample(shop, len(shop)),
        random.Random(seed).sample(known, len(known)),
    )
    assert verdicts(match(other_shop, other_known), other_shop) == verdicts(found, shop)


def test_a_taught_classifier_does_not_depend_on_the_order(lamps: list[OfferFields]) -> None:
    """With enough offers to learn from, shuffled inputs still give the same verdicts and scores."""
    known = [
        one.model_copy(update={"url": None, "sku": None, "images": []})
        for one in lamps[::2] + lamps[1::4]
    ]
    shuffled, other = (
        random.Random(1).sample(lamps, len(lamps)),
        random.Random(2).sample(known, len(known)),
    )
    assert verdicts(match(shuffled, other), shuffled) == verdicts(match(lamps, known), lamps)
