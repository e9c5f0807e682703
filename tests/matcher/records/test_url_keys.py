"""Link keys of any text."""

from hypothesis import given
from hypothesis import strategies as st

from matcher.records.url_keys import parse_link


@given(st.text())
def test_any_text_is_a_link_or_none(text: str) -> None:
    """No link, however broken, raises."""
    assert parse_link(f"http://{text}").address is not None
