"""The demo shop's truth: what there is, what is missing, and how a list of missing offers is scored."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import ean

from scout.demo.assortment.assortment import make_offers
from scout.demo.assortment.demo_shop import SEED, Demo
from scout.demo.assortment.feed_rows import LACKS_ABOVE, LACKS_CATEGORY

DEMO = Demo.make()
BASE = "http://127.0.0.1:8320"


def urls_of(offer) -> list[str]:
    """Every address under which the shop shows an offer."""
    variants = [f"{offer.path}?variant={choice.id}" for choice in offer.variants]
    return [BASE + path for path in (offer.path, *offer.alternates, *variants)]


def test_same_seed_same_shop():
    """The same seed gives the same offers and the same feed, byte for byte; another seed gives another shop."""
    again, other = Demo.make(SEED), Demo.make(SEED + 1)
    assert again.offers == DEMO.offers
    assert again.feed(BASE) == DEMO.feed(BASE)
    assert other.offers != DEMO.offers


def test_assortment():
    """About 400 offers stand in twelve categories, half of them German, four for each template."""
    assert 380 <= len(DEMO.offers) <= 430
    assert len(DEMO.categories) == 12
    assert Counter(category.locale for category in DEMO.categories) == {"de": 6, "en": 6}
    assert Counter(category.template for category in DEMO.categories) == {
        "text": 4,
        "microdata": 4,
        "script": 4,
    }


@pytest.mark.parametrize("seed", [1, 7, SEED])
@pytest.mark.parametrize("field", ["number", "path", "title", "sku", "ean", "han"])
def test_unique(seed, field):
    """No two offers share a number, a path, a title or an identifier."""
    values = [value for offer in make_offers(seed) if (value := getattr(offer, field)) is not None]
    assert len(values) == len(set(values))


def test_every_gtin_is_valid():
    """Every GTIN has its check digit and GS1's prefix for demonstrations; variants have GTINs of their own."""
    codes = [offer.ean for offer in DEMO.offers] + [
        v.ean for offer in DEMO.offers for v in offer.variants[1:]
    ]
    codes = [code for code in codes if code]
    assert all(ean.is_valid(code) and code.startswith("952") for code in codes)
    assert len(codes) == len(set(codes))


def test_missing_is_what_the_feed_does_not_list():
    """Missing and known offers make up the shop; about a third is missing: a category, a price band, and some more."""
    missing = DEMO.missing()
    assert missing.isdisjoint(DEMO.known)
    assert missing | DEMO.known == {offer.path for offer in DEMO.offers}
    assert 0.62 <= len(DEMO.known) / len(DEMO.offers) <= 0.72
    lacking = [o for o in DEMO.offers if o.category.slug == LACKS_CATEGORY or o.price > LACKS_ABOVE]
    assert len(lacking) > 50
    assert {offer.path for offer in lacking} <= missing
    assert len(missing) > len(lacking) + 50


def test_every_category_but_one_has_teachers():
    """Every template is known in both locales, so that its rules can be learnt."""
    known = Counter(offer.category.slug for offer in DEMO.offers if offer.path in DEMO.known)
    assert set(known) == {category.slug for category in DEMO.categories} - {LACKS_CATEGORY}
    assert min(known.values()) >= 12


@pytest.mark.parametrize("offer", DEMO.offers[::9], ids=lambda offer: offer.sku)
def test_every_address_of_an_offer_is_the_offer(offer):
    """Whichever address names an offer, with tracking or without, it is found."""
    for url in urls_of(offer):
        tracked = f"{url}{'&' if '?' in url else '?'}utm_source=x#top"
        assert DEMO.offer_at(url) is DEMO.offer_at(tracked) is offer


def test_members_of_a_family_are_offers_of_their_own():
    """A phone's storage has a canonical link of its own and is told apart; the first stands on the bare link."""
    members = [offer for offer in DEMO.offers if offer.family][:3]
    assert len({DEMO.offer_at(member.path).sku for member in members}) == 3
    assert DEMO.offer_at(f"{members[0].family}?variant={members[0].number}") is members[0]


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
    """An address that shows no offer names none."""
    assert DEMO.offer_at(url) is None


def test_score_of_the_truth():
    """The missing offers themselves score 1 and 1, and so do they under their other addresses."""
    for pick in (0, -1):
        said = [urls_of(offer)[pick] for offer in DEMO.offers if offer.path in DEMO.missing()]
        score = DEMO.score(said)
        assert (score["precision"], score["recall"], score["wrong"], score["lost"]) == (
            1,
            1,
            [],
            [],
        )
    assert set(score["found"]) == DEMO.missing()


@given(st.data())
def test_score_counts_each_offer_once(data):
    """Precision and recall are those of sets of offers, however often and under whichever address each is named."""
    lacking = [offer for offer in DEMO.offers if offer.path in DEMO.missing()]
    listed = [offer for offer in DEMO.offers if offer.path in DEMO.known]
    right = data.draw(st.lists(st.sampled_from(lacking), max_size=20))
    wrong = data.draw(st.lists(st.sampled_from(listed), max_size=20))
    strange = data.draw(st.lists(st.sampled_from(["/", "/en/deals", "/x"]), unique=True))
    named = [data.draw(st.sampled_from(urls_of(offer))) for offer in right + wrong] + [
        BASE + path for path in strange
    ]
    score = DEMO.score(named)
    found, false = len({o.path for o in right}), len({o.path for o in wrong}) + len(strange)
    assert (len(score["found"]), len(score["wrong"])) == (found, false)
    assert score["recall"] == found / len(lacking)
    assert score["precision"] == (found / (found + false) if found + false else 1)
    assert len(score["found"]) + len(score["lost"]) == len(lacking)


def test_nothing_missing_scores_full_recall():
    """A shop whose catalog is complete has nothing to find; naming something is then wrong."""
    complete = replace(
        DEMO, offers=tuple(offer for offer in DEMO.offers if offer.path in DEMO.known)
    )
    assert complete.score([])["recall"] == 1
    assert complete.score([BASE + complete.offers[0].path])["precision"] == 0
