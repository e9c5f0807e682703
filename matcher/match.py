"""The whole: one merchant's shop offers against the catalog's offers of the same merchant.

Group the pages, find candidates, compare, judge with a classifier that this catalog has taught, weigh links and
identifiers, pair one to one, say which offers are listed, which are missing, and why. What comes out does not depend on
the order of what goes in: both sides are put in an order of their own first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from catalog.models import OfferFields, Verdict, Word
from matcher.decision.decide import decide
from matcher.decision.evidence_weights import Why, whys
from matcher.decision.explain import explain
from matcher.decision.thresholds import PRECISION
from matcher.features.cache import Memory
from matcher.records.boilerplate import without_boilerplate
from matcher.records.brand_aliases import brand_names, with_one_name
from matcher.records.page_dedup import group
from matcher.records.record import (
    Record,
    records,
    with_brands,
    with_links,
    with_own_images,
    with_pages,
)
from matcher.scoring.score_pairs import compare

NO_WORDS: Mapping[str, Word] = {}


@dataclass(frozen=True)
class Found:
    """What became of one offer of the shop.

    `members` are the indices of all its pages, the best one first; `known` is the catalog offer it is paired with, or
    the nearest one where it is not listed. `score` is the probability that the catalog lists it. `why` tells what spoke
    for and against (`matcher.decision.evidence_weights`); its candidates are known offers with their probability.
    """

    members: tuple[int, ...]
    known: int | None
    verdict: Verdict
    score: float
    reasons: tuple[str, ...]
    why: Why = field(default_factory=dict)


def match(
    shop_offers: Sequence[OfferFields],
    known: Sequence[OfferFields],
    *,
    products: Sequence[str | None] | None = None,
    words: Mapping[str, Word] = NO_WORDS,
    links: Sequence[Sequence[str]] | None = None,
    pages: Sequence[str | None] | None = None,
    precision: float = PRECISION,
    memory: Memory | None = None,
) -> list[Found]:
    """One Found for every offer of the shop, in the order of the shop's offers.

    `products` tells which known offers are of one catalog product: those do not count as siblings. `words` maps a URL
    of an offer to a person's word: accept (it is missing), reject (it is listed), ignore (leave it out). `links` gives
    further URLs under which each shop offer was found, `pages` the page that keeps it among several variants. Where
    verdicts would be right less often than `precision`, the doubtful ones are unsure. What is in `memory` from an
    earlier matching is not worked out again, which changes nothing but the time.
    """
    left, right = _order(shop_offers), _order(known)
    shop = with_links(
        records(shop_offers[i] for i in left), [links[i] for i in left] if links else ()
    )
    shop = with_pages(shop, [pages[i] for i in left] if pages else ())
    shop, catalog = without_boilerplate(shop), without_boilerplate(records(known[j] for j in right))
    if products:
        catalog = [
            replace(one, product=products[j] or "") for one, j in zip(catalog, right, strict=True)
        ]
    brands = {record.brand for record in (*shop, *catalog)}
    shop, catalog = with_brands(shop, brands), with_brands(catalog, brands)
    names = brand_names(shop, catalog)
    shop, catalog = with_one_name(shop, names), with_one_name(catalog, names)
    groups = group(shop, catalog)
    said = [_word([left[i] for i in members], shop_offers, links, words) for members in groups]
    united = with_own_images([_united(shop, members) for members in groups])
    seen = compare(united, with_own_images(catalog), said, memory)
    decisions = decide(seen, said, precision)
    found = []
    for members, decision, why in zip(groups, decisions, whys(seen, decisions), strict=True):
        if decision.word is not Word.IGNORE:
            nearest = None if decision.pair is None else right[seen.pairs[decision.pair, 1]]
            own = tuple(left[i] for i in members)
            why["candidates"] = [(right[row], score) for row, score in why["candidates"]]
            found.append(
                Found(own, nearest, decision.verdict, decision.score, explain(seen, decision), why)
            )
    return sorted(found, key=lambda one: min(one.members))


def _order(offers: Sequence[OfferFields]) -> list[int]:
    """The offers in an order that depends on what they say only."""
    keys = [
        tuple(
            str(v)
            for v in (
                o.url,
                o.title,
                o.sku,
                o.ean,
                o.price,
                o.brand,
                o.han,
                o.images,
                o.description,
            )
        )
        for o in offers
    ]
    return sorted(range(len(offers)), key=keys.__getitem__)


def _united(shop: Sequence[Record], members: Sequence[int]) -> Record:
    """The best page's record, reachable under the links of all pages."""
    others = dict.fromkeys(address for i in members for address in shop[i].addresses)
    return replace(shop[members[0]], others=tuple(others))


def _word(
    members: Sequence[int],
    shop_offers: Sequence[OfferFields],
    links: Sequence[Sequence[str]] | None,
    words: Mapping[str, Word],
) -> Word | None:
    """What a person said of an offer: by its own URLs first, then by others that lead to it."""
    urls = [shop_offers[i].url for i in members]
    others = [url for i in members for url in links[i]] if links and words else []
    return next((words[url] for url in (*urls, *others) if url and url in words), None)
