"""Text normalisation: folding and tokens of any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcher.records.text import fold, join_neighbours, tokenize


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1,5 l", "1500 ml"),
        ("0.75 kg", "750g"),
        ("2 TB", "2000 gb"),
        ("set of 2", "2 pieces"),
        ("6er-Pack", "pack of 6"),
        ("10 cm", "100mm"),
        ("1,500 ml", "1.5 L"),
        ('6.1"', "6.1 Zoll"),
        ("Crème", "CREME"),
    ],
)
def test_spellings_of_one_thing_give_the_same_tokens(first: str, second: str) -> None:
    """Two spellings of one quantity or word give the same tokens."""
    assert tokenize(fold(first)) == tokenize(fold(second))


@given(st.text())
def test_any_text_has_tokens(text: str) -> None:
    """Folding and tokenizing never fail, fold again to the same, and stay within their caps."""
    folded = fold(text)
    assert fold(folded) == folded
    assert len(folded) <= 300
    assert len(tokenize(folded)) <= 64
    assert all(len(word) <= 32 for word in join_neighbours(tokenize(folded)))
