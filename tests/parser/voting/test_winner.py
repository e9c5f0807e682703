"""The outcome of a vote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import Attribute
from parser.rules.model import Rule
from parser.rules.selector import AttributeAt, TextAt
from parser.voting.votes import Vote
from parser.voting.winner import decide, offer_from


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
    """The weights of equal values add up."""
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
    """Shops fill all of them from one text, and may write it for search engines."""
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
    """On some pages the shop's name stands where the number does on others."""
    titles = [
        (css, "Shop")
        for css in ("title", 'meta[property="og:title"]', "html > head:nth-of-type(1) > title")
    ]
    cast = [
        Vote(rule(Attribute.SKU, css), value, value, value) for css, value in (*places, *titles)
    ]
    assert decide(Attribute.SKU, cast).value == winner


def test_two_that_agree_outweigh_the_head_and_another() -> None:
    """Titles in the head do not tip the balance against them."""
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
    """Descriptions are not counted; one that ends with dots is truncated."""
    scored = ((selector, 1 - place / 10) for place, selector in enumerate(found))
    cast = votes(*scored, attribute=Attribute.DESCRIPTION)
    assert decide(Attribute.DESCRIPTION, cast).value == winner


WHOLE = "A lamp of beech and brass, made by hand for the desk of whoever reads at night and wants to see what is there."
HEADS = [
    ("it ends within a word", 105, True),
    ("it ends behind one", 103, False),
    ("it is short", 38, False),
]


@pytest.mark.parametrize(("name", "length", "is_cut"), HEADS, ids=[case[0] for case in HEADS])
def test_a_long_description_in_the_head_may_be_truncated(
    name: str, length: int, is_cut: bool
) -> None:
    """It is if it ends within a word that another description continues."""
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
    """A reading never invents a value, and its confidence is a probability."""
    reading = decide(Attribute.BRAND, votes(*cast))
    assert reading.value in {value for value, _ in cast} | {None}
    assert 0 <= reading.confidence < 1
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
    """It stands in the text of the price, unless the page has it elsewhere."""
    price = decide(Attribute.PRICE, [Vote(rule(Attribute.PRICE, "b"), text, text, "12.00")])
    assert (
        offer_from({Attribute.PRICE: price}, "https://shop.example/p", usual).currency == currency
    )
