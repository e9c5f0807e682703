"""Induction: rules that hold on pages not seen, with any mistake in the training examples."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from selectolax.lexbor import LexborNode

from catalog.models import Attribute, OfferFields, PageKind
from parser.page.document import Document
from parser.page_reader import read_attributes, read_page
from parser.rules.model import RuleSet
from rules_generator.induction.inducer import induce
from rules_generator.scoring.ranking import rank_tallies
from rules_generator.scoring.tally import wilson_lower_bound
from rules_generator.training.examples import TrainingExample
from rules_generator.training.page_cache import TOO_SLOW
from tests.pages import Product, article_page, category_page, data_page, products, text_page
from tests.rules_generator.conftest import known, make_example

ALL = products(40)
UNSEEN = ALL[20:]
MakeExamples = Callable[..., list[TrainingExample]]


def related_page(product: Product) -> str:
    """A text page with another product beside."""
    return text_page(product, ALL[(product.number + 5) % len(ALL)])


def hidden_page(product: Product) -> str:
    """A page that shows its numbers only when something is clicked."""
    return f"""<html><body><h1>{product.title}</h1><p class="price">€ {product.price}</p>
    <template id="{product.number}-facts" class="facts"><b>{product.brand}</b> <i data-x='{{"sku": "{product.sku}"}}'></i>
    <dl><dt>EAN:</dt><dd>{product.ean}</dd></dl></template></body></html>"""


def offer(product: Product, page: str, rules: RuleSet) -> OfferFields | None:
    """What the rules read from a page."""
    return read_page(Document(page, f"https://shop.example/p/{product.number}"), rules).offer


def others() -> list[Document]:
    """Pages of the shop, known or not: forty offers, then fifteen others."""
    offers = [
        Document(related_page(product), f"https://shop.example/p/{product.number}")
        for product in ALL
    ]
    lists = [category_page(ALL[n : n + 8]) for n in range(10)] + [article_page()] * 5
    return offers + [Document(page, f"https://shop.example/c/{n}") for n, page in enumerate(lists)]


def wrong(rules: RuleSet, build: Callable[[Product], str]) -> list[tuple[int, str]]:
    """Which attributes of which unseen products are read wrongly."""
    found = []
    for product in UNSEEN:
        said, truth = (
            offer(product, build(product), rules),
            known(product, currency=None if build is data_page else "EUR"),
        )
        found += [
            (product.number, name)
            for name in ("title", "price", "currency", "brand", "sku", "ean")
            if said is None or getattr(said, name) != getattr(truth, name)
        ]
    return found


@pytest.mark.parametrize(
    "build", [related_page, data_page, hidden_page], ids=["texts", "scripts", "templates"]
)
def test_ten_examples_teach_a_template(
    make_examples: MakeExamples, build: Callable[[Product], str]
) -> None:
    """Every attribute of every unseen page is read rightly."""
    rules, story = induce(make_examples(10, build))
    assert wrong(rules, build) == []
    assert set(story.not_found) <= {"currency"}


def test_two_templates_are_told_apart(make_examples: MakeExamples) -> None:
    """Each template gets rules of its own, and each page is read by the right ones."""
    members = [
        *make_examples(8, related_page),
        *(make_example(product, data_page(product)) for product in ALL[8:16]),
    ]
    rules, _ = induce(members)
    assert len(rules.templates) == 2
    assert wrong(rules, related_page) == wrong(rules, data_page) == []


def test_only_offer_pages_become_offers(make_examples: MakeExamples) -> None:
    """Category pages and articles yield none, though they share header, footer and prices."""
    rules, _ = induce(make_examples(10, related_page), others())
    kinds = [read_page(document, rules).kind for document in others()]
    assert kinds == [PageKind.OFFER] * 40 + [PageKind.OTHER] * 15


def test_stale_teachers_do_no_harm(make_examples: MakeExamples) -> None:
    """With a third of the prices stale and half of the identifiers gone, unseen pages are read rightly."""
    members = make_examples(15, related_page)
    for place in range(0, 15, 4):
        members[place] = make_example(
            ALL[place], related_page(ALL[place]), price=Decimal("1.23"), sku=None, brand=None
        )
    for place in range(1, 15, 4):
        members[place] = make_example(
            ALL[place], related_page(ALL[place]), ean=None, title=f"Neu: {ALL[place].title}"
        )
    rules, _ = induce(members)
    assert wrong(rules, related_page) == []


def test_an_example_that_contradicts_the_others_is_set_aside(make_examples: MakeExamples) -> None:
    """A link that leads to another product's page is recognised, and told."""
    members = make_examples(10, related_page)
    members[4] = make_example(ALL[4], related_page(ALL[30]))
    rules, story = induce(members)
    assert [address for address, _ in story.set_aside] == ["https://shop.example/p/4"]
    assert wrong(rules, related_page) == []


def entries_page(product: Product) -> str:
    """A page of whose facts the order differs from product to product."""
    facts = [
        ("ean", product.ean),
        ("maker", product.brand),
        ("weight", "2 kg"),
        ("articleNumber", product.sku),
        ("colour", "red"),
    ]
    turned = facts[product.number % 5 :] + facts[: product.number % 5]
    listed = json.dumps({"attributes": [{"name": name, "value": value} for name, value in turned]})
    return f"""<h1>{product.title}</h1><p class="cost">{product.price} €</p><script>var product = {listed};</script>"""


def test_links_that_lead_to_other_pages_are_set_aside(make_examples: MakeExamples) -> None:
    """A page like no other example's that shows no known title teaches nothing, and is said with the reason."""
    lost = [make_example(product, category_page(products(6))) for product in products(12)[10:]]
    rules, story = induce([*make_examples(10, text_page), *lost])
    urls = [example.page.address for example in lost]
    assert sorted(url for url, _ in story.set_aside) == sorted(urls)
    assert len(rules.learnt_from) == 10


def test_titles_at_one_place_of_lists_make_no_template(make_examples: MakeExamples) -> None:
    """Two links to categories may lead to lists that begin alike; pages of lists stay no offers."""
    first, second, *more = products(40)[20:]
    lists = [
        category_page([first, *more[:5]]),
        category_page([second, *more[5:10]]),
        category_page(more[10:16]),
    ]
    lost = [
        make_example(product, page)
        for product, page in zip((first, second, more[12]), lists, strict=True)
    ]
    members = [*make_examples(10, text_page), *lost]
    rules, _ = induce(members, [*(example.document for example in members), *others()])
    assert [offer(product, page, rules) for product, page in zip(more, lists, strict=False)] == [
        None
    ] * 3


def test_a_list_of_facts_is_read_by_their_names() -> None:
    """In whatever order it stands."""
    rules, _ = induce([make_example(product, entries_page(product)) for product in ALL[:10]])
    assert wrong(rules, entries_page) == []


def test_an_example_of_another_layout_contradicts_nothing() -> None:
    """It says its title where the others do, and the rest where their rules look at nothing."""
    usual = "<h1>{0}</h1><b class='cost'>{1}</b><i class='brand'>{2}</i><u class='sku'>{3}</u><s class='gtin'>{4}</s>"
    other = "<h1>{0}</h1><p>{1} by {2}, {3}, {4}</p>"
    members = [
        make_example(
            product,
            (other if product.number == 7 else usual).format(
                product.title, product.price, product.brand, product.sku, product.ean
            ),
        )
        for product in ALL[:10]
    ]
    assert induce(members)[1].set_aside == ()


def test_a_shop_of_one_brand_is_read_where_it_says_brand(make_examples: MakeExamples) -> None:
    """A constant brand stands in many places; the one that is named so is taken."""
    one_brand = [Product(p.number, p.title, p.price, "Wohnhaus", p.sku, p.ean) for p in ALL]
    rules, _ = induce([make_example(product, text_page(product)) for product in one_brand[:10]])
    best = rules.templates[0].rules_for(Attribute.BRAND)[0]
    assert "Marke" in str(best.selector) or "td" in str(best.selector)


def test_no_example_is_too_few(make_examples: MakeExamples) -> None:
    """One example teaches what it can; none gives no template."""
    rules, _ = induce(make_examples(1, data_page))
    assert offer(ALL[0], data_page(ALL[0]), rules) is not None
    assert induce([])[0].templates == ()


def test_the_lower_bound_prefers_more_evidence() -> None:
    """Three of three is less sure than thirty of thirty, and ranking nothing is nothing."""
    assert wilson_lower_bound(3, 3) < wilson_lower_bound(30, 30) < 1
    assert wilson_lower_bound(0, 0) == 0
    assert rank_tallies([]) == []


def test_forty_examples_teach_as_ten_do(make_examples: MakeExamples) -> None:
    """Places are looked for on some of many examples, those that know what others lack among them."""
    members = make_examples(40, related_page, ean=None)
    members[20:40] = [make_example(product, related_page(product)) for product in ALL[20:40]]
    rules, _ = induce(members)
    assert wrong(rules, related_page) == []


LEARN_AND_TELL = """
from rules_generator.induction.inducer import induce
from tests.pages import products, text_page
from tests.rules_generator.conftest import make_example
shown = "".join("<p class='" + mark + "'><b class='" + mark + "'>{0}</b></p>" for mark in "abcdefghijklmnop")
rules, _ = induce([make_example(one, text_page(one) + shown.format(one.sku)) for one in products(10)])
print(rules.to_json())
"""


def test_the_same_teachers_teach_the_same_rules() -> None:
    """In any process, whatever the order in which it keeps what has none."""
    runs = [
        subprocess.run(
            [sys.executable, "-c", LEARN_AND_TELL], capture_output=True, text=True, check=True, timeout=60,
            cwd=Path(__file__).parents[3], env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert runs[0] == runs[1] != ""


ODD = [
    ("a word of the path language", '{"query": {"where": {"title": %s, "sku": %s}}}'),
    ("numbers that Python refuses", '{"title": %s, "sku": %s, "x": NaN, "y": ' + "7" * 5000 + "}"),
]


@pytest.mark.parametrize(("name", "data"), ODD, ids=[case[0] for case in ODD])
def test_odd_data_does_not_end_learning(name: str, data: str) -> None:
    """Whatever keys and numbers a page has, the rest is learnt."""
    page = "<h1>{0}</h1><b id='a\fb' -='{{\"n\": 1}}' 1x='[{{\"n\": \"{1}\"}}]'>{1}</b><script>var state = {2};</script>"
    members = []
    for product in ALL:
        said = data % (json.dumps(product.title), json.dumps(product.sku))
        members.append(make_example(product, page.format(product.title, product.sku, said)))
    rules, _ = induce(members)
    found = read_attributes(members[0].document, rules.templates[0])
    assert (found[Attribute.TITLE].value, found[Attribute.SKU].value) == (ALL[0].title, ALL[0].sku)


class Slow(Document):
    """A page on which each selector takes a second of a clock that stands still otherwise."""

    clock = 0.0

    def all(self, css: str) -> list[LexborNode]:
        """What the page has."""
        Slow.clock += 1
        return super().all(css)

    def first(self, css: str) -> LexborNode | None:
        """What the page has."""
        Slow.clock += 1
        return super().first(css)


@pytest.mark.parametrize("slow", [{3}, {0, 3, 9}, set(range(10))], ids=["one", "several", "all"])
def test_pages_made_to_be_slow_are_set_aside(
    make_examples: MakeExamples, slow: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the reason; the others teach what they would teach without them."""
    monkeypatch.setattr("rules_generator.training.page_cache.thread_time", lambda: Slow.clock)
    known = make_examples(10, text_page)
    shown = [
        replace(example, document=Slow(text_page(ALL[place]), example.address))
        if place in slow
        else example
        for place, example in enumerate(known)
    ]
    rules, story = induce(shown)
    assert dict(story.set_aside) == {known[place].address: TOO_SLOW for place in slow}
    fast = [example for place, example in enumerate(known) if place not in slow]
    assert [template.rules for template in rules.templates if template.rules] == [
        template.rules for template in induce(fast)[0].templates
    ]


@pytest.mark.parametrize("slow", [{0}, set(range(10))], ids=["one", "all"])
def test_pages_with_thousands_of_elements_in_one_are_set_aside(
    make_examples: MakeExamples, slow: set[int]
) -> None:
    """At the first selector that counts: the engine counts them anew for each of them."""
    known = make_examples(10, text_page)
    crowd = "<ul>" + "<li>x</li>" * 15_000
    shown = [
        replace(example, document=Document(text_page(ALL[place]) + crowd, example.address))
        if place in slow
        else example
        for place, example in enumerate(known)
    ]
    rules, story = induce(shown)
    assert dict(story.set_aside) == {known[place].address: TOO_SLOW for place in slow}
    fast = [example for place, example in enumerate(known) if place not in slow]
    assert [template.rules for template in rules.templates if template.rules] == [
        template.rules for template in induce(fast)[0].templates
    ]
