"""How an item that is one of several offers is read, from items that are known offers."""

from collections.abc import Mapping

import pytest

from catalog.models import Attribute
from parser.crawled_pages import CrawledPage
from parser.rules.selector import ITEM, JsonAt
from rules_generator.variants.same_page_offers import OfferFamily, Sibling
from rules_generator.variants.variant_rules import ItemMatch, learn_item_rules

WAY = JsonAt(block="var product =", path="$.variants.*")


def inside(name: str) -> JsonAt:
    """A place inside an item."""
    return JsonAt(css="", block=ITEM, path=f"$.{name}")


def pairs_of(items: list[Mapping[str, str]], *families: list[Sibling]) -> list[ItemMatch]:
    """Items, each with the known offer that it is."""
    page = CrawledPage(1, "https://shop.example/p", None, "body")
    found = [OfferFamily(page, tuple(siblings)) for siblings in families]
    offers = [(sibling, family) for family in found for sibling in family.siblings]
    facts = [{inside(name): text for name, text in item.items()} for item in items]
    return [
        ItemMatch(said, sibling, page.url, family)
        for said, (sibling, family) in zip(facts, offers, strict=True)
    ]


def sibling(title: str, *query: tuple[str, str], **known: str) -> Sibling:
    """A known offer of a page."""
    values = {
        Attribute.TITLE: [title],
        **{Attribute(name): [value] for name, value in known.items()},
    }
    return Sibling(values, "https://shop.example/p", query)


QUERIES = [
    ("both of two", [("c", "Red", "s", "S"), ("c", "Red", "s", "M"), ("c", "Blue", "s", "S")], ["c", "s"]),
    ("one that is the same for all says nothing", [("variant", "7", "cur", "EUR"), ("variant", "8", "cur", "EUR")],
     ["variant"]),
    ("one whose values no item has", [("v", "7", "ref", "x1"), ("v", "8", "ref", "x2")], ["v"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "asked", "kept"), QUERIES, ids=[case[0] for case in QUERIES])
def test_the_parameters_of_a_variants_address(
    name: str, asked: list[tuple[str, ...]], kept: list[str]
) -> None:
    """All that tell variants apart and whose values the items have, in the order of the known links."""
    queries = [((case[0], case[1]), (case[2], case[3])) for case in asked]
    items = [{key: value for key, value in query if key != "ref"} for query in queries]
    made = learn_item_rules(WAY, pairs_of(items, [sibling("Lamp", *query) for query in queries]))
    assert made is not None
    assert made.query == tuple((key, inside(key)) for key in kept)


OPTIONS = [
    ("words of their own", ["Lamp - Red", "Lamp - Blue"], [{"o": "Red"}, {"o": "Blue"}], ["o"]),
    ("a unit that they share", ["Oil - 30 ml", "Oil - 50 ml"], [{"o": "30 ml"}, {"o": "50 ml"}], ["o"]),
    ("a word before that they share", ["Shoe - Size 8", "Shoe - Size 9"], [{"o": "Size 8"}, {"o": "Size 9"}], ["o"]),
    ("the product's name is none", ["Oil - 30 ml", "Oil - 50 ml"],
     [{"n": "Oil 30 ml", "o": "30 ml"}, {"n": "Oil 50 ml", "o": "50 ml"}], ["o"]),
    ("nor is what titles do not say", ["Oil - 30 ml", "Oil - 50 ml"], [{"o": "30 ml glass"}, {"o": "50 ml glass"}], []),
    ("two that tell them together", ["Tee - Red, S", "Tee - Red, M", "Tee - Blue, M"],
     [{"a": "Red", "s": "S"}, {"a": "Red", "s": "M"}, {"a": "Blue", "s": "M"}], ["a", "s"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "titles", "items", "kept"), OPTIONS, ids=[case[0] for case in OPTIONS]
)
def test_the_texts_that_tell_a_variant(
    name: str, titles: list[str], items: list[Mapping[str, str]], kept: list[str]
) -> None:
    """What the title adds to the product's, also where all variants have some of its words."""
    numbered = [item | {"sku": f"A-{place}"} for place, item in enumerate(items)]
    offers = [sibling(title, sku=f"A-{place}") for place, title in enumerate(titles)]
    made = learn_item_rules(WAY, pairs_of(numbered, offers))
    assert made is not None
    assert set(made.options) == {inside(name) for name in kept}


def test_a_price_that_stands_elsewhere_on_sale() -> None:
    """What is right where the best way is silent joins it, and gives way to it where both speak."""
    prices = [("9.50", "7.50"), ("8.50", "6.50"), ("5.50", "4.50"), ("3.00", None), ("2.00", None)]
    items = [
        {"all": was, "sku": f"A-{n}"} | ({"now": now} if now else {})
        for n, (was, now) in enumerate(prices)
    ]
    offers = [
        sibling("Lamp", sku=f"A-{n}", price=now or was) for n, (was, now) in enumerate(prices)
    ]
    made = learn_item_rules(WAY, pairs_of(items, offers))
    assert made is not None
    found = {rule.selector: rule.score for rule in made.rules if rule.attribute is Attribute.PRICE}
    assert list(found) == [inside("now"), inside("all")]
    assert found[inside("now")] > found[inside("all")]
