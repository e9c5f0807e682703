"""Columns of distinct texts, each with the rows that have it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcher.dedupe.base import text_columns
from matcher.dedupe.base.packed_texts import PackedTexts
from matcher.dedupe.base.text_columns import TextColumn, group_equal_texts

TEXTS = st.lists(st.text("ab", max_size=3), max_size=12)


def _values(column: TextColumn) -> tuple[list[object], ...]:
    arrays = (column.lengths, column.rows, column.row_starts)
    return ([*column.texts], *(array.tolist() for array in arrays))


@given(TEXTS)
def test_many_texts_are_grouped_as_few(texts: list[str]) -> None:
    """Where a dictionary would fill memory, hashes number the texts: the column is the same."""
    expected = _values(group_equal_texts(texts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_columns, "MAX_DICTIONARY", 0)
        assert _values(group_equal_texts(PackedTexts(texts))) == expected


def test_texts_of_one_hash_are_different(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two texts that share a hash stay two."""
    monkeypatch.setattr(text_columns, "MAX_DICTIONARY", 0)
    monkeypatch.setattr(text_columns, "hash", len, raising=False)
    column = group_equal_texts(PackedTexts(["a", "b", "a"]))
    assert _values(column) == (["a", "b"], [1, 1], [0, 2, 1], [0, 2, 3])
