"""Variants of one product."""

import json

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.rules.model import Rule, RuleSet, VariantLayout
from parser.rules.selector import JsonAt, TextAt
from parser.variants import read_variants
from parser.voting.votes import Vote
from parser.voting.winner import decide

OPTIONS = [
    ("half of an emoji, as JavaScript cuts one", "Blue \\ud83d", "Lamp - Blue"),
    ("references and line breaks", "Tom &amp;\\n Jerry", "Lamp - Tom & Jerry"),
    ("a sign that no store takes", "Blue\\u0000", "Lamp - Blue"),
    ("no choice", "Default Title", "Lamp"),
]


def inside(path: str) -> JsonAt:
    """A selector inside an item."""
    return JsonAt(css="", block="item", path=path)


RULE = Rule(attribute=Attribute.TITLE, selector=TextAt(css="h1"))
WAY = VariantLayout(
    items=JsonAt(block="var product =", path="$.variants.*"),
    rules=(Rule(attribute=Attribute.SKU, selector=inside("$.sku")),),
    options=(inside("$.option"),),
)


@pytest.mark.parametrize(("name", "option", "title"), OPTIONS, ids=[case[0] for case in OPTIONS])
def test_a_title_shows_the_options(name: str, option: str, title: str) -> None:
    """Behind the title of the page, in one line and without control characters."""
    items = f'[{{"sku": "A-1", "option": "{option}"}}, {{"sku": "A-2", "option": "Red"}}]'
    page = Document(
        f"<script>var product = {{'variants': {items}}}</script>", "https://shop.example/p"
    )
    shared = decide(Attribute.TITLE, [Vote(RULE, "Lamp", "Lamp", "Lamp")])
    found = read_variants(page, [WAY], {Attribute.TITLE: shared}, None)
    assert [variant.offer.title for variant in found] == [title, "Lamp - Red"]


ADDRESSES = [
    ("their own parameters", [("Red", "S", "A-1"), ("Red", "M", "A-2")], ("c", "s"), ["?c=Red&s=S", "?c=Red&s=M"]),
    ("one parameter of two", [("Red", "S", "A-1"), ("Red", "M", "A-2")], ("c",),
     ["?c=Red#variant-A-1", "?c=Red#variant-A-2"]),
    ("some share one", [("Red", "S", "A-1"), ("Red", "M", "A-2"), ("Blue", "S", "A-3")], ("c",),
     ["?c=Red#variant-A-1", "?c=Red#variant-A-2", "?c=Blue"]),
    ("no value for a parameter", [("Red", "S", "A-1"), ("", "M", "A-2")], ("c", "s"), ["?c=Red&s=S", "?s=M"]),
    ("nothing of an address", [("Red", "S", "A-1"), ("Red", "M", "A-2")], (), ["#variant-A-1", "#variant-A-2"]),
    ("one number for two", [("Red", "S", "A-1"), ("Red", "M", "A-1")], ("s", "c"), ["?s=S&c=Red", "?s=M&c=Red"]),
    ("a number that is one, options that are not", [("Red", "S", "A-1"), ("Blue", "S", "A-1")], (),
     ["#variant-A-1%20Red", "#variant-A-1%20Blue"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "items", "asked", "ends"), ADDRESSES, ids=[case[0] for case in ADDRESSES]
)
def test_every_variant_has_its_own_url(
    name: str, items: list[tuple[str, str, str]], asked: tuple[str, ...], ends: list[str]
) -> None:
    """By known query parameters, and by a fragment where two would share a URL."""
    data = json.dumps([{"c": colour, "s": size, "sku": sku} for colour, size, sku in items])
    page = Document(
        f"<script>var product = {{'variants': {data}}}</script>", "https://shop.example/p"
    )
    query = tuple((name, inside(f"$.{name}")) for name in asked)
    way = WAY.model_copy(update={"query": query, "options": (inside("$.c"),)})
    found = read_variants(page, [way], {}, None)
    assert [variant.offer.url for variant in found] == [
        f"https://shop.example/p{end}" for end in ends
    ]


LINKS = [
    ("its own", "/p/red", "/p/red"),
    ("the page's", "/p", "/p#variant-A-1"),
    ("another shop's", "//b.example/r", "/p#variant-A-1"),
    ("none", "//[", "/p#variant-A-1"),
    ("no host", "http://[::1", "/p#variant-A-1"),
]


@pytest.mark.parametrize(("name", "link", "address"), LINKS, ids=[case[0] for case in LINKS])
def test_a_variants_link_is_its_url(name: str, link: str, address: str) -> None:
    """If it leads to the shop; an invalid link loses no page."""
    data = json.dumps([{"link": link, "sku": "A-1"}, {"link": "/p/blue", "sku": "A-2"}])
    page = Document(
        f"<script>var product = {{'variants': {data}}}</script>", "https://shop.example/p"
    )
    found = read_variants(page, [WAY.model_copy(update={"link": inside("$.link")})], {}, None)
    assert [variant.offer.url for variant in found] == [
        f"https://shop.example{end}" for end in (address, "/p/blue")
    ]


def test_a_variants_link_is_relative_to_the_base_of_the_page() -> None:
    """As browsers resolve it: against `<base href>`."""
    data = json.dumps([{"link": f"p/{sku}", "sku": sku} for sku in ("A-1", "A-2")])
    page = Document(
        f"<head><base href=/shop/></head><script>var product = {{'variants': {data}}}</script>",
        "https://shop.example/de/lamp",
    )
    found = read_variants(page, [WAY.model_copy(update={"link": inside("$.link")})], {}, None)
    urls = [variant.offer.url for variant in found]
    assert urls == [f"https://shop.example/shop/p/{sku}" for sku in ("A-1", "A-2")]


def test_the_pages_parameters_stay_as_they_are_written() -> None:
    """Whatever their encoding, also without a value; only those that name the variant are replaced."""
    data = json.dumps([{"s": size, "sku": size} for size in ("S", "M")])
    page = Document(
        f"<script>var product = {{'variants': {data}}}</script>",
        "https://shop.example/?p/7&name=gr%F6%DFe&dir=a/b,c&x=&s=XL",
    )
    way = WAY.model_copy(update={"query": (("s", inside("$.s")),), "options": ()})
    urls = [variant.offer.url for variant in read_variants(page, [way], {}, None)]
    kept = "https://shop.example/?p/7&name=gr%F6%DFe&dir=a/b,c&x=&s="
    assert urls == [f"{kept}S", f"{kept}M"]


def test_rules_stored_with_one_parameter_are_still_read() -> None:
    """A URL had at most one parameter, whose value was the link."""
    stored = WAY.model_dump(mode="json") | {
        "link": inside("$.id").model_dump(),
        "parameter": "variant",
    }
    del stored["query"]
    way = RuleSet.from_json({"variants": [stored]}).variants[0]
    assert (way.link, way.query) == (None, (("variant", inside("$.id")),))
    plain = RuleSet.from_json({"variants": [stored | {"parameter": None}]}).variants[0]
    assert (plain.link, plain.query) == (inside("$.id"), ())


def test_the_pages_price_is_not_shared_if_variants_have_prices() -> None:
    """Otherwise it is the price of all."""
    items = '[{"sku": "A-1", "price": "9.00"}, {"sku": "A-2", "price": "on request"}]'
    page = Document(
        f"<script>var product = {{'variants': {items}}}</script>", "https://shop.example/p"
    )
    shared = {Attribute.PRICE: decide(Attribute.PRICE, [Vote(RULE, "9.00", "9.00", "9.00")])}
    price = Rule(attribute=Attribute.PRICE, selector=inside("$.price"))
    own = read_variants(
        page, [WAY.model_copy(update={"rules": (*WAY.rules, price)})], shared, "EUR"
    )
    assert [str(variant.offer.price) for variant in own] == ["9.00", "None"]
    assert [str(variant.offer.price) for variant in read_variants(page, [WAY], shared, "EUR")] == [
        "9.00",
        "9.00",
    ]
