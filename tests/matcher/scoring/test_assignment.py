"""One-to-one assignment."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from matcher.scoring.assignment import assign_one_to_one


@given(
    st.dictionaries(st.tuples(st.integers(0, 8), st.integers(0, 8)), st.floats(-2, 9), max_size=30)
)
def test_assignment_is_one_to_one_and_no_worse_than_greedy(
    weights: dict[tuple[int, int], float],
) -> None:
    """Each offer has one partner at most, and the sum is no less than a greedy one."""
    pairs = np.array([*weights], dtype=np.int64).reshape(-1, 2)
    weight = np.array([*weights.values()], dtype=np.float64)
    chosen = assign_one_to_one(pairs, weight)
    assert all(weight[chosen] > 0)
    assert len({*pairs[chosen, 0].tolist()}) == len({*pairs[chosen, 1].tolist()}) == len(chosen)
    left: set[int] = set()
    right: set[int] = set()
    greedy = 0.0
    for (i, j), value in sorted(weights.items(), key=lambda item: -item[1]):
        if value > 0 and i not in left and j not in right:
            left.add(i)
            right.add(j)
            greedy += value
    assert weight[chosen].sum() >= greedy - 1e-9
