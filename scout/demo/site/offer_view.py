"""The view of an offer's page: the chosen variant, its alternatives, and other offers around it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from markupsafe import Markup

from scout.demo.assortment.offers import Offer
from scout.demo.site.script_data import attribute_json, data_layer, page_meta, page_state

RELATED = 8
"""Related offers on a page."""

REVIEWS = 4
"""Reviews on a page."""


@dataclass(frozen=True)
class OfferView:
    """The values of an offer's page for its template.

    `units` and `cents` are the price in two pieces. `choices` are label, path and whether it is the
    chosen one. `together` is an offer with a joint price, `parts` the offers of a bundle. `meta`,
    `layer`, `state` and `attribute` are the product data of the script template.
    """

    price: Decimal
    sku: str
    ean: str | None
    image: str
    units: str
    cents: str
    choices: tuple[tuple[str, str, bool], ...]
    related: tuple[Offer, ...]
    together: Offer | None
    parts: tuple[Offer, ...]
    reviews: tuple[tuple[str, int, str], ...]
    meta: dict[str, Any]
    layer: Markup
    state: dict[str, Any]
    attribute: str


def make_view(
    offer: Offer,
    neighbours: Sequence[Offer],
    by_number: Mapping[int, Offer],
    reviews: Sequence[Any],
    variant: str,
) -> OfferView:
    """Make the view of an offer's page.

    `neighbours` are the offers of its category, `reviews` those to choose from, `variant` the id in
    the query.
    """
    chosen = next((choice for choice in offer.variants if str(choice.id) == variant), None)
    shown = offer
    if chosen:
        shown = replace(offer, sku=chosen.sku, ean=chosen.ean, price=chosen.price)
    family = [neighbour for neighbour in neighbours if _is_same_family(neighbour, offer)]
    unrelated = [
        neighbour
        for neighbour in neighbours
        if not _is_same_family(neighbour, offer) and neighbour is not offer
    ]
    # Each offer has other related ones, so that listing them gives no common block to all pages.
    start = offer.number % max(1, len(unrelated) - RELATED - 1)
    related = unrelated[start : start + RELATED]
    units, cents = f"{shown.price:,.2f}".split(".")
    return OfferView(
        price=shown.price,
        sku=shown.sku,
        ean=shown.ean,
        image=offer.image,
        units=units.replace(",", ".") if offer.locale == "de" else units,
        cents=cents,
        choices=_choices(offer, family, variant),
        related=tuple(related),
        together=None if offer.parts else unrelated[start + RELATED],
        parts=tuple(by_number[number] for number in offer.parts),
        reviews=_select_reviews(reviews, offer.number),
        meta=page_meta(offer, family or [shown]),
        layer=Markup(data_layer(shown)),  # noqa: S704
        state=page_state(shown, related),
        attribute=attribute_json(shown),
    )


def _is_same_family(offer: Offer, member: Offer) -> bool:
    return member.family is not None and offer.family == member.family


def _choices(
    offer: Offer, family: Sequence[Offer], variant: str
) -> tuple[tuple[str, str, bool], ...]:
    if family:
        return tuple((member.size, member.path, member is offer) for member in family)
    # Without a variant in the query the page shows the first one.
    chosen = variant or (str(offer.variants[0].id) if offer.variants else "")
    choices = []
    for choice in offer.variants:
        path = f"{offer.path}?variant={choice.id}"
        choices.append((choice.label, path, str(choice.id) == chosen))
    return tuple(choices)


def _select_reviews(reviews: Sequence[Any], number: int) -> tuple[tuple[str, int, str], ...]:
    """Select consecutive reviews, from a start that differs from offer to offer."""
    start = number % len(reviews)
    rotated = [*reviews[start:], *reviews[:start]]
    return tuple((name, stars, text) for name, stars, text in rotated[:REVIEWS])
