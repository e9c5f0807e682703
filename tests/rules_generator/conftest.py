"""Examples of the made-up shop, opened."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from catalog.models import OfferFields
from parser.crawled_pages import CrawledPage
from parser.page.document import Document
from rules_generator.training.examples import Example
from rules_generator.training.training_example import TrainingExample
from tests.pages import Product, products


def known(one: Product, **changes: object) -> OfferFields:
    """The catalog's offer of a product, with some fields changed."""
    fields: dict[str, object] = {
        "title": one.title, "price": Decimal(one.price), "currency": "EUR", "brand": one.brand, "sku": one.sku,
        "ean": one.ean, "url": f"https://shop.example/p/{one.number}",
    }  # fmt: skip
    return OfferFields(**(fields | changes))


def taught(one: Product, page: str, **changes: object) -> TrainingExample:
    """A product as a teacher: what the catalog knows of it, and its page."""
    url = f"https://shop.example/p/{one.number}"
    return TrainingExample(
        Example.of(CrawledPage(one.number, url, None, ""), known(one, **changes)),
        Document(page, url),
    )


@pytest.fixture
def teachers() -> Callable[..., list[TrainingExample]]:
    """Makes teachers of the first `count` products by a page builder."""

    def make(
        count: int, build: Callable[[Product], str], **changes: object
    ) -> list[TrainingExample]:
        return [taught(one, build(one), **changes) for one in products(count)]

    return make
