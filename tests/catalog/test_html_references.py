"""Character references are resolved in any text, however long their numbers are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.html_references import unescape_references


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("Salt &amp; pepper", "Salt & pepper"),
        ("&#8364;&#x20ac;&euro;", "€€€"),
        (f"a&#{'1' * 5000};b &lt;", "a\ufffdb <"),
        (f"a&#x{'1' * 5000};b", "a\ufffdb"),
    ],
)
def test_references(text: str, resolved: str) -> None:
    """Numbers beyond all characters give the sign for an unknown one, as in browsers."""
    assert unescape_references(text) == resolved


@given(st.text("&#xX1aF;mp ", max_size=60))
def test_any_text(text: str) -> None:
    """No text is refused."""
    unescape_references(text + "&#" + "9" * 4301 + text)
