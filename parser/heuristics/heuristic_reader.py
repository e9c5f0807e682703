"""Read an offer by heuristics, for a shop without known offers.

Sources are schema.org's names in JSON-LD, microdata and RDFa, OpenGraph's, data objects with the
page's title, values behind labels, and common class names. The trust of claims that agree adds up.
The names are those of the vocabularies and of common shop systems, never of one shop.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from catalog.values import Hint, normalise, value_key
from catalog.values.category import is_home
from parser.heuristics.claims import DATA, HEADING, HEADING_TRUST, LABEL, NEAR_HEADING, Claim
from parser.heuristics.markup import PRODUCT_SCOPE, meta_claims, meta_content, schema_markup_claims
from parser.heuristics.structured_data import data_claims, json_ld_claims
from parser.heuristics.visible_text import MAX_HEADING_CHARS, visible_text_claims
from parser.page.document import Document
from parser.page.texts import element_text

# Elements of a way to buy in common shop systems.
BUY = (
    'form[action*="cart/add" i], form[action*="addtocart" i], form[action*="add-to-cart" i], '
    "form.cart, "
    '[name="add-to-cart"], button[name="add"], [id*="addtocart" i], [id*="add-to-cart" i]'
)
# Ways to buy beyond which a page lists several offers.
MAX_BUY_ELEMENTS = 3
# Product scopes of a page that are counted: a bound against hostile input.
MAX_SCOPES = 40
OFFER_PAGE_TYPES = ("product", "og:product", "product.item")
PRODUCT_BLOCKS = ("ld+json Product", "ld+json ProductGroup")


@dataclass(frozen=True)
class HeuristicValue:
    """A value found by heuristics, the trust in it, and the sources that agree on it."""

    value: str
    trust: float
    sources: tuple[str, ...]


def read_by_heuristics(document: Document) -> dict[Attribute, HeuristicValue]:
    """Return the values of a page that heuristics find."""
    title = _title(document)
    claims: dict[Attribute, list[Claim]] = {}
    for claim in _claims(document, title):
        value = normalise(claim.attribute, claim.value, Hint(base_url=document.base))
        if value is None or (claim.attribute is Attribute.CATEGORY and is_home(value)):
            continue
        normalised = Claim(claim.attribute, value, claim.trust, claim.source)
        claims.setdefault(claim.attribute, []).append(normalised)
    if title:
        heading = Claim(Attribute.TITLE, title, HEADING_TRUST, HEADING)
        claims.setdefault(Attribute.TITLE, []).append(heading)
    return {attribute: _decide(attribute, group) for attribute, group in claims.items()}


def _decide(attribute: Attribute, claims: Sequence[Claim]) -> HeuristicValue:
    """Return the value with the most trust; each source counts once per value."""
    trust: dict[str, dict[str, float]] = {}
    for claim in claims:
        by_source = trust.setdefault(value_key(attribute, claim.value), {})
        by_source[claim.source] = max(claim.trust, by_source.get(claim.source, 0.0))
    totals = {value_key: sum(by_source.values()) for value_key, by_source in trust.items()}
    best = max(totals, key=totals.__getitem__)
    value = next(claim.value for claim in claims if value_key(attribute, claim.value) == best)
    against = sum(total for value_key, total in totals.items() if value_key != best)
    total = totals[best]
    return HeuristicValue(value, total * total / (total + against), tuple(trust[best]))


def _claims(document: Document, title: str | None) -> Iterator[Claim]:
    yield from json_ld_claims(document, title)
    yield from schema_markup_claims(document)
    yield from meta_claims(document)
    if title:
        yield from data_claims(document, title)
    yield from visible_text_claims(document, title)


def _title(document: Document) -> str | None:
    """Return the heading that is part of the page's titles.

    Else the only heading; else OpenGraph's title.
    """
    headings = []
    for node in document.element_index.headings:
        text = element_text(node, MAX_HEADING_CHARS)
        if text:
            headings.append(text)
    meta_titles = [meta_content(document, name) for name in ("og:title", "twitter:title")]
    title_element = document.first("title")
    titles = list(meta_titles)
    if title_element is not None:
        titles.append(element_text(title_element, MAX_HEADING_CHARS))
    folded_titles = " ".join(title for title in titles if title).casefold()
    candidates = [heading for heading in headings if heading.casefold() in folded_titles]
    if not candidates and len(headings) == 1:
        candidates = headings
    if not candidates:
        candidates = [title for title in meta_titles if title]
    return normalise(Attribute.TITLE, candidates[0]) if candidates else None


def offer_evidence(document: Document, values: Mapping[Attribute, HeuristicValue]) -> int:
    """Return the evidence that a page is an offer page, from 0 to 2.

    2: it declares a single product. 1: it has a price and a way to buy. 0: any other page.
    """
    price = values.get(Attribute.PRICE)
    if price is None or Attribute.TITLE not in values or not float(price.value):
        return 0
    if meta_content(document, "og:type") in OFFER_PAGE_TYPES:
        return 2
    things = sum(block.name in PRODUCT_BLOCKS for block in document.blocks)
    scopes = sum(map(_is_outer_scope, document.tree.css(PRODUCT_SCOPE)[:MAX_SCOPES]))
    if things == 1 or scopes == 1 or DATA in price.sources:
        return 2
    # Several products are a list.
    if things or scopes:
        return 0
    has_label = any(LABEL in value.sources for value in values.values())
    has_labelled_price = has_label and NEAR_HEADING in price.sources
    has_meta_price = meta_content(document, "product:price:amount") is not None
    return int(has_labelled_price or has_meta_price or _can_buy_one(document))


def _can_buy_one(document: Document) -> bool:
    """Return True if a page has a way to buy, and no more than one offer has."""
    elements = {node.mem_id for node in document.tree.css(BUY)[: MAX_BUY_ELEMENTS + 1]}
    return 0 < len(elements) <= MAX_BUY_ELEMENTS


def _is_outer_scope(node: LexborNode) -> bool:
    """Return True if a product scope is no property of another thing, such as a related product."""
    kind = f"{node.attributes.get('itemtype')} {node.attributes.get('typeof')}".lower()
    return "product" in kind and node.attributes.get("itemprop") is None
