"""Breadcrumbs in structured data."""

from catalog.models import Attribute
from parser.heuristics.heuristic_reader import read_by_heuristics
from parser.page.document import Document


def test_position_that_is_no_number() -> None:
    """A step whose position is a raised or very long number keeps its place; the page is read all the same."""
    steps = [("²", "Home"), ("9" * 500, "Lighting"), ("3", "Lamps")]
    items = ",".join(f'{{"position": "{position}", "name": "{name}"}}' for position, name in steps)
    data = f'{{"@type": "BreadcrumbList", "itemListElement": [{items}]}}'
    page = f'<h1>Aurora</h1><script type="application/ld+json">{data}</script>'
    read = read_by_heuristics(Document(page, "https://shop.example/p/1"))
    assert read[Attribute.CATEGORY].value == "Lighting > Lamps"
