"""Examples of the made-up shop, opened."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from catalog.models import OfferFields
from parser.crawled_pages import CrawledPage
from parser.page.document import Document
from rules_generator.training.examples import Example, TrainingExample
from tests.pages import Product, products


def known(product: Product, **changes: object) -> OfferFields:
    """The catalog's offer of a product, with some fields changed."""
    fields: dict[str, object] = {
        "title": product.title, "price": Decimal(product.price), "currency": "EUR", "brand": product.brand, "sku": product.sku,
        "ean": product.ean, "url": f"https://shop.example/p/{product.number}",
    }  # fmt: skip
    return OfferFields(**(fields | changes))


def make_example(product: Product, page: str, **changes: object) -> TrainingExample:
    """Return a training example of a product: its catalog offer and its page."""
    url = f"https://shop.example/p/{product.number}"
    example = Example.of(CrawledPage(product.number, url, None, ""), known(product, **changes))
    return example.with_document(Document(page, url))


@pytest.fixture
def make_examples() -> Callable[..., list[TrainingExample]]:
    """Make training examples of the first `count` products by a page builder."""

    def make(
        count: int, build: Callable[[Product], str], **changes: object
    ) -> list[TrainingExample]:
        return [make_example(product, build(product), **changes) for product in products(count)]

    return make
