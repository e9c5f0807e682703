"""What an offer's page shows: the chosen variant, its siblings, and other offers around it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from markupsafe import Markup

from scout.demo.assortment.offers import Offer
from scout.demo.site.scripts import attribute_json, data_layer, page_meta, page_state


@dataclass(frozen=True)
class View:
    """An offer's page, ready for its template. `choices` are label, path and whether it is the chosen one."""

    price: Decimal
    sku: str
    ean: str | None
    image: str
    whole: str
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
    near: Sequence[Offer],
    by_number: Mapping[int, Offer],
    praise: Sequence[Any],
    variant: str,
) -> View:
    """The page of an offer; `near` are its category's offers, `praise` the reviews to choose from."""
    chosen = next((choice for choice in offer.variants if str(choice.id) == variant), None)
    shown = replace(offer, sku=chosen.sku, ean=chosen.ean, price=chosen.price) if chosen else offer
    siblings = [other for other in near if offer.family and other.family == offer.family]
    others = [
        other
        for other in near
        if not (offer.family and other.family == offer.family) and other is not offer
    ]
    start = offer.number % max(1, len(others) - 9)
    whole, cents = f"{shown.price:,.2f}".split(".")
    return View(
        price=shown.price,
        sku=shown.sku,
        ean=shown.ean,
        image=offer.image,
        whole=whole.replace(",", ".") if offer.locale == "de" else whole,
        cents=cents,
        choices=_choices(offer, siblings, variant),
        related=tuple(others[start : start + 8]),
        together=others[start + 8] if not offer.parts else None,
        parts=tuple(by_number[number] for number in offer.parts),
        reviews=tuple(
            (name, stars, text) for name, stars, text in _turned(praise, offer.number)[:4]
        ),
        meta=page_meta(offer, siblings or [shown]),
        layer=Markup(data_layer(shown)),  # noqa: S704
        state=page_state(shown, others[start : start + 8]),
        attribute=attribute_json(shown),
    )


def _choices(
    offer: Offer, siblings: Sequence[Offer], variant: str
) -> tuple[tuple[str, str, bool], ...]:
    if siblings:
        return tuple((other.size, other.path, other is offer) for other in siblings)
    first = str(offer.variants[0].id) if offer.variants else ""
    return tuple(
        (choice.label, f"{offer.path}?variant={choice.id}", str(choice.id) == (variant or first))
        for choice in offer.variants
    )


def _turned(praise: Sequence[Any], by: int) -> list[Any]:
    return [*praise[by % len(praise) :], *praise[: by % len(praise)]]
