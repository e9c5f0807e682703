"""Probabilities that mean what they say: of the pairs given 0.8, eight in ten should be the same offer.

Boosted trees are too sure of themselves. So they judge rehearsals that they have not learnt from, and a sigmoid over
their log-odds (Platt) is fitted to how that went. It keeps the order of the pairs, which isotonic steps would not, and
needs two numbers only, which a few hundred examples can bear.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Fit = Callable[[Floats, Bools], Callable[[Floats], Floats]]
STEEPEST = 1.0
FLATTEST = 0.3


@dataclass(frozen=True)
class Sigmoid:
    """Log-odds times `slope` plus `shift`."""

    slope: float = 1.0
    shift: float = 0.0

    def __call__(self, probability: Floats) -> Floats:
        """The calibrated probabilities, in the same order.

        >>> Sigmoid(0.5)(np.array([0.5, 0.9, 0.999], dtype=np.float32)).round(2).tolist()
        [0.5, 0.75, 0.9700000286102295]
        """
        return (1 / (1 + np.exp(-self.slope * log_odds(probability) - self.shift))).astype(
            np.float32
        )


def log_odds(probability: Floats) -> NDArray[np.float64]:
    """Log-odds; certainty is kept finite."""
    sure = np.clip(probability.astype(np.float64), 1e-6, 1 - 1e-6)
    odds: NDArray[np.float64] = np.log(sure / (1 - sure))
    return odds


def held_out(tables: Sequence[Floats], truths: Sequence[Bools], fit: Fit) -> tuple[Floats, Bools]:
    """What `fit` says of each half of the tables having learnt from the other half, and what is true of them.

    Empty where a half has nothing to teach.
    """
    halves = [range(0, len(tables), 2), range(1, len(tables), 2)]
    said, true = [], []
    for own, other in (halves, halves[::-1]):
        same = np.concatenate([truths[n] for n in own] or [np.empty(0, bool)])
        if not 0 < same.sum() < len(same):
            return np.empty(0, np.float32), np.empty(0, bool)
        judge = fit(np.concatenate([tables[n] for n in own]), same)
        said += [judge(tables[n]) for n in other]
        true += [truths[n] for n in other]
    return np.concatenate(said), np.concatenate(true)


def scores(said: Floats, true: Bools) -> dict[str, float]:
    """The Brier score, and precision and recall of the pairs called the same at even odds."""
    called = said >= 0.5
    right = float((called & true).sum())
    return {
        "brier": round(float(np.mean((said - true) ** 2)), 4) if len(said) else 0.0,
        "precision": round(right / max(1.0, float(called.sum())), 4),
        "recall": round(right / max(1.0, float(true.sum())), 4),
    }


def sigmoid(said: Floats, true: Bools) -> Sigmoid:
    """The sigmoid of the least log loss, within bounds: never steeper than what was said, never nearly flat."""
    if not len(said):
        return Sigmoid()
    odds, target = log_odds(said), true.astype(np.float64)

    def loss(at: NDArray[np.float64]) -> float:
        logit = at[0] * odds + at[1]
        return float(np.mean(np.logaddexp(0, logit) - target * logit))

    found = minimize(
        loss, np.array([1.0, 0.0]), bounds=[(FLATTEST, STEEPEST), (-1.0, 1.0)], method="L-BFGS-B"
    )
    return Sigmoid(float(found.x[0]), float(found.x[1]))
