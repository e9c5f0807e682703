"""The text behind a label."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.errors import RuleError
from parser.page.document import Document
from parser.rules.selector import TextAt, selector_from

LABEL = "ean|upc"
SELECTOR = TextAt(css=":is(td, th, dt, li, p, b, span):not(:has(*))", behind=LABEL)

SAID = [
    ("in one element", "<p>EAN: 4006</p>", "4006"),
    ("without a colon", "<p>EAN 4006</p>", "4006"),
    ("in the next cell", "<table><tr><td>Upc</td><td>4006</td></tr></table>", "4006"),
    (
        "in the next cell, the label in an element",
        "<table><tr><th><b>EAN:</b></th><td>4006</td></tr></table>",
        "4006",
    ),
    ("both in elements", "<table><tr><td><b>EAN</b></td><td><p>4006</p></td></tr></table>", "4006"),
    ("bare, before another label", "<p><b>EAN:</b> 4006 <b>Age:</b> 3</p>", "4006"),
    ("a colon outside", "<p><b>EAN</b>: 4006</p>", "4006"),
    (
        "the next one, where one has none",
        "<dl><dt>EAN</dt><dd></dd><dt>UPC</dt><dd>4006</dd></dl>",
        "4006",
    ),
    ("a word that ends so", "<p>Ocean: 4006</p>", None),
    ("a word that begins so", "<p>Upcoming 4006</p>", None),
    ("another kind of it", "<table><tr><td>Case UPC</td><td>4006</td></tr></table>", None),
    ("a sentence", f"<p>EAN {'stands for many things ' * 5}</p>", None),
    ("a sentence beside it", f"<p><b>EAN</b> {'stands for many things ' * 5}</p>", None),
    ("nothing", "<p>EAN:</p>", None),
]


@pytest.mark.parametrize(("name", "markup", "value"), SAID, ids=[case[0] for case in SAID])
def test_the_text_behind_a_label(name: str, markup: str, value: str | None) -> None:
    """A label is recognised by its whole text."""
    assert Document(markup, "https://shop.example/p").find(SELECTOR) == value


@given(
    st.lists(
        st.sampled_from(["<p>", "</p>", "<b>EAN", "EAN:", "</b>", "<!-- x -->", " 7 ", "<td>"]),
        max_size=12,
    )
)
def test_any_markup_gives_a_short_text_or_none(parts: list[str]) -> None:
    """However elements are nested."""
    found = Document("".join(parts), "https://shop.example/p").find(SELECTOR)
    assert found is None or 0 < len(found) <= 80


def test_a_label_is_a_regular_expression() -> None:
    """An invalid expression raises when the rule is loaded."""
    with pytest.raises(RuleError, match="not a regular expression"):
        selector_from({"kind": "text", "css": "p", "behind": "("})
