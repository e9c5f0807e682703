"""The outcome of a vote: values that are the same add up, the heaviest wins, and its share is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import Attribute
from parser.rules.model import Rule
from parser.rules.selector import AttributeAt, JsonAt, TextAt
from parser.voting.votes import Vote
from parser.voting.winner import decide, offer_of


def rule(attribute: Attribute, css: str, score: float = 1.0) -> Rule:
    """A rule on text."""
    return Rule(attribute=attribute, selector=TextAt(css=css), score=score)


def votes(*cast: tuple[str | None, float], attribute: Attribute = Attribute.BRAND) -> list[Vote]:
    """Votes of rules with these values and scores."""
    return [
        Vote(rule(attribute, f"p.c{n}", score), value, value, value)
        for n, (value, score) in enumerate(cast)
    ]


VOTED = [
    ("one good rule outweighs two middling ones", [("A", 1.0), ("B", 0.7), ("B", 0.7)], "A", 0.593),
    ("agreement adds up", [("A", 1.0), ("B", 0.9), ("b", 0.9)], "B", 0.593),
    ("silence costs nothing", [(None, 1.0), ("B", 0.5)], "B", 1.0),
    ("nobody finds anything", [(None, 1.0)], None, 0.0),
]


@pytest.mark.parametrize(
    ("name", "cast", "winner", "weight"), VOTED, ids=[case[0] for case in VOTED]
)
def test_the_heaviest_value_wins(
    name: str, cast: list[tuple[str | None, float]], winner: str | None, weight: float
) -> None:
    """Values that are the same add their weights; the winner's share of all is told."""
    reading = decide(Attribute.BRAND, votes(*cast))
    assert (reading.value, round(reading.share, 3)) == (winner, weight)


HEAD = [
    (css, "Lamp | Sale") for css in ("title", 'meta[property="og:title"]', 'meta[name="title"]')
]
BESIDE_THE_HEAD = [
    ("the heading against all of it", [("h1", "Lamp")], "Lamp"),
    ("one place more", [("h1", "Lamp"), ("p.name", "Lamp | Sale")], "Lamp | Sale"),
]


@pytest.mark.parametrize(
    ("name", "places", "winner"), BESIDE_THE_HEAD, ids=[case[0] for case in BESIDE_THE_HEAD]
)
def test_titles_in_the_head_count_a_quarter(
    name: str, places: list[tuple[str, str]], winner: str
) -> None:
    """Shops fill all of them from one text, which they may have written for search engines."""
    cast = [
        Vote(rule(Attribute.TITLE, css), value, value, value) for css, value in (*places, *HEAD)
    ]
    assert decide(Attribute.TITLE, cast).value == winner


CUT_OUT_OF_TITLES = [
    ("the place that says the number", [("span.sku", "A-1")], "A-1"),
    ("what the head says of it, too", [('meta[property="product:sku"]', "A-1")], "A-1"),
    ("two others that agree", [("span.sku", "A-1"), ("p.a", "Shop"), ("p.b", "Shop")], "Shop"),
]


@pytest.mark.parametrize(
    ("name", "places", "winner"), CUT_OUT_OF_TITLES, ids=[case[0] for case in CUT_OUT_OF_TITLES]
)
def test_numbers_in_the_heads_titles_count_a_quarter(
    name: str, places: list[tuple[str, str]], winner: str
) -> None:
    """On some pages the shop's name stands behind the bar where the number does on others."""
    titles = [
        (css, "Shop")
        for css in ("title", 'meta[property="og:title"]', "html > head:nth-of-type(1) > title")
    ]
    cast = [
        Vote(rule(Attribute.SKU, css), value, value, value) for css, value in (*places, *titles)
    ]
    assert decide(Attribute.SKU, cast).value == winner


def test_two_that_agree_outweigh_the_head_and_another() -> None:
    """What the head says does not tip the balance against them."""
    places = [
        ("h1", "Lamp"),
        ("p.name", "Lamp"),
        ("title", "Lamp | Sale"),
        ("html > head > meta", "Lamp | Sale"),
    ]
    cast = [Vote(rule(Attribute.TITLE, css), value, value, value) for css, value in places]
    cast.append(
        Vote(rule(Attribute.TITLE, "p.seo", 0.9), "Lamp | Sale", "Lamp | Sale", "Lamp | Sale")
    )
    assert decide(Attribute.TITLE, cast).value == "Lamp"


NAMED_TWICE = [
    (
        "data, before a heading with words of the layout",
        JsonAt(css="script", block="product =", path="$.title"),
        True,
    ),
    ("an attribute for scripts", AttributeAt(css="div[data-title]", name="data-title"), True),
    ("not a variant, of a size", JsonAt(css="script", block="m", path="$.variants[0].name"), False),
    (
        "not what the shop's statistics are told",
        JsonAt(css="script", block="lib.track(", path="$.name"),
        False,
    ),
    ("not the words for a picture", AttributeAt(css="img", name="alt"), False),
    (
        "nor those for one that is loaded later",
        AttributeAt(css="span[data-alt]", name="data-alt"),
        False,
    ),
    (
        "nor those that scripts put below one",
        AttributeAt(css="div.gallery__image", name="data-title"),
        False,
    ),
]


@pytest.mark.parametrize(
    ("name", "place", "wins"), NAMED_TWICE, ids=[case[0] for case in NAMED_TWICE]
)
def test_which_of_two_titles_is_meant(name: str, place: JsonAt | AttributeAt, wins: bool) -> None:
    """Of two rules that are right on all examples, the one decides whose place has the title alone."""
    shown = Vote(rule(Attribute.TITLE, "h1"), "Lamp", "Lamp", "Lamp")
    other = Vote(Rule(attribute=Attribute.TITLE, selector=place), "Lamp 2", "Lamp 2", "Lamp 2")
    assert decide(Attribute.TITLE, [shown, other]).value == ("Lamp 2" if wins else "Lamp")
    assert decide(Attribute.TITLE, [other, shown, shown]).value == "Lamp"


DESCRIBED = [
    ("the best rule's", ["A lamp.", "A lamp for the desk."], "A lamp."),
    (
        "the whole of what is cut short",
        ["A lamp for th...", "Oak.", "A lamp for the desk."],
        "A lamp for the desk.",
    ),
    (
        "what is cut short where none has the whole",
        ["A lamp for th…", "Oak. A lamp for the desk."],
        "A lamp for th…",
    ),
]


@pytest.mark.parametrize(
    ("name", "found", "winner"), DESCRIBED, ids=[case[0] for case in DESCRIBED]
)
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
    head = Rule(
        attribute=Attribute.DESCRIPTION,
        selector=AttributeAt(css="meta[name=description]", name="content"),
    )
    (whole,) = votes((WHOLE, 0.9), attribute=Attribute.DESCRIPTION)
    text = WHOLE[:length].strip()
    said = decide(Attribute.DESCRIPTION, [Vote(head, text, text, text), whole]).value
    assert said == (WHOLE if is_cut else text)


@given(
    st.lists(st.tuples(st.one_of(st.none(), st.sampled_from("ABC")), st.floats(0, 1)), max_size=8)
)
def test_the_winner_is_one_of_the_votes(cast: list[tuple[str | None, float]]) -> None:
    """A reading never invents a value, and its weight is a probability."""
    reading = decide(Attribute.BRAND, votes(*cast))
    assert reading.value in {value for value, _ in cast} | {None}
    assert 0 <= reading.weight < 1
    assert 0 <= reading.share <= 1.0000001
    assert (reading.value is None) == all(value is None for value, _ in cast)


BESIDE = [
    ("a sign that several share is the shop's", "$12.00", "CAD", "CAD"),
    ("a sign of another currency", "12.00 €", "CAD", "EUR"),
    ("a code", "USD 12.00", "CAD", "USD"),
    ("a sign, and nothing known of the shop", "$12.00", None, "USD"),
    ("nothing", "12.00", "CAD", "CAD"),
]


@pytest.mark.parametrize(
    ("name", "text", "usual", "currency"), BESIDE, ids=[case[0] for case in BESIDE]
)
def test_the_currency_beside_a_price(
    name: str, text: str, usual: str | None, currency: str
) -> None:
    """It stands in the price's own text, unless the page states it elsewhere."""
    price = decide(Attribute.PRICE, [Vote(rule(Attribute.PRICE, "b"), text, text, "12.00")])
    assert offer_of({Attribute.PRICE: price}, "https://shop.example/p", usual).currency == currency
