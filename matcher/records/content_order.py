"""An order of offers that depends on their content only, so that results do not depend on theirs."""

from collections.abc import Sequence
from dataclasses import replace

from catalog.models import OfferFields
from matcher.records.record import Record, build_records


def build_ordered_records(
    offers: Sequence[OfferFields], products: Sequence[str | None] | None = None
) -> tuple[list[int], list[Record]]:
    """Build the records of offers in the order of their content, and return it with them.

    `products` gives the product of each offer.
    """
    order = order_by_content(offers)
    records = build_records(offers[index] for index in order)
    if products:
        for row, index in enumerate(order):
            records[row] = replace(records[row], product=products[index] or "")
    return order, records


def order_by_content(offers: Sequence[OfferFields]) -> list[int]:
    """Return the indices of offers in the order of their content."""
    return order_by_keys([content_order_key(offer) for offer in offers])


def order_by_keys(keys: Sequence[tuple[str, ...]]) -> list[int]:
    """Return the indices of keys in their order."""
    return sorted(range(len(keys)), key=keys.__getitem__)


def content_order_key(offer: OfferFields) -> tuple[str, ...]:
    """Return the key by which an offer is ordered."""
    fields = (
        offer.url,
        offer.title,
        offer.sku,
        offer.ean,
        offer.price,
        offer.brand,
        offer.han,
        offer.images,
        offer.description,
        offer.currency,
        offer.category,
        offer.availability,
    )
    return tuple(map(str, fields))
