"""The corpus is read by rules learnt from it: for each page, from all the other pages of its host."""

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from catalog.models import Attribute, PageKind
from catalog.values import Hint, fields, same, values_of
from parser.crawled_pages import CrawledPage
from parser.page.document import Document
from parser.read import PageReading, read
from rules_generator.induction.induce import induce
from rules_generator.training.examples import Example
from rules_generator.training.training_example import Taught

CORPUS = Path(__file__).parent
PAGES = sorted(path.parent for path in CORPUS.glob("*/*/page.html"))

KNOWN_FAILURES = {
    ("agotado", "availability"): "all its neighbours are in stock, so any constant reads them",
    (
        "broken-json-ld",
        "description",
    ): "its neighbours teach the description of their JSON-LD alone",
}


@lru_cache
def opened(folder: Path) -> tuple[Document, dict[str, str] | None]:
    """A page and what it says."""
    url = (folder / "url.txt").read_text().strip()
    return Document((folder / "page.html").read_bytes(), url), json.loads(
        (folder / "offer.json").read_text()
    )


def teachers(host: Path, but: Path) -> Iterator[Taught]:
    """The offer pages of a host but one."""
    for folder in sorted(host.iterdir()):
        document, said = opened(folder) if folder != but and folder.is_dir() else (None, None)
        if document is not None and said is not None:
            told = {Attribute(name): value for name, value in said.items() if value is not None}
            currency = told.pop(Attribute.CURRENCY, None)
            offer = fields(told, Hint(base_url=document.url), url=document.url, currency=currency)
            yield Taught(
                Example.of(CrawledPage(0, document.url, None, str(folder)), offer), document
            )


def reading_of(folder: Path) -> PageReading:
    """A page as it is read by what all other pages of its host teach."""
    background = [opened(other)[0] for other in sorted(folder.parent.iterdir()) if other.is_dir()]
    rules, _ = induce(list(teachers(folder.parent, folder)), background)
    return read(opened(folder)[0], rules)


def found_in(reading: PageReading) -> dict[str, str]:
    """What was read, by the attributes' names."""
    values = values_of(reading.offer) if reading.offer is not None else {}
    return {name.value: texts[0] for name, texts in values.items()}


def read_by_neighbours(folder: Path) -> list[bool]:
    """For each value of a page whether it is read rightly; for a page without an offer whether none is read."""
    said, reading = opened(folder)[1], reading_of(folder)
    if said is None:
        return [reading.kind is PageKind.OTHER]
    found = found_in(reading)
    return [
        name in found and same(Attribute(name), found[name], value)
        for name, value in said.items()
        if value is not None
    ]


@pytest.mark.parametrize("folder", PAGES, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_a_page_is_read_by_what_its_neighbours_teach(folder: Path) -> None:
    """Every value that the page has is read rightly, and a page without an offer gives none.

    A category that stands in several elements, as breadcrumbs do, may stay unread, but is never read wrongly.
    """
    said, reading = opened(folder)[1], reading_of(folder)
    if said is None:
        assert reading.kind is PageKind.OTHER
        return
    assert reading.offer is not None
    found = found_in(reading)
    wrong = {
        name: (found.get(name), value)
        for name, value in said.items()
        if value is not None and not (name in found and same(Attribute(name), found[name], value))
    }
    if "category" in wrong and wrong["category"][0] is None:
        wrong.pop("category")
    assert {
        name: pair for name, pair in wrong.items() if (folder.name, name) not in KNOWN_FAILURES
    } == {}
