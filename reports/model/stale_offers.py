"""Stale offers: catalog offers that are gone from the shop, as far as a run can tell."""

from collections import Counter
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from catalog.errors import UsageError
from catalog.models import Shop
from catalog.storage.findings import FindingFilter, fold_key, is_in_category
from catalog.storage.store import Store
from reports.causes.feed_quality import FeedQuality, UnseenOffer
from reports.statistics.coverage import OfferStatus, is_superseded, read_linked_pages
from reports.statistics.findings_reader import decimal_text

SORT_NAMES = ("value", "price", "title", "brand", "category", "url")


@dataclass
class StaleOffers:
    """The catalog offers that are gone from the shop.

    `undecided` counts further ones that the run did not see, by the outcome of looking up their
    pages: they may still be in the shop.
    """

    offers: list[UnseenOffer] = field(default_factory=list)
    undecided: Counter[OfferStatus] = field(default_factory=Counter)


def find_stale_offers(
    store: Store, shop: Shop, run_id: int, where: FindingFilter, sort: str = "value"
) -> StaleOffers:
    """Find the stale offers of a shop by its last finished run, the dearest first.

    A stale offer is paired with no offer of the shop, and its page is gone, leads elsewhere or
    shows no offer. Of the filter, category, brand and price count. Raises UsageError for another
    sort, and if a newer run has visited the pages since.
    """
    name = sort.removeprefix("-")
    if name not in SORT_NAMES:
        raise UsageError(
            f"stale offers cannot be sorted by {name!r}: choose from {', '.join(SORT_NAMES)}"
        )
    quality = FeedQuality()
    with store.read() as session:
        if is_superseded(session, shop, run_id):
            raise UsageError(
                f"a newer run has visited shop {shop.name!r} since: stale offers are known when "
                "a run has finished"
            )
        quality.read_unseen(session, shop, run_id, read_linked_pages(session, shop))
    stale = StaleOffers()
    for offer in quality.unseen:
        if not _is_kept(offer, where):
            continue
        if offer.status is OfferStatus.NOT_FOUND:
            stale.offers.append(offer)
        else:
            stale.undecided[offer.status] += 1
    _sort(stale.offers, name, is_descending=sort.startswith("-"))
    return stale


def _is_kept(offer: UnseenOffer, where: FindingFilter) -> bool:
    """Return True if a filter of findings keeps a catalog offer."""
    if where.category is not None and not is_in_category(offer.category, where.category):
        return False
    if where.brand is not None and fold_key(offer.brand) != fold_key(where.brand):
        return False
    if where.price_from is None and where.price_to is None:
        return True
    if offer.price is None:
        return False
    is_too_low = where.price_from is not None and offer.price < where.price_from
    is_too_high = where.price_to is not None and offer.price > where.price_to
    return not is_too_low and not is_too_high


def _sort(offers: list[UnseenOffer], name: str, *, is_descending: bool) -> None:
    """Sort offers in place; those without a value come last. `value`: the dearest first."""
    attribute = "price" if name == "value" else name
    value_of = attrgetter(attribute)
    known = [offer for offer in offers if value_of(offer) is not None]
    unknown = [offer for offer in offers if value_of(offer) is None]
    # A list by value begins with the greatest, any other with the least.
    known.sort(key=value_of, reverse=is_descending != (name == "value"))
    offers[:] = [*known, *unknown]


def stale_row(offer: UnseenOffer) -> dict[str, Any]:
    """Return a stale offer as JSON, in the shape of `scout offers --json`."""
    return {
        "url": offer.url,
        "title": offer.title,
        "price": decimal_text(offer.price),
        "currency": offer.currency,
        "brand": offer.brand,
        "category": offer.category,
        "ean": offer.ean,
        "han": offer.han,
        "sku": offer.sku,
        "verdict": "stale",
        "cause": offer.reason,
        "score": None,
        "nearest": None,
        "ref": offer.ref,
    }
