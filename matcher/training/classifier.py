"""From a pair's features to the probability that both are the same offer.

Gradient-boosted trees take unknown values as they are and are held monotone (a better agreement never lowers the
odds), which keeps what they learn from a few hundred rehearsed offers from bending. A catalog too small to rehearse
with is judged by a fixed logistic formula over the few features that carry most.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from matcher.blocking.candidates import candidates
from matcher.blocking.vectors import space
from matcher.features.pair_features import TRENDS, features
from matcher.model.calibration import held_out, scores, sigmoid
from matcher.model.tree_export import Grown, Taught
from matcher.records.record import Record
from matcher.training.feedback import Lessons
from matcher.training.synthetic_pairs import Rehearsal, rehearsals

Floats = NDArray[np.float32]
FEWEST_OFFERS = 20
TOP = 5

# Odds of the formula, in logits per unit; a feature that is unknown adds nothing.
_WEIGHTS = {
    "grams": 4.0,
    "shared": 4.0,
    "same_title": 2.0,
    "rarest_only_shop": -2.5,
    "rarest_only_known": -2.5,
    "codes_only_shop": -0.7,
    "codes_only_known": -0.7,
    "quantities_differ": -2.0,
    "kinds_differ": -3.0,
    "price_gap": -1.5,
    "grams_lead_shop": 2.0,
    "grams_lead_known": 2.0,
}
_AGREEMENT = {
    "ean": (3.0, -2.5),
    "sku": (2.5, -1.5),
    "han": (2.0, -1.5),
    "image": (2.5, -0.8),
    "brand": (0.5, -1.5),
}
_BASE = -4.0


class Classifier(Protocol):
    """Gives each row of features a probability."""

    def __call__(self, table: Floats) -> Floats: ...


def formula(table: Floats) -> Floats:
    """The fixed formula, for catalogs too small to learn from."""
    columns = {name: table[:, place] for place, name in enumerate(TRENDS)}
    logit = np.full(len(table), _BASE, dtype=np.float32)
    for name, weight in _WEIGHTS.items():
        logit += weight * np.nan_to_num(columns[name])
    for name, (yes, no) in _AGREEMENT.items():
        logit += np.where(np.isnan(columns[name]), 0.0, np.where(columns[name] > 0.5, yes, no))
    return (1 / (1 + np.exp(-np.clip(logit, -20, 20)))).astype(np.float32)


def taught(known: Sequence[Record], pages: Mapping[int, Record], heard: Lessons) -> Classifier:
    """A classifier for this catalog: learnt from rehearsals and from people's words.

    Where there is too little to learn from, it is the formula.
    """
    if len(known) < FEWEST_OFFERS:
        return formula
    rounds = [_examples(rehearsal) for rehearsal in rehearsals(known, pages)]
    if not rounds:
        return formula
    tables, truths = [table for table, _ in rounds], [same for _, same in rounds]
    same = np.concatenate(truths)
    if not 0 < same.sum() < len(same):
        return formula
    weight = np.concatenate((np.ones(len(same), np.float32), heard.weight))
    judge = trees(
        np.concatenate((*tables, heard.table)), np.concatenate((same, heard.same)), weight=weight
    )
    said, true = held_out(tables, truths, trees)
    calibrate = sigmoid(said, true)
    saw = {
        "known": len(known),
        "pages": len(pages),
        "words": len(heard.same),
        "rehearsals": len(rounds),
    }
    return Taught(judge, calibrate, saw | {"pairs": len(same)} | scores(calibrate(said), true))


def trees(
    table: Floats,
    same: NDArray[np.bool_],
    trends: Sequence[int] | None = None,
    weight: Floats | None = None,
    **settings: Any,
) -> Grown:
    """Monotone gradient-boosted trees fitted to the examples; the same examples always give the same trees."""
    wanted = {
        "max_iter": 120,
        "learning_rate": 0.1,
        "max_leaf_nodes": 12,
        "min_samples_leaf": 12,
        "random_state": 0,
    }
    wanted |= settings
    model = HistGradientBoostingClassifier(
        l2_regularization=1.0,
        monotonic_cst=list(TRENDS.values()) if trends is None else list(trends),
        early_stopping=False,
        **wanted,
    )
    with threadpool_limits(1):
        model.fit(np.where(np.isnan(table).all(axis=0), 0, table), same, sample_weight=weight)
    return Grown(model)


def _examples(rehearsal: Rehearsal) -> tuple[Floats, NDArray[np.bool_]]:
    """The pairs of one rehearsal with whether they are the same offer."""
    if not rehearsal.known:
        return np.empty((0, len(TRENDS)), np.float32), np.empty(0, bool)
    both = space(rehearsal.shop, rehearsal.known)
    pairs = candidates(rehearsal.shop, rehearsal.known, both, TOP)
    truth = np.array([-1 if row is None else row for row in rehearsal.truth])
    return features(rehearsal.shop, rehearsal.known, both, pairs), truth[pairs[:, 0]] == pairs[:, 1]
