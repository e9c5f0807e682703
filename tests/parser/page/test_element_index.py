"""The element index: it finds the same first element as the CSS engine."""

from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborNode

from catalog.html import open_html
from parser.page import element_index
from parser.page.document import Document
from parser.page.element_index import ElementIndex

TAGS = ["div", "span", "meta", "a", "p", "li"]
CLASSES = ["a", "b", "A", "a-b", "ab"]
NAMES = [
    'id="x"',
    'id="X"',
    'itemprop="a"',
    'itemprop="b"',
    'name="a"',
    'property="a"',
    'itemtype="a"',
    "data-a",
]
ELEMENT = st.recursive(
    st.sampled_from(["", "x", "<b class=a>", "<div class='b a'>", "</div>"]),
    lambda inner: st.builds(
        lambda tag, classes, name, within: (
            f'<{tag} class="{classes}" {name}>{"".join(within)}</{tag}>'
        ),
        st.sampled_from(TAGS),
        st.lists(st.sampled_from(CLASSES), max_size=3).map(" ".join),
        st.sampled_from(NAMES),
        st.lists(inner, max_size=3),
    ),
    max_leaves=8,
)
STEP = st.builds(
    lambda tag, classes, name, other: (
        tag + "".join(f".{class_name}" for class_name in classes) + name + other
    ),
    st.sampled_from(TAGS),
    st.lists(st.sampled_from(CLASSES), max_size=2),
    st.sampled_from(["", "", *(f"[{name}]" for name in NAMES)]),
    st.sampled_from(["", "", "", ":nth-of-type(1)", "[data-a]"]),
)
SELECTOR = st.lists(STEP, min_size=1, max_size=2).flatmap(
    lambda steps: st.sampled_from([" ", " > ", " + ", ", "]).map(lambda then: then.join(steps))
)


@pytest.mark.parametrize("doctype", ["<!doctype html>", ""])
@given(st.lists(ELEMENT, max_size=8).map("".join), st.lists(SELECTOR, max_size=6))
def test_finds_what_the_engine_finds(doctype: str, page: str, selectors: list[str]) -> None:
    """With a doctype and without one, where classes match in any case."""
    document = Document(doctype + page, "https://shop.example/p")
    tree, found = document.tree, document.element_index
    for css in selectors:
        assert _same(document.first(css), tree.css_first(css))
    assert found.ids is not None
    for css in selectors:
        known, node = found.first(css)
        if known:
            assert _same(node, tree.css_first(css))


def _same(a: LexborNode | None, b: LexborNode | None) -> bool:
    return (a and a.mem_id) == (b and b.mem_id)


@lru_cache
def page() -> ElementIndex:
    """The index of a page with an offer, with ids looked up."""
    found = ElementIndex(
        open_html(
            '<div class="p q"><h1 id="name">Lamp</h1><meta itemprop="sku" content="7"></div><p class=p>'
        )
    )
    assert found.ids == ["name"]
    return found


@pytest.mark.parametrize(
    ("css", "known"),
    [
        ('h1[id="other"]', True),
        ('[id="name"]', True),
        ('h1[id="name"]', True),
        ('p[id="name"]', False),
        ("div.p", False),
        ('meta[itemprop="sku"]', True),
        ('meta[itemprop="gtin"]', True),
        ('span[itemprop="sku"]', True),
        ("h1", False),
        ("div.p > h1", False),
        ("a.none", False),
        (".none", False),
        ("[[", False),
    ],
)
def test_ids_and_names_are_answered_without_a_walk(css: str, known: bool) -> None:
    """Other selectors are left to the CSS engine."""
    assert page().first(css)[0] is known


def test_ids_are_answered_only_once_they_are_indexed() -> None:
    """The engine finds a single id faster than the index."""
    found = ElementIndex(open_html('<p id="a">'))
    assert found.first('[id="a"]') == (False, None)
    assert found.ids == ["a"]
    assert found.first('[id="b"]') == (True, None)


def test_a_page_above_the_cap_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not all elements are indexed, none is reported as missing."""
    monkeypatch.setattr(element_index, "MAX_ELEMENTS", 3)
    found = ElementIndex(open_html('<p class="a" itemprop="b">' * 9))
    assert found.classes == ["a"] * 3
    assert found.first('meta[itemprop="c"]') == (False, None)
