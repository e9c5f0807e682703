"""Cold start on shops of common systems: their offers teach and are read; lists, articles and carts are neither."""

import pytest

from catalog.models import Attribute, PageKind
from catalog.values import Hint, normalise, value_key
from parser.crawled_pages import CrawledPage
from parser.heuristics.heuristic_reader import read_page_by_heuristics
from parser.heuristics.titles import find_site_texts
from parser.page.document import Document
from parser.page_reader import read_page
from rules_generator.induction.inducer import induce
from rules_generator.induction.self_training import self_train
from tests.shop_systems import SHOP_SYSTEMS, ShopSystem

ROOT = "https://haus-wendel.example"
BY_NAME = {system.name: system for system in SHOP_SYSTEMS}


def _documents(system: ShopSystem) -> dict[str, Document]:
    pages = {path: html for path, (_, html) in system.offer_pages().items()} | system.other_pages()
    # Offers and other pages in turn, as in a shuffled crawl.
    ordered = sorted(pages, key=lambda path: (sum(map(ord, path)) * 7919) % 1009)
    return {path: Document(pages[path], f"{ROOT}{path}") for path in ordered}


@pytest.mark.parametrize("name", BY_NAME)
def test_offers_have_evidence_and_values(name: str) -> None:
    """The heuristics read each offer of a shop, and see no offer in its other pages."""
    system = BY_NAME[name]
    documents = _documents(system)
    site = find_site_texts(list(documents.values()))
    for path, (good, _) in system.offer_pages().items():
        reading = read_page_by_heuristics(documents[path], site)
        assert reading.evidence, path
        for attribute in map(Attribute, system.states):
            expected = normalise(attribute, getattr(good, attribute.value), Hint(base_url=ROOT))
            read = reading.values[attribute].value
            assert expected is not None
            assert value_key(attribute, read) == value_key(attribute, expected), (path, attribute)
    for path in system.other_pages():
        assert not read_page_by_heuristics(documents[path], site).evidence, path


@pytest.mark.parametrize("name", BY_NAME)
def test_cold_start_finds_exactly_the_offers(name: str) -> None:
    """Only offers teach, and the rules learnt from them recognise all offers and nothing else."""
    system = BY_NAME[name]
    documents = _documents(system)
    offers = set(system.offer_pages())
    crawled = [
        (CrawledPage(number, document.url, None, path), document)
        for number, (path, document) in enumerate(documents.items(), 1)
    ]
    training = self_train(crawled)
    assert {example.page.body for example in training.examples} <= offers
    rules, _ = induce(training.examples, list(documents.values()))
    read = {
        path
        for path, document in documents.items()
        if read_page(document, rules).kind is PageKind.OFFER
    }
    assert read == offers
