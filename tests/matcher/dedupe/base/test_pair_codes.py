"""The equi-join on keys, checked against all pairs."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcher.dedupe.base import pair_codes
from matcher.dedupe.base.pair_codes import collect_unique, match_keys, unpack_pairs


@given(
    left=st.lists(st.integers(0, 5)),
    right=st.none() | st.lists(st.integers(0, 5)),
    max_group=st.none() | st.integers(0, 6),
)
def test_match_keys(left: list[int], right: list[int] | None, max_group: int | None) -> None:
    """Every two rows with equal keys are matched once, unless too many have that key."""
    left_keys = np.array(left, dtype=np.uint64)
    right_keys = None if right is None else np.array(right, dtype=np.uint64)
    found = list[tuple[int, int]]()
    for codes in match_keys(left_keys, right_keys, max_group):
        left_rows, right_rows = unpack_pairs(codes)
        found += zip(left_rows.tolist(), right_rows.tolist(), strict=True)
    partners = left if right is None else right
    count = Counter([*left, *(right or [])])
    expected = {
        (left_row, right_row)
        for left_row, left_key in enumerate(left)
        for right_row, right_key in enumerate(partners)
        if left_key == right_key and (right is not None or left_row < right_row)
        if max_group is None or count[left_key] <= max_group
    }
    assert sorted(found) == sorted(expected)


def test_collect_unique(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes of many chunks are counted, filtered and returned once, however small the buffer."""
    monkeypatch.setattr(pair_codes, "PAIRS_PER_CHUNK", 2)
    chunks = [np.array([3, 1, 2]), np.array([2, 3]), np.array([5, 1])]
    total, codes = collect_unique(chunks, lambda codes: codes[codes < 5])
    assert total == 7
    assert codes.tolist() == [1, 2, 3]
