"""Texts of elements, in time that grows with the page and not with its square."""

import pytest

from catalog.runtime.limits.processor_time import ProcessorTimeLimit
from parser.heuristics.heuristic_reader import read_by_heuristics
from parser.page.document import Document
from parser.page.texts import MIN_NODES, NODES_PER_CHAR, element_text

PAGE = "https://shop.example/p/1"
OFFER = "<title>Tin mug</title><h1>Tin mug</h1><p class=price>$24.50</p>"


def test_an_element_of_very_many_elements_has_no_short_text() -> None:
    """Reading stops where an element holds too many others for its few characters."""
    many = NODES_PER_CHAR * 10 + MIN_NODES + 1
    document = Document(f"<p>{'<i></i>' * many}mug</p>", PAGE)
    paragraph = document.tree.css_first("p")
    assert paragraph is not None
    assert element_text(paragraph, 10) is None
    assert element_text(paragraph) == "mug"


@pytest.mark.parametrize("tag", ["div", "del", "a"])
def test_thousands_of_nested_elements(tag: str) -> None:
    """Each of them is asked for its text; the page's offer is read in seconds all the same."""
    document = Document(OFFER + f"<{tag}>" * 5_000, PAGE)
    with ProcessorTimeLimit(5):
        values = read_by_heuristics(document)
    assert values
