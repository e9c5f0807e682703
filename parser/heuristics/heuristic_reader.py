"""Read an offer by heuristics, for a shop without known offers.

Sources are schema.org's names in JSON-LD, microdata and RDFa, OpenGraph's, data objects with the
page's title, breadcrumbs, values behind labels, the price near the title, and common class names.
The trust of claims that agree adds up. The names are those of the vocabularies and of common shop
systems, never of one shop.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from catalog.models import Attribute
from catalog.values import Hint, is_long_gtin, normalise, value_key
from catalog.values.category import is_home
from parser.heuristics.breadcrumbs import breadcrumb_claims
from parser.heuristics.claims import HEADING, META, META_TEXT, Claim
from parser.heuristics.evidence import offer_evidence
from parser.heuristics.markup import meta_claims, schema_markup_claims
from parser.heuristics.page_parts import AMOUNT_CHARS_READ, PageParts
from parser.heuristics.structured_data import data_claims, json_ld_claims
from parser.heuristics.titles import NO_SITE_TEXTS, ShopName, SiteTexts, page_title
from parser.heuristics.visible_text import visible_text_claims
from parser.page.document import Document
from parser.page.struck_prices import find_outdated
from parser.page.texts import element_text


@dataclass(frozen=True)
class HeuristicValue:
    """A value found by heuristics, the trust in it, and the sources that agree on it."""

    value: str
    trust: float
    sources: tuple[str, ...]


@dataclass(frozen=True)
class HeuristicReading:
    """The values of a page that heuristics find, and the evidence that it is an offer page.

    `evidence` is 2 where the page declares a single offer, 1 where it looks like an offer page,
    else 0 (`parser.heuristics.evidence`).
    """

    values: Mapping[Attribute, HeuristicValue]
    evidence: int


def read_by_heuristics(document: Document) -> dict[Attribute, HeuristicValue]:
    """Return the values of a page that heuristics find."""
    return dict(read_page_by_heuristics(document).values)


def read_page_by_heuristics(
    document: Document, site: SiteTexts = NO_SITE_TEXTS
) -> HeuristicReading:
    """Read a page, and judge whether it shows one offer; `site` are texts that pages share."""
    title = page_title(document, site)
    parts = PageParts(document, title)
    shop_name = ShopName(document, site)
    claims = defaultdict[Attribute, list[Claim]](list)
    for claim in _claims(document, title, parts, site):
        text = claim.value
        if claim.attribute is Attribute.TITLE:
            is_meta = claim.source in (META, META_TEXT)
            text = shop_name.cut_both_ends(text) if is_meta else shop_name.cut(text)
        value = normalise(claim.attribute, text, Hint(base_url=document.base))
        if value is None or (claim.attribute is Attribute.CATEGORY and is_home(value)):
            continue
        if claim.attribute is Attribute.HAN and is_long_gtin(value):
            continue
        claims[claim.attribute].append(replace(claim, value=value))
    if title:
        claims[Attribute.TITLE].append(Claim(Attribute.TITLE, title, HEADING))
    if Attribute.PRICE in claims:
        claims[Attribute.PRICE] = _without_old_prices(claims[Attribute.PRICE], document, parts)
    values = {attribute: _decide(attribute, group) for attribute, group in claims.items()}
    price = values.get(Attribute.PRICE)
    if title is None or price is None or not float(price.value):
        return HeuristicReading(values, 0)
    sources = {name: value.sources for name, value in values.items()}
    return HeuristicReading(values, offer_evidence(document, title, parts, sources))


def _without_old_prices(
    claims: Sequence[Claim], document: Document, parts: PageParts
) -> list[Claim]:
    """Return the claims of prices that the page does not strike out beside a lower one."""
    struck = (element_text(node, AMOUNT_CHARS_READ) for node in parts.struck_amounts)
    old = {normalise(Attribute.PRICE, text or "") or "" for text in struck} | document.old_prices
    outdated = find_outdated({claim.value for claim in claims}, old)
    return [claim for claim in claims if claim.value not in outdated]


def _decide(attribute: Attribute, claims: Sequence[Claim]) -> HeuristicValue:
    """Return the value with the most trust; each source counts once per value."""
    trust: dict[str, dict[str, float]] = {}
    values: dict[str, str] = {}
    for claim in claims:
        key, source = value_key(attribute, claim.value), claim.source
        values.setdefault(key, claim.value)
        by_source = trust.setdefault(key, {})
        by_source[source.name] = max(source.trust, by_source.get(source.name, 0.0))
    totals = {key: sum(by_source.values()) for key, by_source in trust.items()}
    best = max(totals, key=totals.__getitem__)
    against = sum(total for key, total in totals.items() if key != best)
    total = totals[best]
    return HeuristicValue(values[best], total * total / (total + against), tuple(trust[best]))


def _claims(
    document: Document, title: str | None, parts: PageParts, site: SiteTexts
) -> Iterator[Claim]:
    yield from json_ld_claims(document, title)
    yield from schema_markup_claims(document, parts)
    yield from meta_claims(document)
    if title:
        yield from data_claims(document, title)
    yield from breadcrumb_claims(document, title, site)
    yield from visible_text_claims(parts)
