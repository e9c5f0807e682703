"""Pictures that are not the offer's own are none."""

import pytest

from catalog.models import Attribute
from parser.page.document import Document
from parser.rules.model import Rule
from parser.rules.selector import AttributeAt
from parser.voting.votes import Vote, vote
from parser.voting.winner import decide

SHOWN = "https://shop.example/lamp.jpg"
LOGO = "https://shop.example/logo.png"
PICTURED = [
    ("a place of its own says there is none", "/no-image.png", LOGO, None),
    ("a place of its own says nothing", "", LOGO, LOGO),
    ("both show it", SHOWN, SHOWN, SHOWN),
    ("the head has one of several", SHOWN, LOGO, SHOWN),
]


@pytest.mark.parametrize(
    ("name", "own", "head", "expected"), PICTURED, ids=[case[0] for case in PICTURED]
)
def test_the_shops_picture_is_not_the_offers(
    name: str, own: str, head: str, expected: str | None
) -> None:
    """Where an offer's own place holds a stand-in, what the head shows is the shop's logo."""
    page = Document(
        f"<meta property='og:image' content='{head}'><img id='p' src='{own}'>",
        "https://shop.example/p",
    )
    places = (
        AttributeAt(css="img[id='p']", name="src"),
        AttributeAt(css='meta[property="og:image"]', name="content"),
    )
    rules = [Rule(attribute=Attribute.IMAGE, selector=place) for place in places]
    assert decide(Attribute.IMAGE, [vote(page, one) for one in rules]).value == expected


OPEN_GRAPH = 'meta[property="og:image"]'
FIRST = "img.first"
SECOND = "img.second"
ALONE = [
    ("the head's, and two places are silent", {OPEN_GRAPH: SHOWN}, {}, None),
    (
        "the head's, and one that missed a known one",
        {OPEN_GRAPH: SHOWN},
        {FIRST: 9, SECOND: 9},
        SHOWN,
    ),
    ("the head's, and one place is silent", {OPEN_GRAPH: SHOWN}, {SECOND: 3}, SHOWN),
    (
        "the head's, named for the shop, and one place is silent",
        {OPEN_GRAPH: LOGO},
        {SECOND: 3},
        None,
    ),
    ("one place's, and the head is silent", {FIRST: SHOWN}, {}, None),
    ("one place's, and the head missed a known one", {FIRST: SHOWN}, {OPEN_GRAPH: 9}, SHOWN),
    ("two places', and the head is silent", {FIRST: SHOWN, SECOND: SHOWN}, {}, SHOWN),
    (
        "one place's, and hardly any offer is known",
        {FIRST: SHOWN},
        {OPEN_GRAPH: 2, FIRST: 2, SECOND: 2},
        SHOWN,
    ),
]


STAND_IN = "/no-image.png"
BESIDE = [
    ("a stand-in", FIRST, STAND_IN, 10, None),
    ("what is no picture", FIRST, "Lamp", 10, SHOWN),
    ("a stand-in where the way is counted", "div > img:nth-of-type(2)", STAND_IN, 10, SHOWN),
    ("a stand-in where a known one was missed", FIRST, STAND_IN, 9, SHOWN),
]


@pytest.mark.parametrize(
    ("name", "css", "beside", "support", "expected"), BESIDE, ids=[case[0] for case in BESIDE]
)
def test_a_picture_beside_a_stand_in(
    name: str, css: str, beside: str, support: int, expected: str | None
) -> None:
    """The place that has all known pictures says that there is none: what another place names is another offer's."""
    own = Rule(
        attribute=Attribute.IMAGE, selector=AttributeAt(css=css, name="src"), support=support
    )
    other = Rule(
        attribute=Attribute.IMAGE, selector=AttributeAt(css=SECOND, name="src"), support=10
    )
    cast = [Vote(own, beside, beside, None), Vote(other, SHOWN, SHOWN, SHOWN)]
    assert decide(Attribute.IMAGE, cast).value == expected


@pytest.mark.parametrize(
    ("name", "said", "support", "expected"), ALONE, ids=[case[0] for case in ALONE]
)
def test_a_picture_that_one_place_alone_names(
    name: str, said: dict[str, str], support: dict[str, int], expected: str | None
) -> None:
    """It is no picture of the offer where places are silent that have named all known ones."""
    rules = {
        css: Rule(
            attribute=Attribute.IMAGE,
            selector=AttributeAt(css=css, name="src"),
            support=support.get(css, 10),
        )
        for css in (OPEN_GRAPH, FIRST, SECOND)
    }
    cast = [Vote(rule, said.get(css), said.get(css), said.get(css)) for css, rule in rules.items()]
    assert decide(Attribute.IMAGE, cast).value == expected


def test_a_picture_of_a_rule_set_by_hand_is_believed() -> None:
    """Whatever other places say."""
    own = Rule(
        attribute=Attribute.IMAGE, selector=AttributeAt(css=FIRST, name="src"), origin="manual"
    )
    head = Rule(
        attribute=Attribute.IMAGE, selector=AttributeAt(css=OPEN_GRAPH, name="content"), support=10
    )
    assert (
        decide(
            Attribute.IMAGE, [Vote(own, SHOWN, SHOWN, SHOWN), Vote(head, None, None, None)]
        ).value
        == SHOWN
    )
