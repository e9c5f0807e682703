"""Early stopping of a vote: the order of the rules, and when to skip the others.

Most rules of a page agree. Once at least two agree and outweigh all rules that have not run, the
others need not run. So the cheapest rules run first: those whose source is indexed anyway, or is
needed for another attribute. Only where rules contradict each other, or abstain, do all of them
run. For descriptions and currencies the best rule that finds a value suffices, unless its
description is truncated. Fallback rules run only where the others abstain.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TypeVar

from catalog.models import Attribute
from catalog.values import value_key
from parser.page.document import Document
from parser.page.element_index import is_indexed
from parser.rules.model import Rule
from parser.rules.selector import AnySelector, JsonAt, TextAt
from parser.scripts.blocks import CODE, SCHEMA_ORG
from parser.voting.confidence import estimate_confidence
from parser.voting.old_prices import is_shown, without_old_prices
from parser.voting.vote_weights import weight_of
from parser.voting.votes import Vote
from parser.voting.winner import ConfidenceOf, Reading, decide, is_truncated

# Rules that must agree before the others are skipped, so that the agreement is no accident.
MIN_AGREEING = 2
# Rough costs of a look-up on shops' pages, in microseconds: only their order matters.
INDEXED_COST = 1
ELEMENT_COST = 30
SCHEMA_ORG_COST = 35
MANY_ELEMENTS_COST = 60
CODE_COST = 60
JSON_COST = 100
# Tolerance for sums of weights in different order.
ROUNDING = 1e-9
# Attributes that the best rule with a value decides: shops' descriptions differ in detail, their
# currencies hardly.
BEST_DECIDES = frozenset({Attribute.DESCRIPTION, Attribute.CURRENCY})

T = TypeVar("T")
# The CSS and the block that a selector looks up.
Source = tuple[str, str]


@dataclass(frozen=True)
class VoteOrder:
    """The rules of an attribute in the order in which they run, and their positions by rank."""

    attribute: Attribute
    rules: tuple[Rule, ...]
    places: tuple[int, ...]

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """The weight of each rule's vote."""
        return tuple(map(weight_of, self.rules))

    @cached_property
    def primary_count(self) -> int:
        """The number of rules that run first; the others are fallbacks for where these abstain."""
        return sum(not rule.is_fallback for rule in self.rules) or len(self.rules)

    @cached_property
    def primary_weight(self) -> float:
        """The weight of all primary rules."""
        return sum(self.weights[: self.primary_count])

    @cached_property
    def ranked_places(self) -> tuple[tuple[int, ...], ...]:
        """For each number of rules that have run, their positions in order of rank."""
        by_count = []
        for count in range(len(self.rules) + 1):
            by_count.append(tuple(place for place in self.places if place < count))
        return tuple(by_count)

    @cached_property
    def shown_until(self) -> int:
        """The number of rules that run at least: of a price, one that reads a visible element.

        A script or a meta element may state the price before a reduction.
        """
        if self.attribute is not Attribute.PRICE:
            return 0
        for number, rule in enumerate(self.rules[: self.primary_count], start=1):
            if is_shown(rule):
                return number
        return 0

    def read(
        self,
        voters: Sequence[T],
        vote_of: Callable[[T], Vote],
        document: Document,
        confidence_of: ConfidenceOf = estimate_confidence,
    ) -> Reading:
        """Return the reading of the attribute; `voters` stand for the rules, in the same order."""
        votes = self.collect_votes(voters, vote_of)
        if self.attribute is Attribute.PRICE:
            votes = without_old_prices(votes, document)
        return decide(self.attribute, votes, confidence_of)

    def collect_votes(self, voters: Sequence[T], vote_of: Callable[[T], Vote]) -> tuple[Vote, ...]:
        """Return the votes that decide the outcome, by rank; all where it stays open."""
        value, weight, agreeing, open_weight = None, 0.0, 0, self.primary_weight
        # Only descriptions are truncated.
        may_settle = self.attribute is not Attribute.DESCRIPTION
        votes: list[Vote] = []
        for voter, rule_weight in zip(voters, self.weights, strict=True):
            if value is not None and len(votes) == self.primary_count:
                break
            vote = vote_of(voter)
            votes.append(vote)
            open_weight -= rule_weight
            if vote.value is None:
                continue
            if value is None:
                value = vote.value
            elif value != vote.value and value_key(self.attribute, value) != value_key(
                self.attribute, vote.value
            ):
                # A contradiction: all primary rules run.
                votes += map(vote_of, voters[len(votes) : self.primary_count])
                break
            weight, agreeing = weight + rule_weight, agreeing + 1
            may_settle = may_settle or not is_truncated(vote.rule, vote.value)
            if (
                may_settle
                and len(votes) >= self.shown_until
                and _is_settled(self.attribute, agreeing, weight, open_weight)
            ):
                break
        return tuple(map(votes.__getitem__, self.ranked_places[len(votes)]))


def vote_orders(rules: Sequence[Rule]) -> list[VoteOrder]:
    """Return the order of each attribute's rules: cheap before costly, fallbacks last.

    Where the best rule decides alone, only rules of equal score change places.
    """
    by_attribute = defaultdict[Attribute, list[Rule]](list)
    for rule in rules:
        by_attribute[rule.attribute].append(rule)
    needed = _needed_sources(rules, by_attribute)
    return [_vote_order(attribute, group, needed) for attribute, group in by_attribute.items()]


def _vote_order(attribute: Attribute, rules: Sequence[Rule], needed: Set[Source]) -> VoteOrder:
    def sort_key(rank: int) -> tuple[object, ...]:
        rule = rules[rank]
        return (
            rule.is_fallback,
            not rule.is_learnt,
            -rule.score if attribute in BEST_DECIDES else 0.0,
            rule.origin != "manual",
            source_of(rule.selector) not in needed,
            _lookup_cost(rule.selector),
            -rule.score,
        )

    order = sorted(range(len(rules)), key=sort_key)
    places = tuple(order.index(rank) for rank in range(len(rules)))
    return VoteOrder(attribute, tuple(rules[rank] for rank in order), places)


def collect_readings(
    rules: Sequence[Rule], vote_of: Callable[[Rule], Vote], document: Document
) -> dict[Attribute, Reading]:
    """Return the reading of each attribute of a template's rules, from the votes that decide it."""
    return {
        order.attribute: order.read(order.rules, vote_of, document) for order in vote_orders(rules)
    }


def _is_settled(attribute: Attribute, agreeing: int, weight: float, open_weight: float) -> bool:
    """Return True if the rules that agree outweigh all rules that have not run."""
    if attribute in BEST_DECIDES:
        return agreeing > 0
    return agreeing >= MIN_AGREEING and weight >= open_weight - ROUNDING


def source_of(selector: AnySelector) -> Source:
    """Return the source that a selector looks up, once for all selectors that share it."""
    return selector.css, selector.block if isinstance(selector, JsonAt) else ""


def _lookup_cost(selector: AnySelector) -> int:
    if isinstance(selector, JsonAt):
        if selector.is_in_place:
            return ELEMENT_COST
        return {CODE: CODE_COST, SCHEMA_ORG: SCHEMA_ORG_COST}.get(selector.css, JSON_COST)
    if isinstance(selector, TextAt) and selector.reads_many:
        return MANY_ELEMENTS_COST
    return INDEXED_COST if is_indexed(selector.css) else ELEMENT_COST


def _needed_sources(
    rules: Sequence[Rule], by_attribute: Mapping[Attribute, Sequence[Rule]]
) -> Set[Source]:
    """Return the sources without the costliest that no attribute needs to be settled (greedy)."""
    users: dict[Source, list[Rule]] = defaultdict(list)
    for rule in rules:
        users[source_of(rule.selector)].append(rule)

    def by_cost(source: Source) -> tuple[int, int]:
        return -_lookup_cost(users[source][0].selector), len(users[source])

    needed = set(users)
    for source in sorted(users, key=by_cost):
        remaining = needed - {source}
        attributes = {rule.attribute for rule in users[source]}
        if all(_can_settle(by_attribute[attribute], remaining) for attribute in attributes):
            needed = remaining
    return needed


def _can_settle(rules: Sequence[Rule], sources: Set[Source]) -> bool:
    """Return True if the rules of an attribute that read from these sources can settle it alone."""
    attribute = rules[0].attribute
    remaining = [rule for rule in rules if source_of(rule.selector) in sources]
    if attribute in BEST_DECIDES:
        remaining = [rule for rule in remaining if rule.score == rules[0].score]
    weight = fsum(map(weight_of, remaining))
    return _is_settled(attribute, len(remaining), weight, fsum(map(weight_of, rules)) - weight)
