"""Variants, families and sets: offers that come in several, in the ways real shops link them."""

import random
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from scout.demo.assortment.offers import Offer, Variant
from scout.demo.assortment.wordlists import make_ean, slug

SHOE_SIZES = ("40", "41", "42.5", "44")
STORAGES = 3


def with_variants(
    offer: Offer, labels: Sequence[str] | None, company: int, draw: random.Random
) -> Offer:
    """The offer in several colours or, without labels, shoe sizes; the canonical link leaves the choice out."""
    made = []
    for place, label in enumerate(labels or SHOE_SIZES):
        dearer = offer.price + Decimal(draw.choice([0, 0, 5])) * place
        ean = make_ean(company, 60_000 + offer.number % 10_000 * 4 + place) if offer.ean else None
        made.append(
            Variant(
                offer.number * 10 + place,
                label,
                f"{offer.sku}-{slug(label)[:3].upper()}",
                ean,
                dearer,
            )
        )
    specs = tuple(
        (label, value) for label, value in offer.specs if not labels or value != offer.colour
    )
    return replace(offer, sku=made[0].sku, ean=made[0].ean, specs=specs, variants=tuple(made))


def families(offers: Sequence[Offer], draw: random.Random) -> list[Offer]:
    """Phones in three storages: the smallest stands on the model's page, the others on canonical links of their own."""
    made: list[Offer] = []
    for start in range(0, len(offers), STORAGES):
        first, step = offers[start], Decimal(draw.choice([60, 100, 130]))
        base = f"/en/products/{slug(first.title.replace(first.size, ''))}"
        for place, offer in enumerate(offers[start : start + STORAGES]):
            path = f"{base}?variant={offer.number}" if place else base
            price = first.price + place * step
            made.append(replace(offer, path=path, family=base, price=price, old_price=None))
    return made


def bundles(offers: Sequence[Offer], draw: random.Random) -> list[Offer]:
    """A set of two of one category, below the sum of its parts, for each category that sells single things."""
    made = []
    plain = [
        offer for offer in offers if not offer.variants and not offer.family and offer.price < 600
    ]
    for place, slug_of in enumerate(dict.fromkeys(offer.category.slug for offer in plain)):
        head, other = draw.sample([offer for offer in plain if offer.category.slug == slug_of], 2)
        made.append(_bundle(head, other, 50_000 + 17 * place))
    return made


def _bundle(head: Offer, other: Offer, number: int) -> Offer:
    title = f"Set: {head.brand} {head.model} {head.size} + {other.brand} {other.model} {other.size}"
    return replace(
        head,
        number=number,
        path=head.category.offer_path(slug(title), number),
        title=title,
        price=(head.price + other.price) * 9 // 10 + Decimal("0.90"),
        sku=f"SET-{number}",
        ean=None,
        han=None,
        description=f"{head.description} {other.description}",
        specs=(),
        available=True,
        old_price=None,
        alternates=(),
        parts=(head.number, other.number),
    )
