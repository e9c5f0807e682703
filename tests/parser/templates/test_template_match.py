"""Template matching by page fingerprints."""

import pytest

from parser.page.document import Document
from parser.rules.model import RuleSet, Signature, Template
from parser.templates.template_match import (
    TemplateMatcher,
    page_fingerprint,
    rank_templates,
    signature_similarity,
)
from tests.pages import article_page, products, text_page

ONE, TWO = products(2)
URL = "https://shop.example/de/p/1"


def test_pages_of_a_template_have_the_same_features() -> None:
    """Numbers are folded."""
    assert page_fingerprint(Document(text_page(ONE), URL)) - page_fingerprint(
        Document(text_page(TWO), URL)
    ) == {".notice"}


def test_features_of_data_schema_and_folders() -> None:
    """Types of schema.org data, schema.org names and the URL's folders are features."""
    thing = '<script type="application/ld+json">{"@type": "Product", "name": "x"}</script>'
    page = f'<meta property="og:type" content="product"><b itemprop="sku">1</b>{thing}'
    marks = page_fingerprint(Document(page, URL))
    assert {
        "og:type=product",
        "b[itemprop=sku]",
        "ld+json Product",
        "url:/de/",
        "url:/de/p/",
    } <= marks


def test_similarity_is_the_weighted_share_of_features() -> None:
    """A signature without features matches every page."""
    signature = Signature(marks={"a": 3.0, "b": 1.0}, threshold=0.5)
    assert signature_similarity(frozenset({"a"}), signature) == 0.75
    assert signature_similarity(frozenset(), Signature()) == 1.0


def test_state_in_a_template_is_a_feature_if_a_signature_has_it() -> None:
    """Templates are searched only then."""
    mark = 'template[data-varname="__STATE__"] ::content script'
    state = Document(
        "<template data-varname='__STATE__'><script>{\"a\": 1}</script></template>", URL
    )
    plain = Document("<template data-varname='__STATE__'><script>a()</script></template>", URL)
    assert mark in page_fingerprint(state)
    matcher = TemplateMatcher(
        [Template(name="1", signature=Signature(marks={mark: 1.0}, threshold=0.5))]
    )
    assert [matcher.rank(document)[0].similarity for document in (state, plain)] == [1.0, 0.0]
    unread = Document(text_page(ONE), URL)
    TemplateMatcher(
        [Template(name="1", signature=Signature(marks={"url:/de/": 1.0}, threshold=0.5))]
    ).rank(unread)
    assert "in_templates" not in vars(unread.scripts)


DOORS = [
    "https://shop.example",
    "https://shop.example/",
    "https://shop.example/index.html",
    "https://shop.example/home",
]


@pytest.mark.parametrize("url", DOORS)
def test_the_home_page_is_no_offer_page(url: str) -> None:
    """It may show a whole product; the product has a page of its own."""
    rules = RuleSet(templates=(Template(name="1"),))
    assert TemplateMatcher(rules.templates).rank(Document(text_page(ONE), url)) == []


def test_a_page_matches_the_most_similar_template() -> None:
    """Each page matches the template whose features it shows, or none."""
    rules = RuleSet(
        templates=(
            Template(name="text", signature=Signature(marks={".product-view": 1}, threshold=0.5)),
            Template(name="data", signature=Signature(marks={".item-box": 1}, threshold=0.5)),
        )
    )
    matcher = TemplateMatcher(rules.templates)
    assert [
        (ranked.template.name, ranked.matches)
        for ranked in matcher.rank(Document(text_page(ONE), URL))
    ] == [("text", True), ("data", False)]
    assert not any(ranked.matches for ranked in matcher.rank(Document(article_page(), URL)))


def test_a_template_without_features_matches_the_remaining_pages() -> None:
    """It ranks behind templates that match, and before those that do not."""
    marked = Template(
        name="marked", signature=Signature(marks={"a": 1, "b": 1, "c": 1}, threshold=0.6)
    )
    bare = Template(name="bare")
    orders = [
        [ranked.template.name for ranked in rank_templates(marks, [bare, marked])]
        for marks in ({"a", "b"}, {"a"}, set())
    ]
    assert orders == [["marked", "bare"], ["bare", "marked"], ["bare", "marked"]]
