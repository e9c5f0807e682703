"""Verdict thresholds: chosen so that verdicts reach the required precision.

Probabilities are calibrated (`matcher.model.calibration`), so the precision of a verdict can be
estimated without labels: it is the mean probability of being right over all offers that would get
it. Doubtful offers become unsure, as many as that takes; if few are doubtful, none.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.config import DEFAULT_CONFIG, MatcherConfig

Probabilities = NDArray[np.floating[Any]]
# Step by which a threshold moves away from even odds.
STEP = 0.05


@dataclass(frozen=True)
class VerdictThresholds:
    """An offer is listed from `listed` on, missing below `missing`, and unsure between them."""

    listed: float = DEFAULT_CONFIG.listed_from
    missing: float = DEFAULT_CONFIG.missing_below


def choose_thresholds(
    paired: Probabilities, unpaired: Probabilities, config: MatcherConfig = DEFAULT_CONFIG
) -> VerdictThresholds:
    """Choose the thresholds nearest to even odds at which both verdicts reach the precision.

    `paired` are the probabilities of the assigned pairs, `unpaired` those of offers without a
    partner.

    >>> choose_thresholds(np.array([0.99, 0.98]), np.array([0.0, 0.01]))
    VerdictThresholds(listed=0.55, missing=0.45)
    >>> loose = MatcherConfig(precision=0.9)
    >>> choose_thresholds(np.array([0.99, 0.6, 0.6]), np.array([0.4, 0.3]), loose)
    VerdictThresholds(listed=0.65, missing=0.3)
    """
    lower = _steps_down(config.missing_below, config.lowest_threshold)
    upper = [round(1 - threshold, 2) for threshold in lower]
    # The last resort is the outermost threshold, even if it does not reach the precision.
    listed, missing = upper[-1], lower[-1]
    for threshold in upper:
        if _expected_precision(paired[paired >= threshold]) >= config.precision:
            listed = threshold
            break
    for threshold in lower:
        if _expected_precision(1 - unpaired[unpaired < threshold]) >= config.precision:
            missing = threshold
            break
    return VerdictThresholds(listed, missing)


def _steps_down(start: float, end: float) -> list[float]:
    count = round((start - end) / STEP) + 1
    return [round(start - STEP * step, 2) for step in range(count)]


def _expected_precision(right: Probabilities) -> float:
    """Return the mean probability of being right; 1 if no offer gets the verdict."""
    if not len(right):
        return 1.0
    return float(right.mean())
