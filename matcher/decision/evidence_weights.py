"""Evidence weights: how much each kind of evidence changes the odds of a pair.

Trees have no coefficients to show, and Shapley values of over forty features would cost more than
the matching. So features are grouped by kind (`matcher.features.table`), and the classifier scores
each pair again with one kind unknown (ablation). The difference in log-odds is the weight of that
kind.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from catalog.models import Verdict
from matcher.array_types import Doubles, Floats, Ints
from matcher.decision.verdicts import Decision
from matcher.features.table import FEATURE_NAMES, FeatureKind, columns_by_kind
from matcher.model.calibration import log_odds
from matcher.scoring.scored_pairs import ScoredPairs

# Log-odds below which a kind of evidence is not worth showing.
MIN_WEIGHT = 0.05
# Candidates shown per offer.
MAX_CANDIDATES = 5
# Details of a decision, ready for JSON.
Details = dict[str, Any]
_COLUMNS = columns_by_kind()


def weigh_evidence(scored: ScoredPairs, decisions: Sequence[Decision]) -> list[Details]:
    """Return the details of each decision, ready for JSON.

    `evidence` lists kinds of evidence, the weightiest first: the weight is in log-odds, above zero
    if it speaks for the pair. `settled` names the link or identifier that was weighed after the
    classifier. `candidates` are (row of the catalog in `scored`, probability, weight of each kind
    of evidence), the most probable first. For a listed offer, only the pair that decided has
    weights.
    """
    candidates = _most_probable(scored, len(decisions))
    weights = _weigh_pairs(scored, decisions, candidates)
    links, identifiers = scored.evidence.links, scored.evidence.identifiers
    details: list[Details] = []
    for decision, pairs in zip(decisions, candidates, strict=True):
        shown = []
        for pair in pairs:
            row, probability = int(scored.pairs[pair, 1]), float(scored.probability[pair])
            shown.append((row, round(probability, 4), _relevant_weights(weights.get(pair, {}))))
        detail: Details = {"evidence": [], "settled": None, "candidates": shown}
        if decision.pair is not None:
            pair = int(decision.pair)
            detail["evidence"] = _describe_evidence(scored.table[pair], weights[pair])
            detail["settled"] = links[pair] or identifiers[pair] or None
        details.append(detail)
    return details


def _weigh_pairs(
    scored: ScoredPairs, decisions: Sequence[Decision], candidates: Sequence[Sequence[int]]
) -> dict[int, dict[FeatureKind, float]]:
    """Return the weights of each kind of evidence for the pairs to be explained."""
    needed: dict[int, None] = {}
    for decision, pairs in zip(decisions, candidates, strict=True):
        if decision.pair is not None:
            needed[int(decision.pair)] = None
        # The candidates of a listed offer explain nothing, and most offers are listed.
        if decision.verdict is not Verdict.LISTED:
            needed |= dict.fromkeys(pairs)
    by_kind = _ablation_weights(scored, np.array(list(needed), dtype=np.int64))
    weights: dict[int, dict[FeatureKind, float]] = {}
    for position, pair in enumerate(needed):
        weights[pair] = {kind: float(weight[position]) for kind, weight in by_kind.items()}
    return weights


def _relevant_weights(weights: Mapping[FeatureKind, float]) -> dict[str, float]:
    """Return the weights worth showing by the name of their kind, the greatest first."""
    relevant = [kind for kind, weight in weights.items() if abs(weight) >= MIN_WEIGHT]
    relevant.sort(key=lambda kind: -abs(weights[kind]))
    return {kind.value: round(weights[kind], 2) for kind in relevant}


def _ablation_weights(scored: ScoredPairs, pairs: Ints) -> Mapping[FeatureKind, Doubles]:
    """Return the log-odds that each pair loses without each kind of evidence."""
    table = scored.table[pairs]
    complete = log_odds(scored.classifier(table))
    weights = {}
    for kind, columns in _COLUMNS.items():
        weights[kind] = np.zeros(len(pairs))
        # Without a feature of a kind, there is nothing to leave out.
        has_kind = ~np.isnan(table[:, columns]).all(axis=1)
        ablated = table[has_kind]
        ablated[:, columns] = np.nan
        weights[kind][has_kind] = complete[has_kind] - log_odds(scored.classifier(ablated))
    return weights


def _describe_evidence(row: Floats, weights: Mapping[FeatureKind, float]) -> list[dict[str, Any]]:
    """Describe the kinds of evidence that change the odds, with the values of their features."""
    relevant = [kind for kind, weight in weights.items() if abs(weight) >= MIN_WEIGHT]
    relevant.sort(key=lambda kind: -abs(weights[kind]))
    evidence = []
    for kind in relevant:
        features = {}
        for column in _COLUMNS[kind]:
            if not np.isnan(row[column]):
                features[FEATURE_NAMES[column]] = round(float(row[column]), 3)
        evidence.append(
            {
                "kind": kind.value,
                "speaks": "for" if weights[kind] > 0 else "against",
                "weight": round(weights[kind], 2),
                "features": features,
            }
        )
    return evidence


def _most_probable(scored: ScoredPairs, offer_count: int) -> list[list[int]]:
    """Return each shop offer's most probable pairs."""
    shop_row = scored.pairs[:, 0]
    order = np.lexsort((np.arange(len(scored.pairs)), -scored.probability, shop_row))
    bounds = np.searchsorted(shop_row[order], np.arange(offer_count + 1)).tolist()
    return [
        order[start : min(end, start + MAX_CANDIDATES)].tolist() for start, end in pairwise(bounds)
    ]
