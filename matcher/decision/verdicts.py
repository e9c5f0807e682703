"""Verdicts: from scored pairs to listed, missing or unsure.

Offers are paired one to one, the strongest evidence first; a review overrides every probability.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from catalog.models import ReviewDecision, Verdict
from matcher.array_types import Doubles
from matcher.config import DEFAULT_CONFIG, MatcherConfig
from matcher.decision.thresholds import VerdictThresholds, choose_thresholds
from matcher.scoring.assignment import assign_one_to_one
from matcher.scoring.scored_pairs import ScoredPairs

# Thresholds of the first round, which shows how probabilities are distributed.
EVEN_ODDS = VerdictThresholds(0.5, 0.5)
# Weights in log-odds of reviewed offers: confirmed ones take no catalog offer, rejected ones take
# one even if it is improbable.
_CONFIRMED_WEIGHT = -1.0
_MIN_REJECTED_WEIGHT = 0.01
# Probabilities are kept this far from 0 and 1, so that odds are finite.
_MARGIN = 1e-6


@dataclass(frozen=True)
class Decision:
    """The verdict on one shop offer.

    `pair` is the pair that it rests on: the assigned one, else the nearest one. `winner` is the
    pair that took the nearest catalog offer.
    """

    verdict: Verdict
    score: float
    pair: int | None
    winner: int | None = None
    review: ReviewDecision | None = None


@dataclass(frozen=True)
class _Partners:
    """The assigned and the nearest pair of an offer, and the pair that took its nearest offer."""

    assigned: int | None
    nearest: int | None
    winner: int | None


def decide_verdicts(
    scored: ScoredPairs,
    reviews: Sequence[ReviewDecision | None],
    config: MatcherConfig = DEFAULT_CONFIG,
) -> list[Decision]:
    """Decide each shop offer; `reviews` holds the review of each one, or None.

    An offer whose catalog offer fits another offer better is missing. A first round at even odds
    shows which thresholds reach the precision. The fixed formula is not calibrated: below
    `config.min_training_offers` the thresholds stay as configured.
    """
    if scored.catalog_size < config.min_training_offers:
        configured = VerdictThresholds(config.listed_from, config.missing_below)
        return _decide_round(scored, reviews, configured, config)
    first_round = _decide_round(scored, reviews, EVEN_ODDS, config)
    paired: list[float] = []
    unpaired: list[float] = []
    for decision in first_round:
        if decision.review:
            continue
        if decision.verdict is Verdict.MISSING:
            unpaired.append(decision.score)
        else:
            paired.append(decision.score)
    thresholds = choose_thresholds(np.array(paired), np.array(unpaired), config)
    return _decide_round(scored, reviews, thresholds, config)


def _decide_round(
    scored: ScoredPairs,
    reviews: Sequence[ReviewDecision | None],
    thresholds: VerdictThresholds,
    config: MatcherConfig,
) -> list[Decision]:
    """Decide each shop offer within these thresholds."""
    pairs = scored.pairs
    chosen = assign_one_to_one(pairs, _assignment_weights(scored, reviews, thresholds))
    by_shop_row = dict(zip(pairs[chosen, 0].tolist(), chosen.tolist(), strict=True))
    by_catalog_row = dict(zip(pairs[chosen, 1].tolist(), chosen.tolist(), strict=True))
    nearest_pairs = _nearest_pairs(scored, thresholds, config)
    decisions = []
    for row, review in enumerate(reviews):
        assigned = by_shop_row.get(row)
        nearest = assigned if assigned is not None else nearest_pairs.get(row)
        winner = None
        if assigned is None and nearest is not None:
            winner = by_catalog_row.get(int(pairs[nearest, 1]))
        partners = _Partners(assigned, nearest, winner)
        decisions.append(_decide_offer(scored, partners, review, thresholds))
    return decisions


def _decide_offer(
    scored: ScoredPairs,
    partners: _Partners,
    review: ReviewDecision | None,
    thresholds: VerdictThresholds,
) -> Decision:
    nearest, winner = partners.nearest, partners.winner
    if review is ReviewDecision.REJECT:
        return Decision(Verdict.LISTED, 1.0, nearest, None, review)
    if review is ReviewDecision.ACCEPT or nearest is None:
        return Decision(Verdict.MISSING, 0.0, nearest, winner, review)
    score = float(scored.probability[nearest])
    if partners.assigned is None:
        # Without a partner an offer is missing, so its score may not exceed the threshold.
        score = min(_remaining_probability(score, winner, scored), thresholds.missing)
        return Decision(Verdict.MISSING, score, nearest, winner, review)
    if score >= thresholds.listed:
        return Decision(Verdict.LISTED, score, nearest, None, review)
    return Decision(Verdict.UNSURE, score, nearest, None, review)


def _remaining_probability(score: float, winner: int | None, scored: ScoredPairs) -> float:
    """Return the probability that is left to a pair whose catalog offer went to a better one."""
    if winner is None:
        return score
    # Three exclusive cases: this pair, the winner, or neither (odds 1).
    odds = _odds(score)
    return odds / (1 + odds + _odds(float(scored.probability[winner])))


def _odds(probability: float) -> float:
    return probability / max(1 - probability, _MARGIN)


def _assignment_weights(
    scored: ScoredPairs, reviews: Sequence[ReviewDecision | None], thresholds: VerdictThresholds
) -> Doubles:
    """Return log-odds above the missing threshold, changed by the reviews of the shop offers."""
    clipped = np.clip(scored.probability.astype(np.float64), _MARGIN, 1 - _MARGIN)
    threshold_odds = np.log(thresholds.missing / (1 - thresholds.missing))
    weight: Doubles = np.log(clipped / (1 - clipped)) - threshold_odds
    shop_row = scored.pairs[:, 0]
    confirmed = np.array([review is ReviewDecision.ACCEPT for review in reviews], dtype=bool)
    rejected = np.array([review is ReviewDecision.REJECT for review in reviews], dtype=bool)
    weight = np.where(rejected[shop_row], np.maximum(weight, _MIN_REJECTED_WEIGHT), weight)
    return np.where(confirmed[shop_row], _CONFIRMED_WEIGHT, weight)


def _nearest_pairs(
    scored: ScoredPairs, thresholds: VerdictThresholds, config: MatcherConfig
) -> dict[int, int]:
    """Return {shop row: its nearest pair}: the most probable one, then the most similar title.

    Pairs that are neither probable nor similar, and of which no title contains the other, are left
    out: they would only be the least dissimilar of the catalog.
    """
    similarity = np.nan_to_num(scored.column("token_sort"))
    is_contained = np.nan_to_num(scored.column("token_set")) >= config.nearest_token_set
    is_contained &= similarity >= config.nearest_contained_token_sort
    is_probable = scored.probability >= thresholds.missing
    is_similar = similarity >= config.nearest_token_sort
    near = np.flatnonzero(is_probable | is_similar | is_contained)
    # Rounded, so that among hopeless pairs the title decides.
    probability = np.round(scored.probability[near], 2)
    order = near[np.lexsort((near, -similarity[near], -probability, scored.pairs[near, 0]))]
    rows = scored.pairs[order, 0]
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    return dict(zip(rows[first].tolist(), order[first].tolist(), strict=True))
