"""Each page of the corpus is read by rules learnt from the other pages of its host."""

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from catalog.models import Attribute, PageKind
from catalog.values import Hint, is_same_value, make_offer, offer_values
from parser.crawled_pages import CrawledPage
from parser.page.document import Document
from parser.page_reader import PageReading, read_page
from rules_generator.induction.inducer import induce
from rules_generator.training.examples import Example, TrainingExample

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
def open_page(folder: Path) -> tuple[Document, dict[str, str] | None]:
    """A page and the offer of its folder."""
    url = (folder / "url.txt").read_text().strip()
    return Document((folder / "page.html").read_bytes(), url), json.loads(
        (folder / "offer.json").read_text()
    )


def examples_of(host: Path, but: Path) -> Iterator[TrainingExample]:
    """The offer pages of a host except one."""
    for folder in sorted(host.iterdir()):
        document, labelled_values = (
            open_page(folder) if folder != but and folder.is_dir() else (None, None)
        )
        if document is not None and labelled_values is not None:
            known_values = {
                Attribute(name): value
                for name, value in labelled_values.items()
                if value is not None
            }
            currency = known_values.pop(Attribute.CURRENCY, None)
            offer = make_offer(
                known_values, Hint(base_url=document.url), url=document.url, currency=currency
            )
            example = Example.of(CrawledPage(0, document.url, None, str(folder)), offer)
            yield example.with_document(document)


def reading_of(folder: Path) -> PageReading:
    """The reading of a page by the rules of all other pages of its host."""
    background = [
        open_page(neighbour)[0]
        for neighbour in sorted(folder.parent.iterdir())
        if neighbour.is_dir()
    ]
    rules, _ = induce(list(examples_of(folder.parent, folder)), background)
    return read_page(open_page(folder)[0], rules)


def values_in(reading: PageReading) -> dict[str, str]:
    """The values of a reading by the attributes' names."""
    values = offer_values(reading.offer) if reading.offer is not None else {}
    return {name.value: texts[0] for name, texts in values.items()}


def correct_values(folder: Path) -> list[bool]:
    """Whether each value of a page is read correctly; without an offer, whether none is."""
    labelled_values, reading = open_page(folder)[1], reading_of(folder)
    if labelled_values is None:
        return [reading.kind is PageKind.OTHER]
    read_values = values_in(reading)
    return [
        name in read_values and is_same_value(Attribute(name), read_values[name], value)
        for name, value in labelled_values.items()
        if value is not None
    ]


@pytest.mark.parametrize("folder", PAGES, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_a_page_is_read_by_rules_of_its_neighbours(folder: Path) -> None:
    """Every value of the page is read correctly, and a page without an offer gives none.

    A category that stands in several elements, as breadcrumbs do, may stay unread, but is never
    read wrongly.
    """
    labelled_values, reading = open_page(folder)[1], reading_of(folder)
    if labelled_values is None:
        assert reading.kind is PageKind.OTHER
        return
    assert reading.offer is not None
    read_values = values_in(reading)
    wrong = {
        name: (read_values.get(name), value)
        for name, value in labelled_values.items()
        if value is not None
        and not (name in read_values and is_same_value(Attribute(name), read_values[name], value))
    }
    if "category" in wrong and wrong["category"][0] is None:
        wrong.pop("category")
    assert {
        name: pair for name, pair in wrong.items() if (folder.name, name) not in KNOWN_FAILURES
    } == {}
