"""The names in a selector: whether they fit its attribute.

In a shop of one brand every constant text reads the brand perfectly, the shop's name in the footer
included. Known offers cannot tell them apart; the names that shops give to their fields can.
"""

import re

from catalog.models import IDENTIFIERS, Attribute
from rules_generator.candidates.candidate import Candidate

# Words by which shops name an attribute.
ATTRIBUTE_WORDS: dict[Attribute, str] = {
    Attribute.TITLE: r"title|name|titel|titre|nombre|h1",
    Attribute.DESCRIPTION: r"desc|beschreibung|body_html|details",
    Attribute.PRICE: r"price|preis|prix|precio|prezzo|amount",
    Attribute.CURRENCY: r"currency|waehrung",
    Attribute.BRAND: r"brand|vendor|manufacturer|hersteller|marke|marque|marca",
    Attribute.CATEGORY: r"category|(?<!section-)type|kategorie|breadcrumb|collection",
    Attribute.IMAGE: r"image|img|photo|picture|bild|media",
    Attribute.EAN: r"ean|gtin|barcode|isbn|upc",
    Attribute.HAN: r"mpn|han\b|manufacturer|model|hersteller",
    Attribute.SKU: (
        r"sku|article|artikel|art\w{0,4}[.\s-]{0,2}(?:nr|no|num)|item_?no|reference|product_?id"
    ),
    Attribute.AVAILABILITY: (
        r"avail|stock|lager|liefer|inventory|bestand|voorraad|dispo|sold[_-]?out"
    ),
}
# Words of places that show something else than the page's offer.
MISLEADING_WORDS = re.compile(
    r"related|recommend|upsell|cross-?sell|cart|compare_at|old|was|menu|footer|header|nav|site_name"
    r"|recent|review|shop_?name|seller|publisher|\[[1-9]\d*\]",
    re.IGNORECASE,
)
MAIN_HEADING = re.compile(r"(?:^|\s)h1[^\s]*(?: ::text)?$")
NUMBER_SEPARATORS = tuple("-_/")
# Parts of a selector that name nothing: positions, and the key of a named entry.
UNNAMING = re.compile(r":nth-[a-z-]+\(\d+\)|(?<=\[\?\(@\.)\w+")


def is_main_heading(candidate: Candidate) -> bool:
    """Return True if it finds a page's main heading."""
    return MAIN_HEADING.search(str(candidate.selector)) is not None


def names_attribute(candidate: Candidate) -> bool:
    """Return True if the selector's words name the attribute, and none of them something else.

    The text before an identifier may name it as well: `UPC: ` of `SKU: A-7 UPC: 036000291452`.
    """
    attribute, naming = candidate.attribute, str(candidate.selector)
    if attribute in IDENTIFIERS:
        naming += f" {candidate.trim.left or ''}"
    return has_attribute_word(attribute, naming) and not has_misleading_word(naming)


def has_attribute_word(attribute: Attribute, selector: str) -> bool:
    """Return True if a word of the selector names the attribute."""
    naming = UNNAMING.sub("", selector)
    return re.search(ATTRIBUTE_WORDS[attribute], naming, re.IGNORECASE) is not None


def has_misleading_word(selector: str) -> bool:
    """Return True if a word of the selector names something else than the page's offer."""
    return MISLEADING_WORDS.search(selector) is not None


def may_cut_number(candidate: Candidate) -> bool:
    """Return True if a trim may leave part of an identifier: at a separator, or by shape."""
    trim = candidate.trim
    if candidate.attribute not in IDENTIFIERS:
        return False
    if trim.shape or str(trim.left).endswith(NUMBER_SEPARATORS):
        return True
    return str(trim.right).startswith(NUMBER_SEPARATORS)
