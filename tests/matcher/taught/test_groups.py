"""Groups: no chaining through unverified pairs, no forbidden pair inside, any order of pairs."""

import numpy as np
import pytest

from matcher.taught.groups import group_records


@pytest.mark.parametrize(
    ("pairs", "odds", "forbidden", "groups"),
    [
        # A chain of two pairs whose ends were never compared, or differ.
        ([(0, 1), (1, 2)], [5, 3], [], [[0, 1]]),
        ([(0, 1), (1, 2), (0, 2)], [5, 4, -5], [], [[0, 1]]),
        # The third pair is doubtful, the others are sure.
        ([(0, 1), (1, 2), (0, 2)], [5, 5, -1], [], [[0, 1, 2]]),
        ([(0, 1), (1, 2), (0, 2)], [5, 4, 9], [2], [[0, 1]]),
        ([(0, 1), (2, 3)], [1, -1], [], [[0, 1]]),
        ([], [], [], []),
    ],
)
def test_groups(
    pairs: list[tuple[int, int]], odds: list[float], forbidden: list[int], groups: list[list[int]]
) -> None:
    """Two groups are joined if their pairs say so on average."""
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    is_forbidden = np.isin(np.arange(len(pairs)), forbidden)
    assert group_records(table, np.array(odds, float), is_forbidden) == groups
    back = slice(None, None, -1)
    assert group_records(table[back], np.array(odds, float)[back], is_forbidden[back]) == groups


def test_two_tables() -> None:
    """Between two tables, the pairs of one side have no say."""
    pairs, odds = np.array([(0, 0), (0, 1), (1, 0)]), np.array([5.0, 4.0, -3.0])
    assert group_records(pairs, odds, np.zeros(3, bool), left_size=2) == [[0, 2, 3]]
