"""How well a selector's own words fit its attribute: the tie-break among candidates that agree equally well.

In a shop of one brand every constant text is a perfect reader of the brand, the shop's name in the footer included. The
known offers cannot tell them apart; the names that shops give to their fields can.
"""

import re

from catalog.models import NUMBERS, Attribute
from parser.rules.selector import UNSTRUCK, AttributeAt, JsonAt, TextAt
from parser.rules.trim import Trim
from rules_generator.candidates.candidate import Candidate

WORDS: dict[Attribute, str] = {
    Attribute.TITLE: r"title|name|titel|titre|nombre|h1",
    Attribute.DESCRIPTION: r"desc|beschreibung|body_html|details",
    Attribute.PRICE: r"price|preis|prix|precio|prezzo|amount",
    Attribute.CURRENCY: r"currency|waehrung",
    Attribute.BRAND: r"brand|vendor|manufacturer|hersteller|marke|marque|marca",
    Attribute.CATEGORY: r"category|(?<!section-)type|kategorie|breadcrumb|collection",
    Attribute.IMAGE: r"image|img|photo|picture|bild|media",
    Attribute.EAN: r"ean|gtin|barcode|isbn|upc",
    Attribute.HAN: r"mpn|han\b|manufacturer|model|hersteller",
    Attribute.SKU: r"sku|article|artikel|art\w{0,4}[.\s-]{0,2}(?:nr|no|num)|item_?no|reference|product_?id",
    Attribute.AVAILABILITY: r"avail|stock|lager|liefer|inventory|bestand|voorraad|dispo|sold[_-]?out",
}
MISLEADING = re.compile(
    r"related|recommend|upsell|cross-?sell|cart|compare_at|old|was|menu|footer|header|nav|site_name|recent|review"
    r"|shop_?name|seller|publisher|\[[1-9]\d*\]",
    re.IGNORECASE,
)
HEADINGS = ("h1", "title")
HEADING = re.compile(r"(?:^|\s)h1[^\s]*(?: ::text)?$")
ASIDE = re.compile(r":nth-[a-z-]+\(\d+\)|(?<=\[\?\(@\.)\w+")
LEAST_TRUSTED = 60
CAPTIONS = frozenset({"alt", "title"})
SIGNS = tuple("-_/")
BY_LABEL = ":lexbor-contains("
STRUCTURED = re.compile(r"ld\+json Product|itemprop|property=|product", re.IGNORECASE)


def plausibility(candidate: Candidate) -> float:
    """From about -1 (names something else) to 1 (names the attribute, in data about the product).

    What a picture or a link is called may be of another variant than the heading; a loose pair, of another thing. A
    number out of a longer one, `AB-12` of `AB-12-XL`, may be another part of it where the rest looks otherwise.
    """
    said = str(candidate.selector)
    fits = _fits(candidate.attribute, said)
    caption = isinstance(candidate.selector, AttributeAt) and candidate.selector.name in CAPTIONS
    variant = candidate.attribute is Attribute.TITLE and "variant" in said
    cut = _reliance(candidate.trim)
    labelled = candidate.attribute is not Attribute.PRICE and BY_LABEL in said
    return (
        0.5 * fits
        + 0.2 * (STRUCTURED.search(said) is not None and not isinstance(candidate.selector, TextAt))
        + 0.1 * isinstance(candidate.selector, JsonAt)
        + 0.1 * (cut == 0)
        + 0.2 * labelled
        + 0.1 * (UNSTRUCK in said)
        + 0.4 * (candidate.attribute is Attribute.TITLE and is_heading(candidate))
        - 0.2 * (":nth-of-type(" in said)
        - min(cut, LEAST_TRUSTED) / 100
        - 0.4 * (candidate.attribute in NUMBERS and _is_part(candidate.trim))
        - bool(candidate.trim.means)
        - 0.8 * bool(MISLEADING.search(said))
        - 0.8 * variant
        - 0.6 * (caption and candidate.attribute is Attribute.TITLE)
        - 0.2 * ("{pairs}" in said)
        - min(len(said), 300) / 3000
    )


def is_heading(candidate: Candidate) -> bool:
    """Whether it finds a page's main heading."""
    return HEADING.search(str(candidate.selector)) is not None


def is_named(candidate: Candidate) -> bool:
    """Whether the selector's own words name the attribute, and none of them something else."""
    said = str(candidate.selector)
    return _fits(candidate.attribute, said) and not MISLEADING.search(said)


def is_labelled(candidate: Candidate) -> bool:
    """Whether it reads what stands behind a label that names the attribute."""
    return BY_LABEL in candidate.selector.css and is_named(candidate)


def _fits(attribute: Attribute, said: str) -> bool:
    """Whether a selector's words name it; that something is the third of its type, or is told by a name, does not."""
    return re.search(WORDS[attribute], ASIDE.sub("", said), re.IGNORECASE) is not None


def _reliance(trim: Trim) -> int:
    """How much a cut relies on: a number of characters is trusted less than a literal, the value's look still less."""
    return (
        sum(map(_length, (trim.left, trim.right)))
        + 10 * trim.last
        + 30 * bool(trim.shape)
        + 40 * bool(trim.words)
    )


def _is_part(trim: Trim) -> bool:
    """Whether a cut may leave a part of a number: it ends at a sign that numbers have, or is found by its look."""
    return bool(trim.shape) or str(trim.left).endswith(SIGNS) or str(trim.right).startswith(SIGNS)


def _length(cut: str | int) -> int:
    """How much a cut relies on: a number of characters is trusted less than a literal."""
    return len(cut) if isinstance(cut, str) else LEAST_TRUSTED * (cut > 0)
