"""Groups of related offers: variants, families and bundles, linked as in real shops."""

import random
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from scout.demo.assortment.offers import Offer, Variant
from scout.demo.assortment.random_values import make_ean, slug

SHOE_SIZES = ("40", "41", "42.5", "44")

FAMILY_SIZE = 3
"""Storage sizes of a phone, each an offer of its own."""

FIRST_VARIANT_ITEM = 60_000
"""First item number in the GTINs of variants: offers have lower ones."""

FIRST_BUNDLE_NUMBER = 50_000
"""First article number of bundles: categories have lower ones."""

BUNDLE_NUMBER_STEP = 17
"""Distance of the article numbers of bundles."""

MAX_BUNDLED_PRICE = 600
"""Only offers below this price are sold in bundles."""


def add_variants(
    offer: Offer, labels: Sequence[str] | None, company: int, generator: random.Random
) -> Offer:
    """Give an offer variants by the labels, or by shoe sizes where None.

    Its canonical link leaves the choice out.

    `company` is the company number in the GTINs.
    """
    variants = []
    for index, label in enumerate(labels or SHOE_SIZES):
        price = offer.price + Decimal(generator.choice([0, 0, 5])) * index
        item = FIRST_VARIANT_ITEM + offer.number % 10_000 * 4 + index
        variants.append(
            Variant(
                id=offer.number * 10 + index,
                label=label,
                sku=f"{offer.sku}-{slug(label)[:3].upper()}",
                ean=make_ean(company, item) if offer.ean else None,
                price=price,
            )
        )
    specs = offer.specs
    if labels:
        # The specification table must not name one colour where several are on offer.
        specs = tuple((label, value) for label, value in specs if value != offer.colour)
    first = variants[0]
    return replace(offer, sku=first.sku, ean=first.ean, specs=specs, variants=tuple(variants))


def make_families(offers: Sequence[Offer], generator: random.Random) -> list[Offer]:
    """Group phones of three storage sizes: the first has the model's path, the others a variant."""
    members: list[Offer] = []
    for start in range(0, len(offers), FAMILY_SIZE):
        first, step = offers[start], Decimal(generator.choice([60, 100, 130]))
        base = f"/en/products/{slug(first.title.replace(first.size, ''))}"
        for index, offer in enumerate(offers[start : start + FAMILY_SIZE]):
            path = f"{base}?variant={offer.number}" if index else base
            price = first.price + index * step
            members.append(replace(offer, path=path, family=base, price=price, old_price=None))
    return members


def make_bundles(offers: Sequence[Offer], generator: random.Random) -> list[Offer]:
    """Make a bundle of two offers per category with single items, cheaper than both together."""
    single = [offer for offer in offers if _is_single(offer) and offer.price < MAX_BUNDLED_PRICE]
    bundles = []
    for index, category in enumerate(dict.fromkeys(offer.category.slug for offer in single)):
        candidates = [offer for offer in single if offer.category.slug == category]
        first, second = generator.sample(candidates, 2)
        number = FIRST_BUNDLE_NUMBER + BUNDLE_NUMBER_STEP * index
        bundles.append(_make_bundle(first, second, number))
    return bundles


def _is_single(offer: Offer) -> bool:
    return not offer.variants and not offer.family


def _make_bundle(first: Offer, second: Offer, number: int) -> Offer:
    names = [f"{offer.brand} {offer.model} {offer.size}" for offer in (first, second)]
    title = f"Set: {names[0]} + {names[1]}"
    return replace(
        first,
        number=number,
        path=first.category.offer_path(slug(title), number),
        title=title,
        # A tenth off the sum, then the usual ending.
        price=(first.price + second.price) * 9 // 10 + Decimal("0.90"),
        sku=f"SET-{number}",
        ean=None,
        han=None,
        description=f"{first.description} {second.description}",
        specs=(),
        available=True,
        old_price=None,
        alternates=(),
        parts=(first.number, second.number),
    )
