"""The demo shop's truth: offers, missing ones, and the score of a list of missing offers."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import ean

from scout.demo.assortment.demo_shop import DEFAULT_SEED, DemoShop
from scout.demo.assortment.feed_rows import LACKS_ABOVE, LACKS_CATEGORY
from scout.demo.assortment.generator import generate_offers

SHOP = DemoShop.make()
BASE = "http://127.0.0.1:8320"


def urls_of(offer) -> list[str]:
    """Return all URLs at which the shop shows an offer."""
    variants = [f"{offer.path}?variant={choice.id}" for choice in offer.variants]
    return [BASE + path for path in (offer.path, *offer.alternates, *variants)]


def test_same_seed_same_shop():
    """The same seed gives the same offers and the same feed, byte for byte.

    Another seed gives another shop.
    """
    same, different = DemoShop.make(DEFAULT_SEED), DemoShop.make(DEFAULT_SEED + 1)
    assert same.offers == SHOP.offers
    assert same.feed(BASE) == SHOP.feed(BASE)
    assert different.offers != SHOP.offers


def test_assortment():
    """About 400 offers stand in twelve categories, half of them German, four for each template."""
    assert 380 <= len(SHOP.offers) <= 430
    assert len(SHOP.categories) == 12
    assert Counter(category.locale for category in SHOP.categories) == {"de": 6, "en": 6}
    assert Counter(category.template for category in SHOP.categories) == {
        "text": 4,
        "microdata": 4,
        "script": 4,
    }


@pytest.mark.parametrize("seed", [1, 7, DEFAULT_SEED])
@pytest.mark.parametrize("field", ["number", "path", "title", "sku", "ean", "han"])
def test_unique(seed, field):
    """No two offers share a number, a path, a title or an identifier."""
    values = [
        value for offer in generate_offers(seed) if (value := getattr(offer, field)) is not None
    ]
    assert len(values) == len(set(values))


def test_every_gtin_is_valid():
    """Every GTIN has its check digit and GS1's prefix for demonstrations.

    Variants have GTINs of their own.
    """
    codes = [offer.ean for offer in SHOP.offers] + [
        v.ean for offer in SHOP.offers for v in offer.variants[1:]
    ]
    codes = [code for code in codes if code]
    assert all(ean.is_valid(code) and code.startswith("952") for code in codes)
    assert len(codes) == len(set(codes))


def test_missing_is_what_the_feed_does_not_list():
    """Missing and known offers make up the shop.

    About a third is missing: a category, a price band, and some more.
    """
    missing = SHOP.missing()
    assert missing.isdisjoint(SHOP.known)
    assert missing | SHOP.known == {offer.path for offer in SHOP.offers}
    assert 0.62 <= len(SHOP.known) / len(SHOP.offers) <= 0.72
    lacking = [o for o in SHOP.offers if o.category.slug == LACKS_CATEGORY or o.price > LACKS_ABOVE]
    assert len(lacking) > 50
    assert {offer.path for offer in lacking} <= missing
    assert len(missing) > len(lacking) + 50


def test_every_category_but_one_has_known_offers():
    """Every template has known offers in both locales, so that its rules can be learnt."""
    known = Counter(offer.category.slug for offer in SHOP.offers if offer.path in SHOP.known)
    assert set(known) == {category.slug for category in SHOP.categories} - {LACKS_CATEGORY}
    assert min(known.values()) >= 12


@pytest.mark.parametrize("offer", SHOP.offers[::9], ids=lambda offer: offer.sku)
def test_every_address_of_an_offer_is_the_offer(offer):
    """An offer is found by any of its URLs, with tracking or without."""
    for url in urls_of(offer):
        tracked = f"{url}{'&' if '?' in url else '?'}utm_source=x#top"
        assert SHOP.offer_at(url) is SHOP.offer_at(tracked) is offer


def test_members_of_a_family_are_offers_of_their_own():
    """Each storage size of a phone is an offer with its own canonical link.

    The first one also has the bare link.
    """
    members = [offer for offer in SHOP.offers if offer.family][:3]
    assert len({SHOP.offer_at(member.path).sku for member in members}) == 3
    assert SHOP.offer_at(f"{members[0].family}?variant={members[0].number}") is members[0]


@pytest.mark.parametrize(
    "url",
    [
        "/",
        "/en/products/nothing",
        "/en/collections/monitors",
        "/private/",
        "/de/kaffeemaschinen/?page=2",
        "",
        "?",
    ],
)
def test_other_addresses_are_no_offer(url):
    """A URL that shows no offer gives None."""
    assert SHOP.offer_at(url) is None


def test_score_of_the_truth():
    """The missing offers score precision and recall 1, by any of their URLs."""
    for pick in (0, -1):
        urls = [urls_of(offer)[pick] for offer in SHOP.offers if offer.path in SHOP.missing()]
        score = SHOP.score(urls)
        assert (score["precision"], score["recall"], score["wrong"], score["missed"]) == (
            1,
            1,
            [],
            [],
        )
    assert set(score["correct"]) == SHOP.missing()


@given(st.data())
def test_score_counts_each_offer_once(data):
    """Precision and recall count each offer once, however often and by any URL it is named."""
    lacking = [offer for offer in SHOP.offers if offer.path in SHOP.missing()]
    listed = [offer for offer in SHOP.offers if offer.path in SHOP.known]
    right = data.draw(st.lists(st.sampled_from(lacking), max_size=20))
    wrong = data.draw(st.lists(st.sampled_from(listed), max_size=20))
    unknown = data.draw(st.lists(st.sampled_from(["/", "/en/deals", "/x"]), unique=True))
    named = [data.draw(st.sampled_from(urls_of(offer))) for offer in right + wrong] + [
        BASE + path for path in unknown
    ]
    score = SHOP.score(named)
    correct, false = len({o.path for o in right}), len({o.path for o in wrong}) + len(unknown)
    assert (len(score["correct"]), len(score["wrong"])) == (correct, false)
    assert score["recall"] == correct / len(lacking)
    assert score["precision"] == (correct / (correct + false) if correct + false else 1)
    assert len(score["correct"]) + len(score["missed"]) == len(lacking)


def test_nothing_missing_scores_full_recall():
    """A shop whose catalog is complete has nothing to find; naming something is then wrong."""
    complete = replace(
        SHOP, offers=tuple(offer for offer in SHOP.offers if offer.path in SHOP.known)
    )
    assert complete.score([])["recall"] == 1
    assert complete.score([BASE + complete.offers[0].path])["precision"] == 0
