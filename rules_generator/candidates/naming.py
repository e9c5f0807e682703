"""The names in a selector: how well they fit its attribute, to break ties among candidates that agree equally well.

In a shop of one brand every constant text reads the brand perfectly, the shop's name in the footer included. Known
offers cannot tell them apart; the names that shops give to their fields can.
"""

import re

from catalog.models import IDENTIFIERS, Attribute
from parser.rules.selector import AttributeAt, JsonAt, TextAt
from parser.rules.trim import Trim
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
HEADING_TAGS = ("h1", "title")
MAIN_HEADING = re.compile(r"(?:^|\s)h1[^\s]*(?: ::text)?$")
# Parts of a selector that name nothing: positions, and the key of a named entry.
UNNAMING = re.compile(r":nth-[a-z-]+\(\d+\)|(?<=\[\?\(@\.)\w+")
CAPTION_ATTRIBUTES = frozenset({"alt", "title"})
NUMBER_SEPARATORS = tuple("-_/")
LABEL_SELECTOR = ":lexbor-contains("
STRUCTURED = re.compile(r"ld\+json Product|itemprop|property=|product", re.IGNORECASE)
LOOSE_PAIRS = "{pairs}"
# Cap on the reliance of a trim, in characters of a literal; a count of characters has the cap.
MAX_RELIANCE = 60
# Cap on the length of a selector that counts.
MAX_SELECTOR_CHARS = 300


def naming_fitness(candidate: Candidate) -> float:
    """Score a selector's names from about -1 (names something else) to 1 (names the attribute, in product data).

    A caption may be of another variant than the heading; a loose pair, of another thing. A number out of a longer
    one, `AB-12` of `AB-12-XL`, may be another part of it elsewhere.
    """
    selector, trim = str(candidate.selector), candidate.trim
    attribute = candidate.attribute
    is_title = attribute is Attribute.TITLE
    is_data = isinstance(candidate.selector, JsonAt)
    is_text = isinstance(candidate.selector, TextAt)
    reliance = _reliance(trim)
    terms = (
        (0.5, _has_word(attribute, selector)),
        (0.2, STRUCTURED.search(selector) is not None and not is_text),
        (0.1, is_data),
        (0.1, reliance == 0),
        (0.2, attribute is not Attribute.PRICE and LABEL_SELECTOR in selector),
        (0.4, is_title and is_main_heading(candidate)),
        (-0.2, ":nth-of-type(" in selector),
        (-0.4, may_cut_number(candidate)),
        (-0.8, MISLEADING_WORDS.search(selector) is not None),
        (-0.8, is_title and "variant" in selector),
        (-0.6, is_title and _is_caption(candidate)),
        (-0.2, LOOSE_PAIRS in selector),
    )
    fitness = sum(weight for weight, holds in terms if holds)
    # Short trims and short selectors before long ones.
    fitness -= min(reliance, MAX_RELIANCE) / 100
    return fitness - min(len(selector), MAX_SELECTOR_CHARS) / 3000


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
    return _has_word(attribute, naming) and not MISLEADING_WORDS.search(naming)


def _has_word(attribute: Attribute, selector: str) -> bool:
    naming = UNNAMING.sub("", selector)
    return re.search(ATTRIBUTE_WORDS[attribute], naming, re.IGNORECASE) is not None


def _is_caption(candidate: Candidate) -> bool:
    selector = candidate.selector
    return isinstance(selector, AttributeAt) and selector.name in CAPTION_ATTRIBUTES


def _reliance(trim: Trim) -> int:
    """Weigh a trim: a count of characters relies on more than a literal, the value's look on more still."""
    sides = _side_reliance(trim.left) + _side_reliance(trim.right)
    return sides + 10 * trim.last + 30 * bool(trim.shape) + 40 * bool(trim.words)


def _side_reliance(cut: str | int) -> int:
    return len(cut) if isinstance(cut, str) else MAX_RELIANCE * (cut > 0)


def may_cut_number(candidate: Candidate) -> bool:
    """Return True if a trim may leave a part of an identifier: it ends at a separator, or finds a shape."""
    trim = candidate.trim
    if candidate.attribute not in IDENTIFIERS:
        return False
    if trim.shape or str(trim.left).endswith(NUMBER_SEPARATORS):
        return True
    return str(trim.right).startswith(NUMBER_SEPARATORS)
