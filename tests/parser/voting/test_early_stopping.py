"""The order in which rules run, and when the others are skipped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import Attribute
from parser.rules.model import Rule
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, TextAt
from parser.voting.early_stopping import VoteOrder, vote_orders
from parser.voting.vote_weights import weight_of
from parser.voting.votes import Vote
from parser.voting.winner import decide

META = AttributeAt(css='meta[itemprop="name"]', name="content")
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
    return [Vote(rule, value, value, value) for rule, (value, _) in zip(rules, values, strict=True)]


def needed_votes(votes: list[Vote]) -> tuple[Vote, ...]:
    """The votes that are needed if their rules run in this order."""
    rules = tuple(vote.rule for vote in votes)
    attribute = rules[0].attribute if rules else Attribute.SKU
    return VoteOrder(attribute, rules, tuple(range(len(rules)))).collect_votes(
        votes, lambda vote: vote
    )


def order_of(rules: list[Rule], attribute: Attribute = Attribute.TITLE) -> list[AnySelector]:
    """The selectors of an attribute's rules in the order in which they run."""
    return [
        rule.selector
        for order in vote_orders(rules)
        if order.attribute is attribute
        for rule in order.rules
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
def test_rules_run_until_the_outcome_is_settled(
    name: str, attribute: Attribute, values: list[tuple[str | None, float]], asked: int
) -> None:
    """Rules that could not change the outcome are skipped."""
    votes = cast(attribute, *values)
    assert list(needed_votes(votes)) == votes[:asked]


STANDING_IN = [
    ("not where another finds something", ["A", "B"], 1),
    ("where it finds nothing", [None, "B"], 2),
    ("not where two others contradict each other", ["A", "C", "B"], 2),
]


@pytest.mark.parametrize(
    ("name", "values", "asked"), STANDING_IN, ids=[case[0] for case in STANDING_IN]
)
def test_a_general_rule_is_a_fallback(name: str, values: list[str | None], asked: int) -> None:
    """However cheap it is, it runs only where the others abstain."""
    learnt_rules = [
        rule(Attribute.EAN, TextAt(css=f"p.c{place}"), 0.9) for place in range(len(values) - 1)
    ]
    (order,) = vote_orders([*learnt_rules, rule(Attribute.EAN, META, origin="general")])
    said = dict(zip([*(rule.selector for rule in learnt_rules), META], values, strict=True))
    votes = order.collect_votes(order.rules, lambda rule: Vote(rule, *[said[rule.selector]] * 3))
    assert len(votes) == asked


@given(
    st.lists(st.tuples(st.one_of(st.none(), st.sampled_from("AB")), st.floats(0, 1)), max_size=8)
)
def test_skipped_rules_could_not_change_the_outcome(values: list[tuple[str | None, float]]) -> None:
    """No other value has more weight when all votes are counted."""
    votes = cast(Attribute.SKU, *values)
    weights: dict[str | None, float] = {}
    for vote in votes:
        weights[vote.value] = weights.get(vote.value, 0.0) + weight_of(vote.rule)
    weights.pop(None, None)
    value = decide(Attribute.SKU, needed_votes(votes)).value
    assert value is None if not weights else weights[value] >= max(weights.values()) - 1e-6


TURNS: list[tuple[str, list[tuple[Attribute, AnySelector]], Attribute, list[AnySelector]]] = [
    (
        "what is looked at anyway comes first",
        [(Attribute.TITLE, selector) for selector in (HEADING, DATA, META)],
        Attribute.TITLE,
        [META, HEADING, DATA],
    ),
    (
        "data that another attribute needs come before an element of one's own",
        [
            (Attribute.BRAND, DATA),
            *((Attribute.TITLE, selector) for selector in (HEADING, META, MORE)),
        ],
        Attribute.TITLE,
        [META, MORE, HEADING],
    ),
    (
        "one block serves where two are known",
        [
            *((Attribute.BRAND, selector) for selector in (DATA, HEADING)),
            *((Attribute.SKU, selector) for selector in (MORE, OTHER, LINK)),
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
    """Few places have to be looked up."""
    rules = [rule(name, selector) for name, selector in given_rules]
    assert order_of(rules, attribute) == turns


def test_manual_rules_run_first() -> None:
    """However costly they are."""
    rules = [rule(Attribute.TITLE, selector) for selector in (META, HEADING)]
    rules.append(rule(Attribute.TITLE, OTHER, origin="manual"))
    assert order_of(rules)[0] == OTHER


def test_the_better_description_comes_first() -> None:
    """The best description that is found decides."""
    rules = [rule(Attribute.DESCRIPTION, DATA), rule(Attribute.DESCRIPTION, META, 0.9)]
    assert order_of(rules, Attribute.DESCRIPTION) == [DATA, META]


def test_of_equals_the_rule_that_ranks_first_wins() -> None:
    """In whatever order they run."""
    (order,) = vote_orders([rule(Attribute.TITLE, DATA), rule(Attribute.TITLE, META)])
    texts = dict(zip(order.rules, ("meta", "data"), strict=True))
    votes = order.collect_votes(
        order.rules, lambda rule: Vote(rule, texts[rule], texts[rule], texts[rule])
    )
    assert decide(Attribute.TITLE, votes).value == "data"
