"""The evidence that a page shows one offer, rather than a list of offers, an article or a form."""

from collections.abc import Mapping, Sequence

from catalog.models import Attribute
from parser.heuristics.claims import DATA, LABEL, NEAR_HEADING
from parser.heuristics.markup import meta_content, own_product_scopes
from parser.heuristics.page_parts import PageParts
from parser.heuristics.structured_data import (
    declares_other_page,
    has_name,
    has_price_range,
    own_products,
)
from parser.page.document import Document

# Values of `og:type` on offer pages.
OFFER_PAGE_TYPES = ("product", "og:product", "product.item")
# Evidence of a page that declares a single offer, and of a page that looks like an offer page.
SURE = 2
LIKELY = 1

# Attributes whose labels stand on offer pages only.
LABELLED = (Attribute.SKU, Attribute.EAN, Attribute.HAN, Attribute.BRAND, Attribute.AVAILABILITY)

Sources = Mapping[Attribute, Sequence[str]]


def offer_evidence(document: Document, title: str, parts: PageParts, sources: Sources) -> int:
    """Return the evidence that a page with a title and a price is an offer page.

    2: it declares a single product. 1: it shows a price of its own and a way to buy, or a number
    behind a label. 0: any other page, such as one whose prices all stand in cards.
    """
    products = own_products(document, title)
    if len(products) == 1 and has_name(products[0], title):
        return 0 if parts.is_list and has_price_range(products[0]) else SURE
    if parts.is_list or (not parts.buy_elements and declares_other_page(document)):
        return 0
    is_declared = len(products) == 1 or len(own_product_scopes(document, parts)) == 1
    has_offer_type = meta_content(document, "og:type") in OFFER_PAGE_TYPES
    if is_declared or has_offer_type or DATA.name in sources[Attribute.PRICE]:
        return SURE
    if parts.repeats_offers() or parts.is_unnamed_card():
        return 0
    # Several products are a list, unless the page itself has a button.
    has_price = NEAR_HEADING.name in sources[Attribute.PRICE]
    can_buy = has_price and bool(parts.buy_elements)
    if products:
        return LIKELY if can_buy else 0
    has_meta_price = meta_content(document, "product:price:amount") is not None
    has_label = any(LABEL.name in sources.get(name, ()) for name in LABELLED)
    return LIKELY if has_meta_price or can_buy or (has_price and has_label) else 0
