"""Reading: rules vote, the heaviest value wins, and the votes are told."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.errors import RuleError
from catalog.models import Attribute, PageKind
from parser.document import Document
from parser.plan import Plan
from parser.read import PageReading, Vote, decide, read, vote, without_doubtful
from parser.rules import Rule, RuleSet, Signature, Template
from parser.selector import AttributeAt, JsonAt, TextAt
from parser.trim import Trim
from tests.pages import article_page, products, text_page

ONE = products(1)[0]
PAGE = Document(text_page(ONE), "https://shop.example/p/0")


def rule(attribute: Attribute, css: str, score: float = 1.0, **more: object) -> Rule:
    """A rule on text."""
    return Rule.model_validate({"attribute": attribute, "selector": TextAt(css=css), "score": score, **more})


RULES = RuleSet(
    currency="CAD",
    templates=(
        Template(
            name="1",
            signature=Signature(marks={".product-view": 1.0}, least=0.5),
            rules=(
                rule(Attribute.TITLE, "h1.headline"),
                rule(Attribute.PRICE, "p.cost"),
                rule(Attribute.SKU, "ul.facts", trim=Trim(left="Art.-Nr.: ", right=" *"), support=9),
                rule(Attribute.EAN, "table tr:nth-of-type(2) td"),
                rule(Attribute.BRAND, "p.missing"),
            ),
        ),
    ),
)


def test_reads_an_offer_with_its_votes() -> None:
    """An offer page gives a normalised offer, and each reading tells its votes."""
    reading = read(PAGE, RULES)
    assert reading.kind is PageKind.OFFER
    assert reading.offer is not None
    assert (reading.offer.title, reading.offer.price, reading.offer.currency) == (ONE.title, Decimal(ONE.price), "EUR")
    assert (reading.offer.sku, reading.offer.ean, reading.offer.brand) == (ONE.sku, ONE.ean, None)
    sku = reading.readings[Attribute.SKU]
    assert (sku.votes[0].raw, sku.votes[0].cut, sku.share) == (f"Art.-Nr.: {ONE.sku} *", ONE.sku, 1.0)
    assert 0.9 < sku.weight < 1
    assert reading.readings[Attribute.BRAND].cast == 0


def test_doubtful_values_are_left_out_where_that_is_asked_for() -> None:
    """A threshold for an attribute takes its value out of the offer; one for the title leaves no offer at all."""
    whole = read(PAGE, RULES)
    sure = whole.readings[Attribute.PRICE].weight
    assert without_doubtful(whole, {Attribute.PRICE: sure}, "CAD") == whole
    less = without_doubtful(whole, {Attribute.PRICE: sure + 0.01}, "CAD")
    assert less.offer is not None
    assert (less.offer.price, less.offer.title, less.offer.url) == (None, ONE.title, PAGE.url)
    none = without_doubtful(whole, {Attribute.TITLE: 1.0}, "CAD")
    assert (none.kind, none.offer) == (PageKind.OTHER, None)
    assert "sure" in none.reason


@pytest.mark.parametrize("more", ["support", "agreed", "score"])
def test_confidence_grows_with_evidence(more: str) -> None:
    """More known offers behind a rule, a larger part of them right, and less weight against it make a value surer."""
    low, high = {"support": (1, 20), "agreed": (0.6, 1.0), "score": (0.5, 1.0)}[more]

    def sure(value: float) -> float:
        for_it = rule(Attribute.SKU, "a", **({"support": 5} | {more: value}))
        against = rule(Attribute.SKU, "b", score=0.3, support=5)
        cast = [Vote(for_it, "A", "A", "A-1"), Vote(against, "B", "B", "B-1")]
        return decide(Attribute.SKU, cast).weight

    assert 0 < sure(low) < sure(high) < 1


def test_a_page_unlike_the_shops_offers_is_none() -> None:
    """An article yields no offer, and the reason says how unlike it is."""
    reading = read(Document(article_page(), "https://shop.example/about"), RULES)
    assert (reading.kind, reading.offer) == (PageKind.OTHER, None)
    assert "unlike" in reading.reason


OPEN = (Attribute.PRICE, Attribute.BRAND, Attribute.EAN, Attribute.SKU, Attribute.CATEGORY)
LAYOUTS = RuleSet(
    templates=(
        Template(
            name="own",
            signature=Signature(marks={".product-view": 2.0}, least=0.5),
            rules=(rule(Attribute.TITLE, "h1"), *(rule(name, "p.missing") for name in OPEN)),
        ),
        Template(
            name="other",
            signature=Signature(marks={".product-view": 1.0}, least=0.5),
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
    ),
)


@pytest.mark.parametrize("reader", [read, lambda page, rules: Plan(rules).read(page)], ids=["read", "plan"])
def test_what_a_template_does_not_say_another_may(reader: Callable[[Document, RuleSet], PageReading]) -> None:
    """Namely what its rules cannot read, and what offers have; where they find no other number, there is none."""
    page = reader(PAGE, LAYOUTS)
    assert page.offer is not None
    assert page.template == "own"
    offer = page.offer
    assert (offer.title, offer.price, offer.brand, offer.ean) == (ONE.title, Decimal(ONE.price), ONE.title, ONE.ean)
    assert (offer.han, offer.sku, offer.category) == (ONE.title, None, None)


def test_a_page_without_a_title_is_no_offer() -> None:
    """The template alone does not make an offer."""
    page = Document('<div class="product-view"></div>', "https://shop.example/p/9")
    assert read(page, RULES).reason == "no title found"


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
    """The form says which separator is decimal, or that the digits count cents."""
    template = Template(name="1", rules=(rule(Attribute.TITLE, "h1"), rule(Attribute.PRICE, "b", form=form)))
    reading = read(Document(f"<h1>x</h1><b>{text}</b>", "https://shop.example/p/1"), RuleSet(templates=(template,)))
    assert reading.readings[Attribute.PRICE].value == value


def votes(*cast: tuple[str | None, float], attribute: Attribute = Attribute.BRAND) -> list[Vote]:
    """Votes of rules with these values and scores."""
    return [Vote(rule(attribute, f"p.c{n}", score), value, value, value) for n, (value, score) in enumerate(cast)]


VOTED = [
    ("one good rule outweighs two middling ones", [("A", 1.0), ("B", 0.7), ("B", 0.7)], "A", 0.593),
    ("agreement adds up", [("A", 1.0), ("B", 0.9), ("b", 0.9)], "B", 0.593),
    ("silence costs nothing", [(None, 1.0), ("B", 0.5)], "B", 1.0),
    ("nobody finds anything", [(None, 1.0)], None, 0.0),
]


@pytest.mark.parametrize(("name", "cast", "winner", "weight"), VOTED, ids=[case[0] for case in VOTED])
def test_the_heaviest_value_wins(
    name: str, cast: list[tuple[str | None, float]], winner: str | None, weight: float
) -> None:
    """Values that are the same add their weights; the winner's share of all is told."""
    reading = decide(Attribute.BRAND, votes(*cast))
    assert (reading.value, round(reading.share, 3)) == (winner, weight)


HEAD = [(css, "Lamp | Sale") for css in ("title", 'meta[property="og:title"]', 'meta[name="title"]')]
BESIDE_THE_HEAD = [
    ("the heading against all of it", [("h1", "Lamp")], "Lamp"),
    ("one place more", [("h1", "Lamp"), ("p.name", "Lamp | Sale")], "Lamp | Sale"),
]


@pytest.mark.parametrize(("name", "places", "winner"), BESIDE_THE_HEAD, ids=[case[0] for case in BESIDE_THE_HEAD])
def test_titles_in_the_head_count_a_quarter(name: str, places: list[tuple[str, str]], winner: str) -> None:
    """Shops fill all of them from one text, which they may have written for search engines."""
    cast = [Vote(rule(Attribute.TITLE, css), value, value, value) for css, value in (*places, *HEAD)]
    assert decide(Attribute.TITLE, cast).value == winner


CUT_OUT_OF_TITLES = [
    ("the place that says the number", [("span.sku", "A-1")], "A-1"),
    ("what the head says of it, too", [('meta[property="product:sku"]', "A-1")], "A-1"),
    ("two others that agree", [("span.sku", "A-1"), ("p.a", "Shop"), ("p.b", "Shop")], "Shop"),
]


@pytest.mark.parametrize(("name", "places", "winner"), CUT_OUT_OF_TITLES, ids=[case[0] for case in CUT_OUT_OF_TITLES])
def test_numbers_in_the_heads_titles_count_a_quarter(name: str, places: list[tuple[str, str]], winner: str) -> None:
    """On some pages the shop's name stands behind the bar where the number does on others."""
    titles = [(css, "Shop") for css in ("title", 'meta[property="og:title"]', "html > head:nth-of-type(1) > title")]
    cast = [Vote(rule(Attribute.SKU, css), value, value, value) for css, value in (*places, *titles)]
    assert decide(Attribute.SKU, cast).value == winner


def test_two_that_agree_outweigh_the_head_and_another() -> None:
    """What the head says does not tip the balance against them."""
    places = [("h1", "Lamp"), ("p.name", "Lamp"), ("title", "Lamp | Sale"), ("html > head > meta", "Lamp | Sale")]
    cast = [Vote(rule(Attribute.TITLE, css), value, value, value) for css, value in places]
    cast.append(Vote(rule(Attribute.TITLE, "p.seo", 0.9), "Lamp | Sale", "Lamp | Sale", "Lamp | Sale"))
    assert decide(Attribute.TITLE, cast).value == "Lamp"


NAMED_TWICE = [
    ("data, before a heading with words of the layout", JsonAt(css="script", block="product =", path="$.title"), True),
    ("an attribute for scripts", AttributeAt(css="div[data-title]", name="data-title"), True),
    ("not a variant, of a size", JsonAt(css="script", block="m", path="$.variants[0].name"), False),
    ("not what the shop's statistics are told", JsonAt(css="script", block="lib.track(", path="$.name"), False),
    ("not the words for a picture", AttributeAt(css="img", name="alt"), False),
    ("nor those for one that is loaded later", AttributeAt(css="span[data-alt]", name="data-alt"), False),
    ("nor those that scripts put below one", AttributeAt(css="div.gallery__image", name="data-title"), False),
]


@pytest.mark.parametrize(("name", "place", "wins"), NAMED_TWICE, ids=[case[0] for case in NAMED_TWICE])
def test_which_of_two_titles_is_meant(name: str, place: JsonAt | AttributeAt, wins: bool) -> None:
    """Of two rules that are right on all examples, the one decides whose place has the title alone."""
    shown = Vote(rule(Attribute.TITLE, "h1"), "Lamp", "Lamp", "Lamp")
    other = Vote(Rule(attribute=Attribute.TITLE, selector=place), "Lamp 2", "Lamp 2", "Lamp 2")
    assert decide(Attribute.TITLE, [shown, other]).value == ("Lamp 2" if wins else "Lamp")
    assert decide(Attribute.TITLE, [other, shown, shown]).value == "Lamp"


DESCRIBED = [
    ("the best rule's", ["A lamp.", "A lamp for the desk."], "A lamp."),
    ("the whole of what is cut short", ["A lamp for th...", "Oak.", "A lamp for the desk."], "A lamp for the desk."),
    ("what is cut short where none has the whole", ["A lamp for th…", "Oak. A lamp for the desk."], "A lamp for th…"),
]


@pytest.mark.parametrize(("name", "found", "winner"), DESCRIBED, ids=[case[0] for case in DESCRIBED])
def test_the_best_description_wins(name: str, found: list[str], winner: str) -> None:
    """They are not counted; what ends in dots is only the beginning of one."""
    scored = ((one, 1 - place / 10) for place, one in enumerate(found))
    cast = votes(*scored, attribute=Attribute.DESCRIPTION)
    assert decide(Attribute.DESCRIPTION, cast).value == winner


WHOLE = "A lamp of beech and brass, made by hand for the desk of whoever reads at night and wants to see what is there."
HEADS = [
    ("it ends within a word", 105, True),
    ("it ends behind one", 103, False),
    ("it is short", 38, False),
]


@pytest.mark.parametrize(("name", "length", "is_cut"), HEADS, ids=[case[0] for case in HEADS])
def test_a_description_that_the_head_begins(name: str, length: int, is_cut: bool) -> None:
    """What is long there, and ends within a word that another place goes on with, is only the beginning of that."""
    head = Rule(attribute=Attribute.DESCRIPTION, selector=AttributeAt(css="meta[name=description]", name="content"))
    (whole,) = votes((WHOLE, 0.9), attribute=Attribute.DESCRIPTION)
    text = WHOLE[:length].strip()
    said = decide(Attribute.DESCRIPTION, [Vote(head, text, text, text), whole]).value
    assert said == (WHOLE if is_cut else text)


@given(st.lists(st.tuples(st.one_of(st.none(), st.sampled_from("ABC")), st.floats(0, 1)), max_size=8))
def test_the_winner_is_one_of_the_votes(cast: list[tuple[str | None, float]]) -> None:
    """A reading never invents a value, and its weight is a probability."""
    reading = decide(Attribute.BRAND, votes(*cast))
    assert reading.value in {value for value, _ in cast} | {None}
    assert 0 <= reading.weight < 1
    assert 0 <= reading.share <= 1.0000001
    assert (reading.value is None) == all(value is None for value, _ in cast)


SHOWN, LOGO = "https://shop.example/lamp.jpg", "https://shop.example/logo.png"
PICTURED = [
    ("a place of its own says there is none", "/no-image.png", LOGO, None),
    ("a place of its own says nothing", "", LOGO, LOGO),
    ("both show it", SHOWN, SHOWN, SHOWN),
    ("the head has one of several", SHOWN, LOGO, SHOWN),
]


@pytest.mark.parametrize(("name", "own", "head", "expected"), PICTURED, ids=[case[0] for case in PICTURED])
def test_the_shops_picture_is_not_the_offers(name: str, own: str, head: str, expected: str | None) -> None:
    """Where an offer's own place holds a stand-in, what the head shows is the shop's logo."""
    page = Document(f"<meta property='og:image' content='{head}'><img id='p' src='{own}'>", "https://shop.example/p")
    places = (AttributeAt(css="img[id='p']", name="src"), AttributeAt(css='meta[property="og:image"]', name="content"))
    rules = [Rule(attribute=Attribute.IMAGE, selector=place) for place in places]
    assert decide(Attribute.IMAGE, [vote(page, one) for one in rules]).value == expected


OPEN_GRAPH, FIRST, SECOND = 'meta[property="og:image"]', "img.first", "img.second"
ALONE = [
    ("the head's, and two places are silent", {OPEN_GRAPH: SHOWN}, {}, None),
    ("the head's, and one that missed a known one", {OPEN_GRAPH: SHOWN}, {FIRST: 9, SECOND: 9}, SHOWN),
    ("the head's, and one place is silent", {OPEN_GRAPH: SHOWN}, {SECOND: 3}, SHOWN),
    ("the head's, named for the shop, and one place is silent", {OPEN_GRAPH: LOGO}, {SECOND: 3}, None),
    ("one place's, and the head is silent", {FIRST: SHOWN}, {}, None),
    ("one place's, and the head missed a known one", {FIRST: SHOWN}, {OPEN_GRAPH: 9}, SHOWN),
    ("two places', and the head is silent", {FIRST: SHOWN, SECOND: SHOWN}, {}, SHOWN),
    ("one place's, and hardly any offer is known", {FIRST: SHOWN}, {OPEN_GRAPH: 2, FIRST: 2, SECOND: 2}, SHOWN),
]


STAND_IN = "/no-image.png"
BESIDE = [
    ("a stand-in", FIRST, STAND_IN, 10, None),
    ("what is no picture", FIRST, "Lamp", 10, SHOWN),
    ("a stand-in where the way is counted", "div > img:nth-of-type(2)", STAND_IN, 10, SHOWN),
    ("a stand-in where a known one was missed", FIRST, STAND_IN, 9, SHOWN),
]


@pytest.mark.parametrize(("name", "css", "beside", "support", "expected"), BESIDE, ids=[case[0] for case in BESIDE])
def test_a_picture_beside_a_stand_in(name: str, css: str, beside: str, support: int, expected: str | None) -> None:
    """The place that has all known pictures says that there is none: what another place names is another offer's."""
    own = Rule(attribute=Attribute.IMAGE, selector=AttributeAt(css=css, name="src"), support=support)
    other = Rule(attribute=Attribute.IMAGE, selector=AttributeAt(css=SECOND, name="src"), support=10)
    cast = [Vote(own, beside, beside, None), Vote(other, SHOWN, SHOWN, SHOWN)]
    assert decide(Attribute.IMAGE, cast).value == expected


@pytest.mark.parametrize(("name", "said", "support", "expected"), ALONE, ids=[case[0] for case in ALONE])
def test_a_picture_that_one_place_alone_names(
    name: str, said: dict[str, str], support: dict[str, int], expected: str | None
) -> None:
    """It is no picture of the offer where places are silent that have named all known ones."""
    rules = {
        css: Rule(attribute=Attribute.IMAGE, selector=AttributeAt(css=css, name="src"), support=support.get(css, 10))
        for css in (OPEN_GRAPH, FIRST, SECOND)
    }
    cast = [Vote(rule, said.get(css), said.get(css), said.get(css)) for css, rule in rules.items()]
    assert decide(Attribute.IMAGE, cast).value == expected


def test_a_picture_of_a_rule_set_by_hand_is_believed() -> None:
    """Whatever other places say."""
    own = Rule(attribute=Attribute.IMAGE, selector=AttributeAt(css=FIRST, name="src"), origin="manual")
    head = Rule(attribute=Attribute.IMAGE, selector=AttributeAt(css=OPEN_GRAPH, name="content"), support=10)
    assert decide(Attribute.IMAGE, [Vote(own, SHOWN, SHOWN, SHOWN), Vote(head, None, None, None)]).value == SHOWN


def test_rule_sets_survive_storage() -> None:
    """A rule set's JSON form gives the same rule set back; a broken one is refused with the place."""
    assert RuleSet.from_json(RULES.to_json()) == RULES
    broken = RULES.to_json()
    broken["templates"][0]["rules"][0]["score"] = 7
    with pytest.raises(RuleError, match=r"templates\.0\.rules\.0\.score"):
        RuleSet.from_json(broken)
