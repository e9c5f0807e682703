"""Columns of texts that take little more memory than their characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcher.dedupe.base.packed_texts import JoinedTexts, PackedTexts

# All characters, lone surrogates among them: feeds in broken encodings have some.
TEXTS = st.lists(st.text(st.characters(), max_size=5), max_size=8)


@given(TEXTS, st.slices(8))
def test_packed_texts_read_as_a_list(texts: list[str], part: slice) -> None:
    """Every text comes back, by its place from either end, in a slice, and in order."""
    packed = PackedTexts(texts)
    assert len(packed) == len(texts)
    assert [*packed] == texts
    assert [packed[place] for place in range(-len(texts), len(texts))] == texts * 2
    assert packed[part] == texts[part]
    with pytest.raises(IndexError):
        packed[len(texts)]


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), min_size=1, max_size=5))
def test_joined_texts_leave_out_empty_values(rows: list[tuple[str, str]]) -> None:
    """A record's text is its values with a space between, wherever it is read."""
    joined = JoinedTexts([*zip(*rows, strict=True)])
    expected = [" ".join(value for value in row if value) for row in rows]
    assert [*joined] == expected
    assert [joined[place] for place in range(len(joined))] == joined[:] == expected
