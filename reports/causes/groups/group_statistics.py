"""Statistics of a group of offers against the others: likelihood, exact test, effect size.

Counts are sums of product weights (`reports.causes.offer_columns.OfferColumns`), so they may be
fractions.

SciPy has these functions. Loading it takes a second and 75 MB, as much as a quarter of the report
of 60,000 offers, so they are computed here.
"""

from math import lgamma

import numpy as np
from numpy.typing import ArrayLike

from matcher.array_types import Doubles


def log_likelihood(missing: ArrayLike, offers: ArrayLike) -> Doubles:
    """Return the log-likelihood of the missing offers at the group's own missing share, in nats.

    >>> log_likelihood([5.0, 5.0], [10.0, 5.0]).round(3).tolist()
    [-6.931, 0.0]
    """
    # Sums of weights carry rounding errors, so a difference may be just below 0.
    k = np.maximum(np.asarray(missing, dtype=float), 0.0)
    listed = np.maximum(np.asarray(offers, dtype=float) - k, 0.0)
    return _entropy_term(k) + _entropy_term(listed) - _entropy_term(k + listed)


def _entropy_term(numbers: Doubles) -> Doubles:
    """Return x log x, which is 0 at 0."""
    logarithms = np.zeros_like(numbers)
    np.log(numbers, out=logarithms, where=numbers > 0)
    return numbers * logarithms


def likelihood_gain(
    missing: ArrayLike, offers: ArrayLike, total_missing: float, total_offers: float
) -> Doubles:
    """Return the gain in log-likelihood of a missing share of its own for each group, in nats.

    This is the Bernoulli scan statistic of Kulldorff (1997). It is 0 where the group is missing
    less often than the other offers.
    """
    k, n = np.asarray(missing, dtype=float), np.asarray(offers, dtype=float)
    gain = (
        log_likelihood(k, n)
        + log_likelihood(total_missing - k, total_offers - n)
        - log_likelihood(total_missing, total_offers)
    )
    return np.where(k * total_offers > n * total_missing, gain, 0.0)


def hypergeometric_p_values(
    missing: ArrayLike, offers: ArrayLike, total_missing: float, total_offers: float
) -> Doubles:
    """Return the probability of as many missing offers in a group if offers were missing at random.

    Fisher's exact test, one-sided. Fractions are rounded so that they prove less.

    >>> hypergeometric_p_values([3], [3], 3, 10).round(5).tolist()
    [0.00833]
    """
    k, n = np.asarray(missing, dtype=float), np.asarray(offers, dtype=float)
    # The sums of weights carry rounding errors.
    whole_missing = np.floor(k + 1e-6)
    whole_offers = whole_missing + np.ceil(n - k - 1e-6)
    all_missing = max(round(total_missing), int(whole_missing.max(initial=0)))
    all_listed = max(
        round(total_offers - total_missing), int((whole_offers - whole_missing).max(initial=0))
    )
    return _upper_tails(whole_missing, whole_offers, all_missing, all_listed)


# Relative size of a term of a sum of probabilities from which on all further ones are left out.
_NEGLIGIBLE = 1e-17


def _upper_tails(missing: Doubles, offers: Doubles, all_missing: int, all_listed: int) -> Doubles:
    """Return the probability of at least `missing` among `offers` drawn without replacement."""
    expected = offers * all_missing / max(all_missing + all_listed, 1)
    is_upper = missing > expected
    # Terms are summed away from the expected number, where each is smaller than the one before.
    start = np.where(is_upper, missing, missing - 1)
    step = np.where(is_upper, 1, -1)
    term = np.array(
        [
            _probability(k, n, all_missing, all_listed)
            for k, n in zip(start.tolist(), offers.tolist(), strict=True)
        ]
    )
    total = term.copy()
    k = start.copy()
    while (is_open := term > _NEGLIGIBLE * total).any():
        # Ratio of neighbouring terms; it becomes 0 at the last possible number.
        with np.errstate(divide="ignore", invalid="ignore"):
            upwards = (all_missing - k) * (offers - k) / ((k + 1) * (all_listed - offers + k + 1))
            downwards = k * (all_listed - offers + k) / ((all_missing - k + 1) * (offers - k + 1))
        term = np.where(is_open, term * np.where(is_upper, upwards, downwards), 0.0)
        total += term
        k += step
    return np.clip(np.where(is_upper, total, 1.0 - total), 0.0, 1.0)


def _probability(missing: float, offers: float, all_missing: int, all_listed: int) -> float:
    """Return the hypergeometric probability of exactly this number; 0 for an impossible one."""
    listed = offers - missing
    if missing < 0 or listed < 0 or missing > all_missing or listed > all_listed:
        return 0.0
    return float(
        np.exp(
            _log_choices(all_missing, missing)
            + _log_choices(all_listed, listed)
            - _log_choices(all_missing + all_listed, offers)
        )
    )


def _log_choices(total: float, chosen: float) -> float:
    return lgamma(total + 1) - lgamma(chosen + 1) - lgamma(total - chosen + 1)


def correct_p_values(p_values: ArrayLike, tests: int) -> Doubles:
    """Correct p-values for the number of tests (Benjamini and Hochberg 1995).

    `p_values` are the smallest ones of all `tests`.

    >>> correct_p_values([0.01, 0.001, 0.2], 10).round(4).tolist()
    [0.05, 0.01, 0.6667]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p)
    ranks = np.arange(1, len(p) + 1)
    scaled = p[order] * max(tests, len(p)) / ranks
    corrected = np.empty(len(p))
    # A larger p-value never gets a smaller correction.
    corrected[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return corrected


def effect_size(share: ArrayLike, other_share: ArrayLike) -> Doubles:
    """Return the difference of two shares as Cohen's h (Cohen 1988, chapter 6): 0 to pi.

    >>> effect_size(0.92, 0.10).round(2).tolist()
    1.92
    """
    first, second = np.asarray(share, dtype=float), np.asarray(other_share, dtype=float)
    return np.asarray(
        2 * np.arcsin(np.sqrt(np.clip(first, 0, 1))) - 2 * np.arcsin(np.sqrt(np.clip(second, 0, 1)))
    )
