"""Candidates: from one place to the selectors that may hold on other pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from parser.page.document import Document
from parser.rules.selector import AttributeAt, JsonAt, TextAt
from rules_generator.candidates.selectors import MAX_SELECTORS, selectors_for
from rules_generator.locate.occurrences import Occurrence

PAGE = """<body><div id="shop"><div class="product p-77" id="item-77"><h1 data-name>Lamp</h1>
<dl><dt>Brand</dt><dd>Ardwen</dd><dt>Maker:</dt><dd class="by">Ardwen</dd>
<dt>EAN</dt><dd class="c1 code">4006</dd></dl><ul><li>A: 1</li><li>EAN: 4006</li></ul>
<p class="x shop-price-1-x-selling">4006</p><select><option value="1"><option selected value="2"></select>
<meta itemprop="sku" content="S"><x:y>odd <b id="ctl00_Main1_lblEan">4006</b></x:y></div></div></body>"""


def made(css: str, name: str | None = None) -> list[str]:
    """The CSS of the selectors made for the element that `css` finds."""
    node = Document(PAGE, "https://shop.example/").first(css)
    assert node is not None
    return [
        selector.css
        for selector in selectors_for(
            Occurrence(Attribute.EAN, "plain", True, node=node, name=name)
        )
    ]


HELD = [
    ("its own class without digits", "dd.code", "dd.code"),
    ("a class of an element above", "h1", "div.product h1"),
    ("an id above, its digits left out", "h1", 'div[id^="item-"] h1'),
    ("what stands before and behind an id's digits", "b", 'b[id^="ctl"][id$="_lblEan"]'),
    (
        "what stands before and behind a class's digits",
        "p",
        'p[class*="shop-price-"][class*="-x-selling"]',
    ),
    ("a data attribute", "h1", "h1[data-name]"),
    ("the label beside", "dd.code", 'dt:lexbor-contains("EAN" i) + dd'),
    (
        "a colon is part of a label: makers have numbers, too",
        "dd.by",
        'dt:lexbor-contains("Maker:" i) + dd',
    ),
    ("the label within", "li:nth-of-type(2)", 'li:lexbor-contains("EAN:" i)'),
    ("a schema.org name", "meta", 'meta[itemprop="sku"]'),
    ("the option that is chosen", "option[value='2']", "option[selected]"),
]


@pytest.mark.parametrize(("name", "at", "expected"), HELD, ids=[case[0] for case in HELD])
def test_anchors_at_what_stays(name: str, at: str, expected: str) -> None:
    """Among the candidates is the one that a person would write."""
    assert expected in made(at)


def test_the_browsers_own_path_is_one_of_them() -> None:
    """As the thesis has it, from the root."""
    assert any(css.startswith("html > body:nth-of-type(1)") for css in made("dd.code"))


def test_the_kind_follows_from_the_place() -> None:
    """An attribute, a text, a value in a block."""
    node = Document(PAGE, "https://shop.example/").first("h1")
    kinds = [
        type(selectors_for(place)[0])
        for place in (
            Occurrence(Attribute.SKU, "plain", True, node=node, name="content"),
            Occurrence(Attribute.SKU, "plain", True, node=node),
            Occurrence(Attribute.SKU, "plain", True, css="script", block="x =", path="$.a"),
        )
    ]
    assert kinds == [AttributeAt, TextAt, JsonAt]


def every_element(document: Document) -> list[LexborNode]:
    """All elements of a page."""
    return list(document.tree.root.traverse()) if document.tree.root else []


@given(
    tags=st.lists(
        st.sampled_from(["div", "x:y", "a.b", "p", "esi:include", "o\\p", "h1"]), max_size=6
    ),
    name=st.text(alphabet="ab1-_:\"'\\\n .#", max_size=12),
)
def test_every_candidate_is_a_selector_that_finds_something(tags: list[str], name: str) -> None:
    """Whatever tags, ids and classes a page has, each selector made for a place can be run."""
    quoted = name.replace("&", "&amp;").replace('"', "&quot;")
    page = "".join(
        f'<{tag} id="{quoted}" class="{quoted}" data-x="{quoted}">Label: t' for tag in tags
    )
    document = Document(page, "https://shop.example/")
    for node in every_element(document):
        selectors = selectors_for(Occurrence(Attribute.SKU, "plain", True, node=node))
        assert len(selectors) <= MAX_SELECTORS
        for selector in selectors:
            document.find(selector)
