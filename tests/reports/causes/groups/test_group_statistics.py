"""Statistics of groups: the same figures as those of SciPy, which takes too long to load."""

import numpy as np
import pytest

from reports.causes.groups.group_statistics import hypergeometric_p_values, log_likelihood
from reports.statistics.completeness import wilson_interval


@pytest.mark.parametrize("total", [3, 40, 1_000, 60_000])
def test_hypergeometric_p_values(total: int) -> None:
    """Fisher's exact test gives the tail of the hypergeometric distribution, for any group."""
    from scipy.stats import hypergeom

    numbers = np.random.default_rng(total)
    for all_missing in {1, total // 7 + 1, total // 2, total - 1}:
        offers = np.append(numbers.integers(1, total + 1, 200), [1, total])
        least = np.maximum(offers - (total - all_missing), 0)
        most = np.minimum(offers, all_missing)
        missing = numbers.integers(least, most, endpoint=True)
        expected = hypergeom.sf(missing - 1, total, all_missing, offers)
        computed = hypergeometric_p_values(missing, offers, all_missing, total)
        assert computed == pytest.approx(expected, rel=1e-6, abs=1e-300)


def test_log_likelihood() -> None:
    """Groups that are missing or listed as a whole are certain; there is no logarithm of 0."""
    from scipy.special import xlogy

    missing, offers = np.array([0.0, 3.5, 7.0]), np.array([4.0, 7.0, 7.0])
    listed = offers - missing
    expected = xlogy(missing, missing) + xlogy(listed, listed) - xlogy(offers, offers)
    assert log_likelihood(missing, offers) == pytest.approx(expected)


@pytest.mark.parametrize(("count", "total"), [(0, 1), (0, 500), (1, 3), (250, 500), (9, 9)])
def test_wilson_interval(count: int, total: int) -> None:
    """The interval is that of Wilson, exact where nothing or everything was counted."""
    from scipy.stats import binomtest

    expected = binomtest(count, total).proportion_ci(0.95, method="wilson")
    assert wilson_interval(count, total) == pytest.approx((expected.low, expected.high))
