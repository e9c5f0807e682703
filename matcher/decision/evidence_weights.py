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
    classifier. `candidates` are (row of the catalog in `scored`, probability), the most probable
    first.
    """
    explained = [row for row, decision in enumerate(decisions) if decision.pair is not None]
    pairs = np.array([decisions[row].pair for row in explained], dtype=np.int64)
    weights = _ablation_weights(scored, pairs)
    details: list[Details] = []
    for candidates in _most_probable(scored, len(decisions)):
        shown = [
            (int(scored.pairs[pair, 1]), round(float(scored.probability[pair]), 4))
            for pair in candidates
        ]
        details.append({"evidence": [], "settled": None, "candidates": shown})
    links, identifiers = scored.evidence.links, scored.evidence.identifiers
    for position, (row, pair) in enumerate(zip(explained, pairs.tolist(), strict=True)):
        weight_of_kind = {kind: float(weight[position]) for kind, weight in weights.items()}
        details[row]["evidence"] = _describe_evidence(scored.table[pair], weight_of_kind)
        details[row]["settled"] = links[pair] or identifiers[pair] or None
    return details


def _ablation_weights(scored: ScoredPairs, pairs: Ints) -> Mapping[FeatureKind, Doubles]:
    """Return the log-odds that each pair loses without each kind of evidence."""
    table = scored.table[pairs]
    complete = log_odds(scored.classifier(table))
    weights = {}
    for kind, columns in _COLUMNS.items():
        ablated = table.copy()
        ablated[:, columns] = np.nan
        weights[kind] = complete - log_odds(scored.classifier(ablated))
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
