"""The bounds between missing, unsure and listed, chosen so that what is said is right as often as was asked for.

The probabilities are calibrated (`matcher.model.calibration`), so the precision of a verdict can be expected before anybody
has looked: the mean probability of being right over all offers that would get it. The doubtful ones become unsure, as
many as it takes; where few are doubtful, none.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
LISTED = 0.55
MISSING = 0.45
FARTHEST = 0.05
PRECISION = 0.98


@dataclass(frozen=True)
class Bounds:
    """From `listed` on an offer is listed, below `missing` it is missing, between them it is unsure."""

    listed: float = LISTED
    missing: float = MISSING


def bounds(paired: Floats, unpaired: Floats, precision: float = PRECISION) -> Bounds:
    """The bounds nearest to even odds at which both verdicts reach the wanted precision.

    `paired` are the probabilities of the pairs that would hold, `unpaired` those of the offers left without one.

    >>> bounds(np.array([0.99, 0.98]), np.array([0.0, 0.01]))
    Bounds(listed=0.55, missing=0.45)
    >>> bounds(np.array([0.99, 0.6, 0.6]), np.array([0.4, 0.3]), 0.9)
    Bounds(listed=0.65, missing=0.3)
    """
    lower = [round(MISSING - 0.05 * n, 2) for n in range(round((MISSING - FARTHEST) / 0.05) + 1)]
    upper = [round(1 - bound, 2) for bound in lower]
    listed = (bound for bound in upper if _expected(paired[paired >= bound]) >= precision)
    missing = (bound for bound in lower if _expected(1 - unpaired[unpaired < bound]) >= precision)
    return Bounds(next(listed, upper[-1]), next(missing, lower[-1]))


def _expected(right: Floats) -> float:
    """The mean probability of being right; of none, certainty."""
    return float(right.mean()) if len(right) else 1.0
