"""Which of an attribute's rules are asked first, and when no other could change the outcome any more.

Most rules of a page agree. Once those that agree are two at least, and outweigh all that have not been asked, the rest
could not outvote them and are not asked. So those come first that cost least: whose place is known anyway, or is needed
for another attribute too. Only where rules contradict each other, or find nothing, are all of them heard. For
descriptions and currencies the best rule that finds one is enough, unless it finds a description that is cut short.
Spare and general rules are asked only where the others find nothing.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TypeVar

from catalog.models import Attribute
from catalog.values import key
from parser.page.element_index import is_noted
from parser.rules.model import Rule
from parser.rules.selector import AnySelector, JsonAt, TextAt
from parser.scripts.blocks import CODE, SCHEMA_ORG
from parser.voting.vote_weights import is_in_head, weight_of
from parser.voting.votes import Vote
from parser.voting.winner import Reading, decide, is_cut_short

ENOUGH = 2
NOTED = 1
ELEMENT = 30
TYPED = 35
MANY = 60
IN_CODE = 60
IN_JSON = 100
ROUNDED = 1e-9
BEST_DECIDES = frozenset({Attribute.DESCRIPTION, Attribute.CURRENCY})

T = TypeVar("T")
Source = tuple[str, str]
Kept = Set[Source]


@dataclass(frozen=True)
class Hearing:
    """The rules of an attribute in the order in which they are asked, and where among them each rank is."""

    attribute: Attribute
    rules: tuple[Rule, ...]
    places: tuple[int, ...]

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """What each rule's vote weighs."""
        return tuple(map(weight_of, self.rules))

    @cached_property
    def leading(self) -> int:
        """How many are asked at all where one of them finds something: the others only stand in for these."""
        return sum(not rule.stands_in for rule in self.rules) or len(self.rules)

    @cached_property
    def weight(self) -> float:
        """What all of these weigh."""
        return sum(self.weights[: self.leading])

    @cached_property
    def settle(self) -> tuple[bool, ...]:
        """Whose votes can settle the outcome.

        A picture that only the page's head names is not settled: the offer's own place may say that there is none.
        """
        return tuple(
            self.attribute is not Attribute.IMAGE or not is_in_head(rule) for rule in self.rules
        )

    @cached_property
    def ranks(self) -> tuple[tuple[int, ...], ...]:
        """For each number of rules that were asked their places as they rank."""
        return tuple(
            tuple(place for place in self.places if place < asked)
            for asked in range(len(self.rules) + 1)
        )

    def votes(self, asked: Sequence[T], vote_of: Callable[[T], Vote]) -> tuple[Vote, ...]:
        """The votes that are needed, or all where it stays open, as their rules rank. `asked` stand for the rules."""
        value, weight, agreeing, unasked, settles = None, 0.0, 0, self.weight, False
        heard: list[Vote] = []
        for one, weighs, can_settle in zip(asked, self.weights, self.settle, strict=True):
            if value is not None and len(heard) == self.leading:
                break
            vote = vote_of(one)
            heard.append(vote)
            unasked -= weighs
            found = vote.value
            if found is None:
                continue
            if value is None:
                value = found
            elif value != found and key(self.attribute, value) != key(self.attribute, found):
                heard += map(vote_of, asked[len(heard) : self.leading])
                break
            weight, agreeing = weight + weighs, agreeing + 1
            settles = settles or (can_settle and not is_cut_short(vote.rule, found))
            if settles and _is_enough(self.attribute, agreeing, weight, unasked):
                break
        return tuple(map(heard.__getitem__, self.ranks[len(heard)]))


def hearings(rules: Sequence[Rule]) -> list[Hearing]:
    """How the rules of each attribute are heard: those set by hand first, those that cost least, then general ones.

    Of what the best rule decides alone, only rules of one score change places.
    """
    by_attribute = defaultdict[Attribute, list[Rule]](list)
    for rule in rules:
        by_attribute[rule.attribute].append(rule)
    kept = _kept(rules, by_attribute)
    return [_hearing(attribute, of_it, kept) for attribute, of_it in by_attribute.items()]


def _hearing(attribute: Attribute, rules: Sequence[Rule], kept: Kept) -> Hearing:
    def turn(rank: int) -> tuple[object, ...]:
        rule = rules[rank]
        best = -rule.score if attribute in BEST_DECIDES else 0.0
        given = rule.stands_in, not rule.taught, best, rule.origin != "manual"
        return *given, source_of(rule.selector) not in kept, _cost(rule.selector), -rule.score

    turns = sorted(range(len(rules)), key=turn)
    places = tuple(turns.index(rank) for rank in range(len(rules)))
    return Hearing(attribute, tuple(rules[rank] for rank in turns), places)


def settled(rules: Sequence[Rule], vote_of: Callable[[Rule], Vote]) -> dict[Attribute, Reading]:
    """The outcome for each attribute of a template's rules, with the votes that were heard."""
    return {
        one.attribute: decide(one.attribute, one.votes(one.rules, vote_of))
        for one in hearings(rules)
    }


def _is_enough(attribute: Attribute, agreeing: int, weight: float, others: float) -> bool:
    """Whether so many rules that agree, and weigh so much, settle the outcome against all others.

    One description does, and one currency, which a shop hardly changes from page to page. Of the rest two have to
    agree, so that what they say is no accident.
    """
    if attribute in BEST_DECIDES:
        return agreeing > 0
    return agreeing >= ENOUGH and weight >= others - ROUNDED


def _weight_of_all(rules: Iterable[Rule]) -> float:
    return fsum(map(weight_of, rules))


def source_of(selector: AnySelector) -> Source:
    """What has to be looked up for a selector, once for all that share it."""
    return selector.css, selector.block if isinstance(selector, JsonAt) else ""


def _cost(selector: AnySelector) -> int:
    """About what it costs to look it up, in microseconds, as measured on shops' pages."""
    if not isinstance(selector, JsonAt):
        many = isinstance(selector, TextAt) and selector.of_many
        return MANY if many else NOTED if is_noted(selector.css) else ELEMENT
    if selector.in_place:
        return ELEMENT
    return {CODE: IN_CODE, SCHEMA_ORG: TYPED}.get(selector.css, IN_JSON)


def _kept(rules: Sequence[Rule], of: Mapping[Attribute, Sequence[Rule]]) -> Kept:
    """The sources that settle every attribute that all of them would: the dearest are gone without, one by one."""
    users: dict[Source, list[Rule]] = defaultdict(list)
    for rule in rules:
        users[source_of(rule.selector)].append(rule)
    kept = set(users)
    for source in sorted(users, key=lambda one: (-_cost(users[one][0].selector), len(users[one]))):
        without = kept - {source}
        if all(
            _settles(of[attribute], without)
            for attribute in {rule.attribute for rule in users[source]}
        ):
            kept = without
    return kept


def _settles(rules: Sequence[Rule], kept: Kept) -> bool:
    """Whether those rules of an attribute that read from the sources kept can settle it alone."""
    attribute = rules[0].attribute
    left = [rule for rule in rules if source_of(rule.selector) in kept]
    if attribute in BEST_DECIDES:
        left = [rule for rule in left if rule.score == rules[0].score]
    weight = _weight_of_all(left)
    return _is_enough(attribute, len(left), weight, _weight_of_all(rules) - weight)
