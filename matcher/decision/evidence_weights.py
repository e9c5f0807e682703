"""What spoke for a pair and what against, in numbers: how far the odds move when one kind of evidence is taken away.

Trees have no coefficients to show, and Shapley values of forty features cost more than the matching. So the features
are put together as people speak of them - title, model number, price - and the judge is asked once more for each kind,
with its features unknown. What the log-odds lose by that is what the kind spoke for the pair.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.decision.decide import Decision
from matcher.features.pair_features import TRENDS
from matcher.model.calibration import log_odds
from matcher.scoring.score_pairs import Comparison

KINDS: dict[str, str] = {
    "title": "grams words ratio token_set token_sort winkler same_title shared shared_of_shop shared_of_known",
    "rare words": "rarest_shared rarest_only_shop rarest_only_known told_by_known told_by_shop",
    "model numbers": "codes_shared codes_only_shop codes_only_known codes_named "
    "codes_near codes_far codes_long_near codes_long_far",
    "quantities": "quantities_shared quantities_differ",
    "variant": "kinds_differ siblings_differ",
    "price": "price_gap",
    "brand": "brand",
    "identifiers": "ean han sku codes_alike",
    "image": "image",
    "description": "description description_lead_shop description_lead_known",
    "rivals": "grams_lead_shop grams_lead2_shop grams_lead_known grams_lead2_known grams_rank_shop grams_rank_known "
    "shared_lead_shop shared_lead_known",
}
LEAST = 0.05
MOST_CANDIDATES = 5
Why = dict[str, Any]
_AT = {name: place for place, name in enumerate(TRENDS)}
_PLACES = {kind: [_AT[name] for name in names.split()] for kind, names in KINDS.items()}


def whys(seen: Comparison, decisions: Sequence[Decision]) -> list[Why]:
    """Of each decision, ready for JSON: `evidence`, the weightiest first, and `candidates`, the likeliest first.

    A kind of evidence has its weight in log-odds, above zero where it spoke for the pair, and the features' values.
    Links and identifiers that nobody else carries are weighed after the judge and stand as `settled`. A candidate is
    the catalog's row in `seen` with its probability.
    """
    shown = [n for n, decision in enumerate(decisions) if decision.pair is not None]
    pairs = np.array([decisions[n].pair for n in shown], dtype=np.int64)
    weights = _weights(seen, pairs)
    found: list[Why] = [{"evidence": [], "settled": None, "candidates": []} for _ in decisions]
    for place, (n, pair) in enumerate(zip(shown, pairs.tolist(), strict=True)):
        found[n]["evidence"] = _evidence(
            seen.table[pair], {kind: float(w[place]) for kind, w in weights.items()}
        )
        found[n]["settled"] = seen.said.links[pair] or seen.said.keys[pair] or None
    for offer, near in enumerate(_nearest(seen, len(decisions))):
        found[offer]["candidates"] = [
            (int(seen.pairs[p, 1]), round(float(seen.probability[p]), 4)) for p in near
        ]
    return found


def _weights(seen: Comparison, pairs: NDArray[np.int64]) -> Mapping[str, NDArray[np.float64]]:
    table = seen.table[pairs]
    whole = log_odds(seen.judge(table))
    found = {}
    for kind, places in _PLACES.items():
        without = table.copy()
        without[:, places] = np.nan
        found[kind] = whole - log_odds(seen.judge(without))
    return found


def _evidence(row: NDArray[np.float32], weights: Mapping[str, float]) -> list[dict[str, Any]]:
    """The kinds that moved the odds, and what was seen of each."""
    kinds = sorted(
        (kind for kind, weight in weights.items() if abs(weight) >= LEAST),
        key=lambda k: -abs(weights[k]),
    )
    names = list(TRENDS)
    return [
        {
            "kind": kind,
            "speaks": "for" if weights[kind] > 0 else "against",
            "weight": round(weights[kind], 2),
            "features": {
                names[p]: round(float(row[p]), 3) for p in _PLACES[kind] if not np.isnan(row[p])
            },
        }
        for kind in kinds
    ]


def _nearest(seen: Comparison, offers: int) -> list[list[int]]:
    """Each shop offer's pairs of the greatest probability."""
    order = np.lexsort((np.arange(len(seen.pairs)), -seen.probability, seen.pairs[:, 0]))
    starts = np.searchsorted(seen.pairs[order, 0], np.arange(offers + 1))
    return [order[a : min(b, a + MOST_CANDIDATES)].tolist() for a, b in pairwise(starts.tolist())]
