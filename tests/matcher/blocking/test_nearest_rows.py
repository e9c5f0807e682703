"""Nearest-neighbour search: the bounded search finds the exact neighbours within its budget."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from matcher.blocking.nearest_rows import find_nearest, find_nearest_bounded, multiply_pairs


def random_rows(rows: int, seed: int, density: float = 0.2) -> sparse.csr_array:
    generator = np.random.default_rng(seed)
    values = generator.random((rows, 12)) * (generator.random((rows, 12)) < density)
    return sparse.csr_array(values, dtype=np.float32)


@settings(max_examples=40)
@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 10_000), st.integers(1, 4))
def test_an_ample_budget_gives_the_exact_neighbours(
    left: int, right: int, seed: int, count: int
) -> None:
    """With a budget for every n-gram, the neighbours are the exact ones without faint ones."""
    a, b = random_rows(left, seed), random_rows(right, seed + 1)
    exact, bounded = find_nearest(a, b, count), find_nearest_bounded(a, b, count, budget=10_000)
    assert {tuple(pair) for pair in bounded.tolist()} <= {
        tuple(pair) for pair in find_nearest(a, b, 9).tolist()
    }
    for row in range(left):
        expected = multiply_pairs(a, b, exact[exact[:, 0] == row])
        products = multiply_pairs(a, b, bounded[bounded[:, 0] == row])
        assert products == pytest.approx(expected[: len(products)])
        is_complete = len(products) == len(expected)
        assert is_complete or expected[len(products)] <= expected[0] / 4 + 1e-6


def test_a_small_budget_still_finds_the_twin() -> None:
    """A row that shares its rarest n-gram with one row only finds it."""
    common, rare = np.ones((50, 1)), np.eye(50)
    twins = sparse.csr_array(np.hstack((common, rare)), dtype=np.float32)
    nearest = find_nearest_bounded(twins, twins, 1, budget=2)
    assert nearest.tolist() == [[n, n] for n in range(50)]
