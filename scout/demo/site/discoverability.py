"""Which way leads to an offer: a category page, the sitemap, or only an article, as in a shop that has grown."""

from collections.abc import Sequence
from dataclasses import dataclass

from scout.demo.assortment.offers import Offer
from scout.demo.assortment.wordlists import chance

SHARE_IN_SITEMAP = 0.82
ONLY_IN_SITEMAP = 4
TOLD = {"de": "kaffeemaschinen", "en": "backpacks"}


@dataclass(frozen=True)
class Reach:
    """Canonical paths of offers: on category pages, in the sitemap; per locale the one that only an article names."""

    shelved: frozenset[str]
    mapped: frozenset[str]
    told: dict[str, Offer]


def make_reach(seed: int, offers: Sequence[Offer]) -> Reach:
    """The ways of the shop of that seed; every offer has at least one."""
    draw = chance(seed, "reach")
    linked = {number for offer in offers for number in offer.parts}
    single = [
        offer
        for offer in offers
        if not (
            offer.family
            or offer.variants
            or offer.parts
            or offer.old_price
            or offer.number in linked
        )
    ]
    told = {
        locale: draw.choice([offer for offer in single if offer.category.slug == TOLD[locale]])
        for locale in TOLD
    }
    hidden = draw.sample([offer for offer in single if offer not in told.values()], ONLY_IN_SITEMAP)
    rest = [offer.path for offer in offers if offer not in told.values() and offer not in hidden]
    mapped = set(draw.sample(rest, round(len(rest) * SHARE_IN_SITEMAP))) | {
        offer.path for offer in hidden
    }
    first = {offer.family or offer.path for offer in offers}
    return Reach(frozenset(path for path in rest if path in first), frozenset(mapped), told)
