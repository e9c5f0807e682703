"""The nearest texts: bounded work finds what a full product finds, as long as the bound leaves room."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from matcher.blocking.nearest_rows import nearest, products, rarest_first
from matcher.evaluation.label_features import settled


def side(rows: int, seed: int, density: float = 0.2) -> sparse.csr_array:
    chance = np.random.default_rng(seed)
    return sparse.csr_array(
        chance.random((rows, 12)) * (chance.random((rows, 12)) < density), dtype=np.float32
    )


@settings(max_examples=40)
@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 10_000), st.integers(1, 4))
def test_reading_all_grams_is_the_whole_product(left: int, right: int, seed: int, top: int) -> None:
    """With a budget for every gram, each row's nearest ones are those of the full product, less the faint ones."""
    a, b = side(left, seed), side(right, seed + 1)
    whole, read = nearest(a, b, top), rarest_first(a, b, top, budget=10_000)
    assert {tuple(pair) for pair in read.tolist()} <= {
        tuple(pair) for pair in nearest(a, b, 9).tolist()
    }
    for row in range(left):
        full, own = (products(a, b, pairs[pairs[:, 0] == row]) for pairs in (whole, read))
        assert own == pytest.approx(full[: len(own)])
        assert len(own) == len(full) or full[len(own)] <= full[0] / 4 + 1e-6


def test_a_small_budget_still_finds_the_twin() -> None:
    """A row that shares its rarest gram with one row only is led to it, whatever half of the others have."""
    common, own = np.ones((50, 1)), np.eye(50)
    twins = sparse.csr_array(np.hstack((common, own)), dtype=np.float32)
    found = rarest_first(twins, twins, 1, budget=2)
    assert found.tolist() == [[n, n] for n in range(50)]


def test_no_answer_sees_itself() -> None:
    """What is known of a pair's neighbours does not depend on what is known of the pair."""
    chance = np.random.default_rng(0)
    pairs = np.unique(chance.integers(0, 6, (20, 2)), axis=0)
    score, learnt = chance.random(len(pairs)).astype(np.float32), np.arange(0, len(pairs), 2)
    same = chance.random(len(learnt)) < 0.4
    columns = settled(pairs, score, learnt, same)
    for n, row in enumerate(learnt):
        other = same.copy()
        other[n] = not same[n]
        assert settled(pairs, score, learnt, other)[row] == pytest.approx(columns[row])
