"""What a page says of its elements: the first element of a selector is the one that the engine finds."""

from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.markup import open_html
from parser import seen
from parser.seen import Seen

TAGS = ["div", "span", "meta", "a", "p", "li"]
CLASSES = ["a", "b", "A", "a-b", "ab"]
NAMES = ['id="x"', 'id="X"', 'itemprop="a"', 'itemprop="b"', 'name="a"', 'property="a"', 'itemtype="a"', "data-a"]
ELEMENT = st.builds(
    lambda tag, classes, name, inner: f'<{tag} class="{classes}" {name}>{inner}</{tag}>',
    st.sampled_from(TAGS),
    st.lists(st.sampled_from(CLASSES), max_size=3).map(" ".join),
    st.sampled_from(NAMES),
    st.sampled_from(["", "x", "<b class=a>", "<div class='b a'>", "</div>"]),
)
STEP = st.builds(
    lambda tag, classes, name, other: tag + "".join(f".{one}" for one in classes) + name + other,
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
    """With and without a doctype, where classes are taken in any case."""
    tree = open_html(doctype + page)
    found = Seen(tree)
    for css in selectors:
        known, node = found.first(css)
        if known:
            first = tree.css_first(css)
            assert (node and node.mem_id) == (first and first.mem_id)


@lru_cache
def page() -> Seen:
    """A page with an offer."""
    return Seen(open_html('<div class="p q"><h1 id="name">Lamp</h1><meta itemprop="sku" content="7"></div><p class=p>'))


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
def test_what_is_answered_without_a_walk(css: str, known: bool) -> None:
    """Ids and names."""
    assert page().first(css)[0] is known


def test_nothing_is_answered_of_pages_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not all elements were looked at, none is said to be missing."""
    monkeypatch.setattr(seen, "MOST_NODES", 3)
    found = Seen(open_html('<p class="a" itemprop="b">' * 9))
    assert list(found.classes.values()) == [0]
    assert found.first('meta[itemprop="c"]') == (False, None)
