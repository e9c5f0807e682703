"""Which rules are asked first, and when enough have been heard."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import Attribute
from parser.rules.model import Rule
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, TextAt
from parser.voting.early_stopping import Hearing, hearings
from parser.voting.vote_weights import weight_of
from parser.voting.votes import Vote
from parser.voting.winner import decide

META = AttributeAt(css='meta[itemprop="name"]', name="content")
HEAD = AttributeAt(css='meta[property="og:image"]', name="content")
DATA = JsonAt(block="var meta =", path="$.a")
MORE = JsonAt(block="var meta =", path="$.b")
OTHER = JsonAt(block="var other =", path="$.a")
HEADING = TextAt(css="h1")
LINK = AttributeAt(css="a.big", name="href")


def rule(attribute: Attribute, selector: AnySelector, score: float = 1.0, **more: object) -> Rule:
    """A rule of that score."""
    return Rule(attribute=attribute, selector=selector, score=score, **more)  # type: ignore[arg-type]


def cast(attribute: Attribute, *values: tuple[str | None, float]) -> list[Vote]:
    """Votes with these values, by rules of these scores."""
    rules = [
        rule(attribute, TextAt(css=f"p.c{number}"), score)
        for number, (_, score) in enumerate(values)
    ]
    return [Vote(one, value, value, value) for one, (value, _) in zip(rules, values, strict=True)]


def heard(votes: list[Vote]) -> tuple[Vote, ...]:
    """Those that are needed, where their rules are asked in this order."""
    rules = tuple(one.rule for one in votes)
    attribute = rules[0].attribute if rules else Attribute.SKU
    return Hearing(attribute, rules, tuple(range(len(rules)))).votes(votes, lambda one: one)


def turns_of(rules: list[Rule], attribute: Attribute = Attribute.TITLE) -> list[AnySelector]:
    """What an attribute's rules read, in the order in which they are asked."""
    return [
        rule.selector for one in hearings(rules) if one.attribute is attribute for rule in one.rules
    ]


HEARD = [
    ("two of three that agree", Attribute.TITLE, [("A", 1.0), ("A", 1.0), ("B", 1.0)], 2),
    ("three of five", Attribute.TITLE, [("A", 1.0)] * 5, 3),
    (
        "two, where the others weigh less",
        Attribute.TITLE,
        [("A", 1.0), ("A", 1.0)] + [("B", 0.5)] * 4,
        2,
    ),
    ("one is not enough, however heavy", Attribute.SKU, [("A", 1.0), ("A", 0.3)], 2),
    (
        "all where two contradict",
        Attribute.SKU,
        [("A", 1.0), ("B", 1.0), ("A", 1.0), ("A", 1.0)],
        4,
    ),
    ("all where nothing is found", Attribute.EAN, [(None, 1.0)] * 3, 3),
    (
        "silence brings the end nearer",
        Attribute.EAN,
        [(None, 1.0), (None, 1.0), ("A", 1.0), ("A", 1.0), ("A", 1.0)],
        4,
    ),
    ("the first description", Attribute.DESCRIPTION, [(None, 1.0), ("A", 1.0), ("B", 1.0)], 2),
    (
        "more where a description is cut short",
        Attribute.DESCRIPTION,
        [("A l...", 1.0), ("A lamp", 1.0), ("B", 1.0)],
        3,
    ),
    ("one currency", Attribute.CURRENCY, [("EUR", 1.0), ("EUR", 1.0), ("EUR", 1.0)], 1),
]


@pytest.mark.parametrize(
    ("name", "attribute", "values", "asked"), HEARD, ids=[case[0] for case in HEARD]
)
def test_rules_are_heard_until_the_outcome_is_settled(
    name: str, attribute: Attribute, values: list[tuple[str | None, float]], asked: int
) -> None:
    """No more of them than could change it."""
    votes = cast(attribute, *values)
    assert list(heard(votes)) == votes[:asked]


def test_a_picture_that_only_the_head_names_is_not_settled() -> None:
    """The offer's own place may say that there is none."""
    (hearing,) = hearings(
        [
            rule(Attribute.IMAGE, HEAD),
            rule(Attribute.IMAGE, HEAD, 0.9),
            rule(Attribute.IMAGE, LINK, 0.2),
        ]
    )
    assert len(hearing.votes(hearing.rules, lambda one: Vote(one, "x", "x", "x"))) == 3


STANDING_IN = [
    ("not where another finds something", ["A", "B"], 1),
    ("where it finds nothing", [None, "B"], 2),
    ("not where two others contradict each other", ["A", "C", "B"], 2),
]


@pytest.mark.parametrize(
    ("name", "values", "asked"), STANDING_IN, ids=[case[0] for case in STANDING_IN]
)
@pytest.mark.parametrize("origin", ["general", "spare"])
def test_a_rule_stands_in_for_others(
    name: str, values: list[str | None], asked: int, origin: str
) -> None:
    """However cheap it is to ask."""
    taught = [
        rule(Attribute.EAN, TextAt(css=f"p.c{place}"), 0.9) for place in range(len(values) - 1)
    ]
    (hearing,) = hearings([*taught, rule(Attribute.EAN, META, origin=origin)])
    said = dict(zip([*(one.selector for one in taught), META], values, strict=True))
    votes = hearing.votes(hearing.rules, lambda one: Vote(one, *[said[one.selector]] * 3))
    assert len(votes) == asked


@given(
    st.lists(st.tuples(st.one_of(st.none(), st.sampled_from("AB")), st.floats(0, 1)), max_size=8)
)
def test_what_is_not_heard_could_not_change_the_outcome(
    values: list[tuple[str | None, float]],
) -> None:
    """No other value has more weight behind it when all votes are counted."""
    votes = cast(Attribute.SKU, *values)
    weights: dict[str | None, float] = {}
    for one in votes:
        weights[one.value] = weights.get(one.value, 0.0) + weight_of(one.rule)
    weights.pop(None, None)
    value = decide(Attribute.SKU, heard(votes)).value
    assert value is None if not weights else weights[value] >= max(weights.values()) - 1e-6


TURNS: list[tuple[str, list[tuple[Attribute, AnySelector]], Attribute, list[AnySelector]]] = [
    (
        "what is looked at anyway comes first",
        [(Attribute.TITLE, one) for one in (HEADING, DATA, META)],
        Attribute.TITLE,
        [META, HEADING, DATA],
    ),
    (
        "data that another attribute needs come before an element of one's own",
        [(Attribute.BRAND, DATA), *((Attribute.TITLE, one) for one in (HEADING, META, MORE))],
        Attribute.TITLE,
        [META, MORE, HEADING],
    ),
    (
        "one block serves where two are known",
        [
            *((Attribute.BRAND, one) for one in (DATA, HEADING)),
            *((Attribute.SKU, one) for one in (MORE, OTHER, LINK)),
        ],
        Attribute.SKU,
        [LINK, MORE, OTHER],
    ),
]


@pytest.mark.parametrize(
    ("name", "given_rules", "attribute", "turns"), TURNS, ids=[case[0] for case in TURNS]
)
def test_cheap_rules_come_first(
    name: str,
    given_rules: list[tuple[Attribute, AnySelector]],
    attribute: Attribute,
    turns: list[AnySelector],
) -> None:
    """So that few places have to be looked up."""
    rules = [rule(name, selector) for name, selector in given_rules]
    assert turns_of(rules, attribute) == turns


def test_rules_set_by_hand_are_always_asked() -> None:
    """However dear they are."""
    rules = [rule(Attribute.TITLE, one) for one in (META, HEADING)]
    rules.append(rule(Attribute.TITLE, OTHER, origin="manual"))
    assert turns_of(rules)[0] == OTHER


def test_the_better_description_comes_first() -> None:
    """Since the best one that is found decides."""
    rules = [rule(Attribute.DESCRIPTION, DATA), rule(Attribute.DESCRIPTION, META, 0.9)]
    assert turns_of(rules, Attribute.DESCRIPTION) == [DATA, META]


def test_among_equals_the_rule_wins_that_ranks_first() -> None:
    """In whatever order they were asked."""
    (hearing,) = hearings([rule(Attribute.TITLE, DATA), rule(Attribute.TITLE, META)])
    texts = dict(zip(hearing.rules, ("meta", "data"), strict=True))
    votes = hearing.votes(hearing.rules, lambda one: Vote(one, texts[one], texts[one], texts[one]))
    assert decide(Attribute.TITLE, votes).value == "data"
