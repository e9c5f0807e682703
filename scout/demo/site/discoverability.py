"""The discoverability of offers: by listing pages, by the sitemap, or only by an article."""

from collections.abc import Sequence
from dataclasses import dataclass

from scout.demo.assortment.offers import Offer
from scout.demo.assortment.random_values import seeded_random

SHARE_IN_SITEMAP = 0.82
"""Share of the offers linked from a listing page or their family that the sitemap names too."""

ONLY_IN_SITEMAP = 4
"""Offers that only the sitemap names."""

ARTICLE_CATEGORIES = {"de": "kaffeemaschinen", "en": "backpacks"}
"""Per locale the category of the offer that only an article links to."""


@dataclass(frozen=True)
class Discoverability:
    """Canonical paths on listing pages and in the sitemap.

    Per locale the offer that only an article links to.
    """

    listed: frozenset[str]
    in_sitemap: frozenset[str]
    article_only: dict[str, Offer]


def make_discoverability(seed: int, offers: Sequence[Offer]) -> Discoverability:
    """Draw how each offer can be discovered; every offer has at least one way."""
    generator = seeded_random(seed, "reach")
    part_numbers = {number for offer in offers for number in offer.parts}
    unlinked = [
        offer for offer in offers if _is_unlinked(offer) and offer.number not in part_numbers
    ]
    article_only = {}
    for locale, category in ARTICLE_CATEGORIES.items():
        candidates = [offer for offer in unlinked if offer.category.slug == category]
        article_only[locale] = generator.choice(candidates)
    hidden_candidates = [offer for offer in unlinked if offer not in article_only.values()]
    hidden = generator.sample(hidden_candidates, ONLY_IN_SITEMAP)
    listed = []
    for offer in offers:
        if offer not in article_only.values() and offer not in hidden:
            listed.append(offer.path)
    in_sitemap = set(generator.sample(listed, round(len(listed) * SHARE_IN_SITEMAP)))
    in_sitemap |= {offer.path for offer in hidden}
    # Of a family only the first member stands on listing pages; its page links to the others.
    family_heads = {offer.family or offer.path for offer in offers}
    return Discoverability(
        listed=frozenset(path for path in listed if path in family_heads),
        in_sitemap=frozenset(in_sitemap),
        article_only=article_only,
    )


def _is_unlinked(offer: Offer) -> bool:
    """Return True if no family, bundle or page of deals links to the offer."""
    return not (offer.family or offer.variants or offer.parts or offer.old_price)
