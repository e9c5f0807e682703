"""Match one shop's offers with the catalog's offers of the same merchant.

The pipeline groups pages by offer, finds candidate pairs and computes their features. A classifier
trained on this catalog scores them, and links and identifiers are weighed. Offers are assigned one
to one, and each gets a verdict with reasons. The result does not depend on the order of the input,
because both sides are sorted by content first.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from catalog.models import OfferFields, ReviewDecision, Verdict
from catalog.runtime.spark.session import SparkJobs
from catalog.values.content_keys import content_key
from matcher.catalog_statistics import CatalogStatistics
from matcher.config import DEFAULT_CONFIG, LARGE_CATALOG, MatcherConfig
from matcher.decision.evidence_weights import Details, weigh_evidence
from matcher.decision.reasons import explain_decision
from matcher.decision.verdicts import decide_verdicts
from matcher.features.cache import MatchCache
from matcher.mixed_bits import draw_rows
from matcher.records.boilerplate import MAX_READ, find_boilerplate, remove_boilerplate
from matcher.records.brand_aliases import apply_brand_aliases, learn_brand_aliases
from matcher.records.content_order import (
    build_ordered_records,
    content_order_key,
    order_by_keys,
)
from matcher.records.languages.language_twins import find_claimed_links
from matcher.records.languages.localized_page import (
    NO_VERSIONS,
    LocalizedPage,
    PageVersions,
    localize_pages,
)
from matcher.records.page_dedup import group_pages
from matcher.records.record import (
    Record,
    add_alternate_links,
    add_variant_pages,
    build_records,
    drop_common_images,
    strip_brands,
)
from matcher.records.url_keys import LinkKeys
from matcher.scoring.scored_pairs import LargeCatalog, score_pairs

# An offer as the catalog's model, or as a mapping with the same keys.
Offer = OfferFields | Mapping[str, Any]
NO_REVIEWS: Mapping[str, ReviewDecision] = {}


@dataclass(frozen=True)
class MatchResult:
    """The verdict on one offer of the shop.

    `pages` are the indices of the shop offers that show it, the best one first. `nearest` is the
    index of the catalog offer that it is paired with, or of the most similar one if it is missing;
    None if none is similar. `score` is the probability that the catalog lists the offer, `reasons`
    explains the verdict in sentences, and `details` for programs
    (`matcher.decision.evidence_weights`).
    """

    pages: tuple[int, ...]
    nearest: int | None
    verdict: Verdict
    score: float
    reasons: tuple[str, ...]
    details: Details = field(default_factory=dict)

    @property
    def offer(self) -> int:
        """The index of the shop offer that stands for all its pages."""
        return self.pages[0]


@dataclass(frozen=True)
class _ShopInput:
    """The shop's offers with their further URLs, and where variants come from."""

    offers: Sequence[OfferFields]
    alternate_urls: Sequence[Sequence[str]] | None
    variant_pages: Sequence[str | None] | None
    page_languages: Sequence[PageVersions | None] | None


def match_offers(  # noqa: PLR0913 - everything that is known about either side
    shop_offers: Sequence[Offer],
    catalog_offers: Sequence[Offer],
    *,
    config: MatcherConfig = DEFAULT_CONFIG,
    catalog_products: Sequence[str | None] | None = None,
    reviews: Mapping[str, ReviewDecision] = NO_REVIEWS,
    alternate_urls: Sequence[Sequence[str]] | None = None,
    variant_pages: Sequence[str | None] | None = None,
    page_languages: Sequence[PageVersions | None] | None = None,
    cache: MatchCache | None = None,
    statistics: CatalogStatistics | None = None,
    jobs: SparkJobs | None = None,
) -> list[MatchResult]:
    """Match two lists of offers; returns one result per shop offer, in their order.

    Offers are `OfferFields` or mappings with the same keys; other keys are ignored, and a value of
    the wrong type raises `pydantic.ValidationError`. `config` holds every threshold, the precision
    among them.

    `catalog_products` gives the product of each catalog offer: offers of one product are no
    siblings. `reviews` maps the URL of an offer to a review: accept (missing), reject (listed),
    ignore (left out of the results). `alternate_urls` are further URLs of each shop offer,
    `variant_pages` the page that shows it among other variants, `page_languages` the languages of
    its page. `cache` saves time and does not change the result. With `statistics`,
    `catalog_offers` are only those of a larger catalog that may be candidates. With `jobs`,
    candidates are searched and compared on Spark: the result is the same. Raises ValueError if one
    of these sequences is not as long as its offers.
    """
    _check_length("catalog_products", catalog_products, catalog_offers)
    _check_length("alternate_urls", alternate_urls, shop_offers)
    _check_length("variant_pages", variant_pages, shop_offers)
    _check_length("page_languages", page_languages, shop_offers)
    shop_input = _ShopInput(
        list(map(_offer_fields, shop_offers)), alternate_urls, variant_pages, page_languages
    )
    catalog_fields = list(map(_offer_fields, catalog_offers))
    shop_order = order_by_keys([_shop_key(shop_input, i) for i in range(len(shop_offers))])
    catalog_order, catalog = build_ordered_records(catalog_fields, catalog_products)
    shop = _shop_records(shop_input, shop_order)
    large = _large_catalog(catalog_fields, catalog_products, catalog_order, statistics)
    shop = remove_boilerplate(shop)
    catalog = remove_boilerplate(catalog, _known_boilerplate(catalog, large))
    training = list(large.training) if large else []
    shop, catalog = _unify_brands(shop, [*catalog, *training], statistics)
    catalog, training = catalog[: len(catalog_order)], catalog[len(catalog_order) :]
    pages = _localize_pages(shop, shop_input, shop_order)
    groups = group_pages(shop, catalog, pages)
    # From here on, rows of `shop` and `catalog` are positions in the two orders.
    group_reviews = []
    for members in groups:
        indices = [shop_order[row] for row in members]
        group_reviews.append(_find_review(indices, shop_input, reviews))
    claimed: Mapping[int, Sequence[LinkKeys]] = {}
    # Pages that name no version claim none: a large catalog is not localized in vain.
    if any(page.alternates or page.canonical for page in pages):
        offers = [catalog_fields[index] for index in catalog_order]
        claimed = find_claimed_links(pages, groups, localize_pages(catalog, offers=offers))
    merged = drop_common_images(
        [
            _merge_pages(shop, members, claimed.get(position, ()))
            for position, members in enumerate(groups)
        ]
    )
    catalog = drop_common_images(catalog, statistics)
    if large and statistics:
        large = replace(large, training=drop_common_images(training, statistics))
    scored = score_pairs(merged, catalog, group_reviews, config, cache, large, jobs)
    decisions = decide_verdicts(scored, group_reviews, config)
    details = weigh_evidence(scored, decisions)
    results = []
    for members, decision, detail in zip(groups, decisions, details, strict=True):
        if decision.review is ReviewDecision.IGNORE:
            continue
        nearest = None
        if decision.pair is not None:
            nearest = catalog_order[scored.pairs[decision.pair, 1]]
        # From rows of the sorted catalog back to indices of the input.
        detail["candidates"] = [
            (catalog_order[row], score, weights) for row, score, weights in detail["candidates"]
        ]
        results.append(
            MatchResult(
                pages=tuple(shop_order[row] for row in members),
                nearest=nearest,
                verdict=decision.verdict,
                score=decision.score,
                reasons=explain_decision(scored, decision),
                details=detail,
            )
        )
    return sorted(results, key=lambda result: min(result.pages))


def _check_length(name: str, values: Sequence[Any] | None, offers: Sequence[Offer]) -> None:
    if values and len(values) != len(offers):
        raise ValueError(f"{name} has {len(values)} entries for {len(offers)} offers")


def _offer_fields(offer: Offer) -> OfferFields:
    if isinstance(offer, OfferFields):
        return offer
    return OfferFields.model_validate(offer)


def _shop_key(shop: _ShopInput, index: int) -> tuple[str, ...]:
    """Return the content of a shop offer: pages of one canonical URL differ in their own URLs."""
    urls: Sequence[str] = ()
    if shop.alternate_urls:
        urls = shop.alternate_urls[index]
    variant_page = None
    if shop.variant_pages:
        variant_page = shop.variant_pages[index]
    return (*content_order_key(shop.offers[index]), variant_page or "", *urls)


def _shop_records(shop: _ShopInput, order: Sequence[int]) -> list[Record]:
    """Build the shop's records in this order, with their further links and variant pages."""
    records = build_records(shop.offers[index] for index in order)
    if shop.alternate_urls:
        records = add_alternate_links(records, [shop.alternate_urls[index] for index in order])
    if shop.variant_pages:
        records = add_variant_pages(records, [shop.variant_pages[index] for index in order])
    return records


def _localize_pages(
    records: Sequence[Record], shop: _ShopInput, order: Sequence[int]
) -> list[LocalizedPage]:
    """Combine the shop's records, which are in this order, with the languages of their pages."""
    languages: list[PageVersions] = []
    if shop.page_languages:
        languages = [shop.page_languages[index] or NO_VERSIONS for index in order]
    return localize_pages(records, languages, [shop.offers[index] for index in order])


def _large_catalog(
    offers: Sequence[OfferFields],
    products: Sequence[str | None] | None,
    order: Sequence[int],
    statistics: CatalogStatistics | None,
) -> LargeCatalog | None:
    """Return the keys of a large catalog in this order, or the sample for it in training.

    None for a small one.
    """
    if statistics:
        return _unread_catalog(statistics)
    if len(offers) <= LARGE_CATALOG:
        return None
    keys = np.empty(len(offers), np.int64)
    for row, index in enumerate(order):
        fields = dict(offers[index])
        keys[row] = content_key(fields | {"product": products[index] if products else None})
    return LargeCatalog(keys)


def _unread_catalog(statistics: CatalogStatistics) -> LargeCatalog:
    """Return the large catalog of which only candidates are read, with its records to train on."""
    # The records are ordered by content, as those of a whole catalog.
    order, records = build_ordered_records(statistics.training_offers, statistics.training_products)
    place_of = {index: place for place, index in enumerate(order)}
    rounds = [sorted(map(place_of.__getitem__, row)) for row in statistics.training_rounds]
    training = remove_boilerplate(records, statistics.boilerplate)
    return LargeCatalog(np.empty(0, np.int64), statistics, training, rounds)


def _known_boilerplate(catalog: Sequence[Record], large: LargeCatalog | None) -> Set[str] | None:
    """Return the boilerplate of a large catalog; None for a small one."""
    if large is None:
        return None
    if large.statistics:
        return large.statistics.boilerplate
    rows = draw_rows(large.keys, MAX_READ).tolist()
    return find_boilerplate([catalog[row].description for row in rows])


def _unify_brands(
    shop: list[Record], catalog: list[Record], statistics: CatalogStatistics | None
) -> tuple[list[Record], list[Record]]:
    """Strip brands from the ends of titles, and give each brand one name on both sides."""
    brands = {record.brand for record in (*shop, *catalog)}
    if statistics:
        brands.update(statistics.brands)
    shop, catalog = strip_brands(shop, brands), strip_brands(catalog, brands)
    aliases = learn_brand_aliases(shop, catalog, statistics)
    return apply_brand_aliases(shop, aliases), apply_brand_aliases(catalog, aliases)


def _merge_pages(
    shop: Sequence[Record], members: Sequence[int], claimed: Sequence[LinkKeys]
) -> Record:
    """Return the best page's record with the links of all pages, and of their other versions."""
    links = dict.fromkeys(link for row in members for link in shop[row].links)
    links.update(dict.fromkeys(claimed))
    return replace(shop[members[0]], alternate_links=tuple(links))


def _find_review(
    indices: Sequence[int], shop: _ShopInput, reviews: Mapping[str, ReviewDecision]
) -> ReviewDecision | None:
    """Return the review of an offer: by the URLs of its pages first, then by its further URLs."""
    if not reviews:
        return None
    urls: list[str | None] = [shop.offers[index].url for index in indices]
    if shop.alternate_urls:
        for index in indices:
            urls += shop.alternate_urls[index]
    for url in urls:
        if url and url in reviews:
            return reviews[url]
    return None
