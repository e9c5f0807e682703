"""Statistics of a group of offers against the others: likelihood, exact test, effect size.

Counts are sums of product weights (`reports.causes.offer_columns.OfferColumns`), so they may be
fractions.
"""

import numpy as np
from numpy.typing import ArrayLike

from matcher.array_types import Doubles


def log_likelihood(missing: ArrayLike, offers: ArrayLike) -> Doubles:
    """Return the log-likelihood of the missing offers at the group's own missing share, in nats.

    >>> log_likelihood([5.0, 5.0], [10.0, 5.0]).round(3).tolist()
    [-6.931, 0.0]
    """
    # Imported here because it takes a quarter of a second, and `scout offers` often needs none.
    from scipy.special import xlogy

    # Sums of weights carry rounding errors, so a difference may be just below 0.
    k = np.maximum(np.asarray(missing, dtype=float), 0.0)
    listed = np.maximum(np.asarray(offers, dtype=float) - k, 0.0)
    return np.asarray(xlogy(k, k) + xlogy(listed, listed) - xlogy(k + listed, k + listed))


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
    from scipy.stats import hypergeom

    k, n = np.asarray(missing, dtype=float), np.asarray(offers, dtype=float)
    # The sums of weights carry rounding errors.
    whole_missing = np.floor(k + 1e-6)
    whole_offers = whole_missing + np.ceil(n - k - 1e-6)
    all_missing = max(round(total_missing), int(whole_missing.max(initial=0)))
    all_listed = max(
        round(total_offers - total_missing), int((whole_offers - whole_missing).max(initial=0))
    )
    probability = hypergeom.sf(
        whole_missing - 1, all_missing + all_listed, all_missing, whole_offers
    )
    return np.asarray(probability, dtype=float)


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
