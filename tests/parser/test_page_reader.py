"""Reading pages: rules vote, and the heaviest value wins."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from catalog.errors import RuleError
from catalog.models import Attribute, PageKind
from parser.compiled_rules import CompiledRules
from parser.page.document import Document
from parser.page_reader import PageReading, drop_uncertain, read_page
from parser.rules.model import Rule, RuleSet, Signature, Template
from parser.rules.selector import TextAt
from parser.rules.trim import Trim
from parser.voting.votes import Vote
from parser.voting.winner import decide
from tests.pages import article_page, products, text_page

ONE = products(1)[0]
PAGE = Document(text_page(ONE), "https://shop.example/p/0")


def rule(attribute: Attribute, css: str, score: float = 1.0, **more: object) -> Rule:
    """A rule on text."""
    return Rule.model_validate(
        {"attribute": attribute, "selector": TextAt(css=css), "score": score, **more}
    )


RULES = RuleSet(
    currency="CAD",
    templates=(
        Template(
            name="1",
            signature=Signature(marks={".product-view": 1.0}, threshold=0.5),
            rules=(
                rule(Attribute.TITLE, "h1.headline"),
                rule(Attribute.PRICE, "p.cost"),
                rule(
                    Attribute.SKU, "ul.facts", trim=Trim(left="Art.-Nr.: ", right=" *"), support=9
                ),
                rule(Attribute.EAN, "table tr:nth-of-type(2) td"),
                rule(Attribute.BRAND, "p.missing"),
            ),
        ),
    ),
)


def test_reads_an_offer_with_its_votes() -> None:
    """An offer page gives a normalised offer, and each reading holds its votes."""
    reading = read_page(PAGE, RULES)
    assert reading.kind is PageKind.OFFER
    assert reading.offer is not None
    assert (reading.offer.title, reading.offer.price, reading.offer.currency) == (
        ONE.title,
        Decimal(ONE.price),
        "EUR",
    )
    assert (reading.offer.sku, reading.offer.ean, reading.offer.brand) == (ONE.sku, ONE.ean, None)
    sku = reading.readings[Attribute.SKU]
    assert (sku.votes[0].raw, sku.votes[0].cut, sku.share) == (
        f"Art.-Nr.: {ONE.sku} *",
        ONE.sku,
        1.0,
    )
    assert 0.9 < sku.confidence < 1
    assert reading.readings[Attribute.BRAND].vote_count == 0


def test_values_below_the_threshold_are_dropped() -> None:
    """Without its title a page is no offer page."""
    whole = read_page(PAGE, RULES)
    sure = whole.readings[Attribute.PRICE].confidence
    assert drop_uncertain(whole, {Attribute.PRICE: sure}, "CAD") == whole
    less = drop_uncertain(whole, {Attribute.PRICE: sure + 0.01}, "CAD")
    assert less.offer is not None
    assert (less.offer.price, less.offer.title, less.offer.url) == (None, ONE.title, PAGE.url)
    none = drop_uncertain(whole, {Attribute.TITLE: 1.0}, "CAD")
    assert (none.kind, none.offer) == (PageKind.OTHER, None)
    assert "sure" in none.reason


@pytest.mark.parametrize("more", ["support", "precision", "score"])
def test_confidence_grows_with_evidence(more: str) -> None:
    """More support, higher precision and less dissent raise the confidence."""
    low, high = {"support": (1, 20), "precision": (0.6, 1.0), "score": (0.5, 1.0)}[more]

    def sure(value: float) -> float:
        for_it = rule(Attribute.SKU, "a", **({"support": 5} | {more: value}))
        against = rule(Attribute.SKU, "b", score=0.3, support=5)
        cast = [Vote(for_it, "A", "A", "A-1"), Vote(against, "B", "B", "B-1")]
        return decide(Attribute.SKU, cast).confidence

    assert 0 < sure(low) < sure(high) < 1


def test_a_page_that_matches_no_template_is_no_offer_page() -> None:
    """The reason shows its similarity."""
    reading = read_page(Document(article_page(), "https://shop.example/about"), RULES)
    assert (reading.kind, reading.offer) == (PageKind.OTHER, None)
    assert "unlike" in reading.reason


OPEN = (Attribute.PRICE, Attribute.BRAND, Attribute.EAN, Attribute.SKU, Attribute.CATEGORY)
LAYOUTS = RuleSet(
    templates=(
        Template(
            name="own",
            signature=Signature(marks={".product-view": 2.0}, threshold=0.5),
            rules=(rule(Attribute.TITLE, "h1"), *(rule(name, "p.missing") for name in OPEN)),
        ),
        Template(
            name="other",
            signature=Signature(marks={".product-view": 1.0}, threshold=0.5),
            rules=(
                rule(Attribute.TITLE, "p.cost"),
                rule(Attribute.PRICE, "p.cost"),
                rule(Attribute.BRAND, "h1"),
                rule(Attribute.EAN, "table tr:nth-of-type(2) td"),
                rule(Attribute.HAN, "h1"),
                rule(Attribute.SKU, "h1"),
                rule(Attribute.CATEGORY, "h1"),
            ),
        ),
    )
)


@pytest.mark.parametrize(
    "reader", [read_page, lambda page, rules: CompiledRules(rules).read(page)], ids=["read", "plan"]
)
def test_other_templates_fill_gaps(reader: Callable[[Document, RuleSet], PageReading]) -> None:
    """Attributes without rules, and those that all offers have; no other article number."""
    page = reader(PAGE, LAYOUTS)
    assert page.offer is not None
    assert page.template == "own"
    offer = page.offer
    assert (offer.title, offer.price, offer.brand, offer.ean) == (
        ONE.title,
        Decimal(ONE.price),
        ONE.title,
        ONE.ean,
    )
    assert (offer.han, offer.sku, offer.category) == (ONE.title, None, None)


def test_a_page_without_a_title_is_no_offer() -> None:
    """A matching template alone does not make an offer."""
    page = Document('<div class="product-view"></div>', "https://shop.example/p/9")
    assert read_page(page, RULES).reason == "no title found"


FORMS = [
    ("plain", "12,50 €", "12.50"),
    ("comma", "1.299 €", "1299.00"),
    ("point", "1.299", "1.30"),
    ("minor", "1299", "12.99"),
    ("minor", "12.99", None),
    ("minor", "7", "0.07"),
]


@pytest.mark.parametrize(("form", "text", "value"), FORMS)
def test_a_price_is_read_in_its_form(form: str, text: str, value: str | None) -> None:
    """The form names the decimal separator, or tells that the digits count cents."""
    template = Template(
        name="1", rules=(rule(Attribute.TITLE, "h1"), rule(Attribute.PRICE, "b", form=form))
    )
    reading = read_page(
        Document(f"<h1>x</h1><b>{text}</b>", "https://shop.example/p/1"),
        RuleSet(templates=(template,)),
    )
    assert reading.readings[Attribute.PRICE].value == value


def test_rule_sets_survive_storage() -> None:
    """The JSON form gives the same rule set back; an invalid one is refused with the field."""
    assert RuleSet.from_json(RULES.to_json()) == RULES
    broken = RULES.to_json()
    broken["templates"][0]["rules"][0]["score"] = 7
    with pytest.raises(RuleError, match=r"templates\.0\.rules\.0\.score"):
        RuleSet.from_json(broken)


@pytest.mark.parametrize(
    ("origin", "kind"), [("learnt", PageKind.OFFER), ("general", PageKind.OTHER)]
)
def test_a_page_without_a_price_is_an_offer_only_beside_known_offers(
    origin: str, kind: PageKind
) -> None:
    """In a cold start, a page without a price on a template with prices is no offer page."""
    [template] = RULES.templates
    rules = tuple(known.model_copy(update={"origin": origin}) for known in template.rules)
    changed = template.model_copy(update={"rules": rules})
    page = text_page(ONE).replace('class="cost"', 'class="none"')
    for read in (read_page, lambda document, rules: CompiledRules(rules).read(document)):
        reading = read(
            Document(page, "https://shop.example/p/0"),
            RULES.model_copy(update={"templates": (changed,)}),
        )
        assert reading.kind is kind
