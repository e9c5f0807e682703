"""Select the smallest set of rules that votes best.

Candidates are taken greedily, best first. One joins if the vote then agrees with more of the known
offers. One that only repeats the chosen ones' values joins if it reads another kind of source:
shops fill those from different places, so their agreement confirms, and one remains when the other
is gone.
"""

from collections.abc import Callable, Iterable, Sequence
from math import inf

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from parser.page.ancestors import ancestors_or_self
from parser.rules.model import Rule
from parser.rules.selector import AnySelector
from parser.voting.vote_weights import weight_at
from rules_generator.candidates.naming import may_cut_number, names_attribute
from rules_generator.candidates.source_kinds import element_kind, source_kind
from rules_generator.config import LearnerConfig
from rules_generator.scoring.ranking import ScoredTally
from rules_generator.scoring.tally import Tally

# Attributes that every offer has.
ALWAYS_PRESENT = frozenset({Attribute.TITLE, Attribute.PRICE})
# Rules that a page needs if one of its places is gone.
ENOUGH_RULES = 2
# Cap: elements between one and another around it.
MAX_LEVELS = 20
# Worth of a vote for a right value, a wrong one, and one where the catalog knows none.
VOTE_WORTH = {True: 1.0, False: -1.0, None: -0.5}


def select_rules(
    ranked: Sequence[ScoredTally], threshold: float, config: LearnerConfig
) -> list[Rule]:
    """Select the rules of one attribute from ranked (score, tally) pairs; low scores are out.

    Scores within a tie of the threshold count: a rule that abstained once is not worse than one
    that did not.
    """
    lowest = threshold - config.tie_margin
    worthy = [(score, tally) for score, tally in ranked if score >= lowest and tally.correct]
    distinct = _distinct(worthy)[: config.max_candidates_tried]
    chosen = _greedy_voters(distinct, config)
    if len(chosen) < ENOUGH_RULES and config.uses("fallback_rules"):
        chosen += _fallbacks(distinct, chosen)
    return [_rule(scored) for scored in chosen]


def _rule(scored: ScoredTally) -> Rule:
    score, tally = scored
    return tally.candidate.rule(_vote_score(score, tally), tally.correct, round(tally.share, 4))


def _vote_score(score: float, tally: Tally) -> float:
    """Return the score that a rule votes with: a guess gives way to a place that has the value
    itself.

    The first word of a title may be the brand of all known offers, and of others a part of it.
    """
    return round(score * tally.config.guess_weight if tally.candidate.is_guess else score, 4)


def _distinct(ranked: Iterable[ScoredTally]) -> list[ScoredTally]:
    """Keep the best of candidates of one kind and with the same values: they fail together."""
    best: dict[tuple[object, ...], ScoredTally] = {}
    for pair in ranked:
        best.setdefault((pair[1].keys, element_kind(pair[1].candidate.selector)), pair)
    return list(best.values())


def _greedy_voters(candidates: Sequence[ScoredTally], config: LearnerConfig) -> list[ScoredTally]:
    chosen: list[ScoredTally] = []
    best_worth = -inf
    for pair in candidates:
        worth = _voting_worth([*chosen, pair])
        if worth > best_worth or (worth == best_worth and _is_confirming(pair[1], chosen)):
            chosen.append(pair)
            best_worth = worth
        if len(chosen) == config.max_rules:
            break
    return chosen


def _is_confirming(tally: Tally, chosen: Sequence[ScoredTally]) -> bool:
    """Return True if it confirms the chosen rules from another source and another element."""
    if tally.candidate.attribute is Attribute.DESCRIPTION:
        return False
    if not tally.config.uses("confirming_rules"):
        return False
    return _confirms(tally, chosen, source_kind) and not _shares_element(tally, chosen)


def _fallbacks(
    candidates: Sequence[ScoredTally], chosen: Sequence[ScoredTally]
) -> list[ScoredTally]:
    """Return rules that agree with a single chosen one from another element, for pages on which it
    abstains.

    They abstain where the catalog knows no value. If there is no other element, another selector of
    the same one may hold where the first does not.
    """
    from_elsewhere, from_same_element = list[ScoredTally](), list[ScoredTally]()
    for pair in candidates:
        if not _can_fall_back(pair[1], chosen):
            continue
        if not _shares_element(pair[1], chosen):
            from_elsewhere.append(pair)
        elif _is_safe_selector(pair[1]):
            from_same_element.append(pair)
    return [*from_elsewhere, *from_same_element][: ENOUGH_RULES - len(chosen)]


def _is_safe_selector(tally: Tally) -> bool:
    """Return True if it reads nothing else where its element is missing."""
    candidate = tally.candidate
    if candidate.attribute is Attribute.DESCRIPTION:
        return False
    is_single = tally.match_count <= 1 and names_attribute(candidate)
    return candidate.attribute in ALWAYS_PRESENT or is_single


def _can_fall_back(tally: Tally, chosen: Sequence[ScoredTally]) -> bool:
    """Return True if it agrees with the chosen ones, and abstains without known values."""
    candidate = tally.candidate
    if not _confirms(tally, chosen, element_kind):
        return False
    # The head's description is written for search engines.
    is_meta = source_kind(candidate.selector) == "meta"
    if candidate.attribute is Attribute.DESCRIPTION and is_meta:
        return False
    for index, (value, right) in enumerate(zip(tally.values, tally.right, strict=True)):
        if value and right is None and not any(peer.values[index] for _, peer in chosen):
            return False
    return True


def _confirms(
    tally: Tally, chosen: Sequence[ScoredTally], kind: Callable[[AnySelector], str]
) -> bool:
    """Return True if it reads another kind of place than the chosen ones, and never contradicts
    them.

    A part of a longer number confirms nothing: where the shop has no number, it is a part of
    another text.
    """
    if tally.candidate.is_guess or may_cut_number(tally.candidate) or not chosen:
        return False
    if _is_unnamed_constant(tally) and names_attribute(chosen[0][1].candidate):
        return False
    kind_of_place = kind(tally.candidate.selector)
    for _, peer in chosen:
        if kind(peer.candidate.selector) == kind_of_place or not _agree(tally, peer):
            return False
    return True


def _shares_element(tally: Tally, chosen: Sequence[ScoredTally]) -> bool:
    return any(_are_nested(tally, peer) for _, peer in chosen)


def _are_nested(tally: Tally, peer: Tally) -> bool:
    """Return True if both read one element, or one within the other's: they fail together."""
    are_compared = False
    for node, peer_node in zip(tally.nodes, peer.nodes, strict=False):
        if node is None or peer_node is None:
            continue
        are_compared = True
        if not _is_within(node, peer_node) and not _is_within(peer_node, node):
            return False
    return are_compared


def _is_within(inner: LexborNode, outer: LexborNode) -> bool:
    return any(node.mem_id == outer.mem_id for node in ancestors_or_self(inner, MAX_LEVELS))


def _is_unnamed_constant(tally: Tally) -> bool:
    """Return True for one text on all examples by an unnamed selector: no evidence."""
    is_constant = len(set(tally.keys) - {None}) == 1 and tally.correct > 1
    return is_constant and not names_attribute(tally.candidate)


def _agree(tally: Tally, peer: Tally) -> bool:
    """Return True if both agree wherever both have a value; descriptions may differ."""
    is_compared = False
    for index, (value, peer_value) in enumerate(zip(tally.values, peer.values, strict=True)):
        if not value or not peer_value:
            continue
        is_compared = True
        are_right = tally.right[index] and peer.right[index]
        if tally.keys[index] != peer.keys[index] and not are_right:
            return False
    return is_compared


def _voting_worth(chosen: Sequence[ScoredTally]) -> float:
    """Return the examples on which the vote is right, less those on which it is wrong or
    unexpected.

    If a page does not show the known identifier, the shop may show another variant's: that is not
    held to be wrong.
    """
    return sum(_worth_at(chosen, index) for index in range(len(chosen[0][1].values)))


def _worth_at(chosen: Sequence[ScoredTally], index: int) -> float:
    """Return the worth of the value with most weight on one example."""
    weights: dict[str, float] = {}
    is_right: dict[str, bool | None] = {}
    for score, tally in chosen:
        value_key, candidate = tally.keys[index], tally.candidate
        if value_key is None:
            continue
        weight = weight_at(_vote_score(score, tally), candidate.attribute, candidate.selector)
        weights[value_key] = weights.get(value_key, 0.0) + weight
        right = None if index in tally.not_shown else tally.right[index]
        is_right[value_key] = is_right.get(value_key) or right
    if not weights:
        return 0.0
    return VOTE_WORTH[is_right[max(weights, key=lambda value_key: weights[value_key])]]
