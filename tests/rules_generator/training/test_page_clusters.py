"""Telling offer pages from the rest of a crawl: by what the examples share and other pages lack."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parser.rules.model import Template
from parser.templates.template_match import rank_templates, signature_similarity
from rules_generator.training.page_clusters import (
    Fingerprint,
    PageCluster,
    cluster_pages,
    template_signatures,
)

FRAME = [f"#frame{letter}" for letter in "abcdefgh"]
OFFER = [f"#offer{letter}" for letter in "abcdefghijkl"]
IN_STOCK = frozenset([*FRAME, *OFFER, "#add-to-cart"])
SOLD_OUT = IN_STOCK - {"#add-to-cart"}
CATEGORY = frozenset([*FRAME, "#tiles"])


def told(page: Fingerprint, background: list[Fingerprint]) -> bool:
    """Whether a page is taken for an offer where ten that are in stock are known."""
    (found,) = template_signatures([IN_STOCK] * 10, [PageCluster(tuple(range(10)))], background)
    return signature_similarity(page, found) >= found.threshold


@pytest.mark.parametrize("categories", [1, 2, 20, 500])
@pytest.mark.parametrize("sold_out", [0, 12, 100])
def test_offers_are_told_from_other_pages_however_few_those_are(
    categories: int, sold_out: int
) -> None:
    """Where offers that are sold out outnumber the pages that are none, it is still those that are told apart."""
    background = [IN_STOCK] * (200 - sold_out) + [SOLD_OUT] * sold_out + [CATEGORY] * categories
    assert [told(page, background) for page in (IN_STOCK, SOLD_OUT, CATEGORY)] == [
        True,
        True,
        False,
    ]


def test_where_all_pages_seen_are_offers_one_that_shares_little_with_them_is_none() -> None:
    """A page of an error, say, that is met later."""
    background = [IN_STOCK] * 50 + [SOLD_OUT] * 5
    assert told(SOLD_OUT, background)
    assert not told(frozenset({"#frame0", "#error"}), background)


@given(st.lists(st.frozensets(st.sampled_from([*FRAME, *OFFER, "#tiles", "#banner"])), max_size=30))
def test_the_examples_themselves_are_always_taken(background: list[Fingerprint]) -> None:
    """Whatever else the shop holds."""
    assert told(IN_STOCK, background)


LARGER = IN_STOCK | {f"#subscribe{letter}" for letter in "abcdefghijkl"}
OTHER = frozenset([*FRAME, "#builder", "#hero", "#buy", "#gallery", "#steps", "#faq"])
LAYOUTS = {"usual": IN_STOCK, "larger": LARGER, "other": OTHER}


@pytest.mark.parametrize(
    "background", [[], [CATEGORY] * 30, [IN_STOCK] * 60 + [LARGER] * 5 + [CATEGORY] * 3]
)
def test_each_layout_takes_its_own_pages(background: list[Fingerprint]) -> None:
    """Also where one has all that another has, and more; a page that lacks a little goes where it lacks least."""
    examples = [LAYOUTS[name] for name in LAYOUTS for _ in range(4)]
    found = template_signatures(examples, cluster_pages(examples), background)
    templates = [
        Template(name=name, signature=signature)
        for name, signature in zip(LAYOUTS, found, strict=True)
    ]
    for name, marks in LAYOUTS.items():
        assert rank_templates(marks, templates)[0].template.name == name
    assert rank_templates(SOLD_OUT, templates)[0].template.name == "usual"


def test_a_page_like_no_other_has_no_part_in_what_the_others_share() -> None:
    """It is read by the rules of the template that it is likest to, and does not make that take all pages."""
    examples = [OTHER] * 4 + [IN_STOCK] * 5 + [frozenset([*FRAME, "#wizard", "#steps", "#builder"])]
    clusters = cluster_pages(examples)
    assert [(cluster.members, cluster.strays) for cluster in clusters] == [
        ((4, 5, 6, 7, 8), ()),
        ((0, 1, 2, 3, 9), (9,)),
    ]
    _, other = template_signatures(examples, clusters, [])
    assert (
        signature_similarity(IN_STOCK, other)
        < other.threshold
        <= signature_similarity(OTHER, other)
    )


def test_what_tells_layouts_apart_makes_no_page_less_of_an_offer() -> None:
    """An offer of neither, which lacks only what one of them has beyond the other, is one of that one."""
    priced = IN_STOCK | {"#unit-price", "#unit-base"}
    examples = [priced] * 5 + [LARGER] * 5
    found = template_signatures(
        examples, cluster_pages(examples), [CATEGORY] * 20 + [priced] * 60 + [LARGER] * 20
    )
    assert len(found) == 2
    assert [
        any(signature_similarity(page, signature) >= signature.threshold for signature in found)
        for page in (IN_STOCK, CATEGORY)
    ] == [True, False]
