"""Claims of a page's visible text: labelled values, amounts, elements of common classes."""

import re
from collections.abc import Iterator, Sequence

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from catalog.values import find_currency, normalise
from parser.heuristics.claims import (
    CLASS,
    CLASS_TRUST,
    LABEL,
    LABEL_TRUST,
    NEAR_HEADING,
    NEAR_HEADING_TRUST,
    Claim,
)
from parser.page.document import Document
from parser.page.labels import following_text, label_pattern, short_text
from parser.page.texts import element_text

# Names of trade item numbers, as labels spell them.
CODE = (
    r"(?:ean|gtin|upc|isbn|barcode|codes?[- ]barres?|strichcode)"
    r"(?:[- ]?(?:8|1[234]|code|number|no\.?|nummer))?"
)
# Labels in English, German, French and Spanish, as regular expressions.
LABELS = {
    Attribute.EAN: rf"{CODE}(?:\s*[/,]\s*{CODE})?",
    Attribute.SKU: r"sku|art(?:ikel|icle)?[.\s-]{0,2}(?:nr|no|nummer|number)\.?"
    r"|item (?:no|number|code)\.?|product code"
    r"|r[ée]f[ée]rence|bestell(?:-?nr\.?|nummer)",
    Attribute.HAN: r"mpn|manufacturer(?:'s)? (?:part )?(?:no|number)\.?|part (?:no|number)\.?"
    r"|hersteller-?(?:nr|nummer)\.?",
    Attribute.BRAND: r"brand(?: name)?|manufacturer|vendor"
    r"|hersteller|marke|marque|marca|fabricante",
}
LABEL_PATTERNS = {name: label_pattern(label) for name, label in LABELS.items()}
# Common classes and ids of shop systems.
CLASSES = {
    Attribute.SKU: '.sku, [class$="-sku"], [class$="__sku"], [id$="-sku"], [class*="sku-value"]',
    Attribute.PRICE: '[class*="price" i], [id*="price" i]',
}
# Parts of class names of amounts that are not the price.
OTHER_AMOUNTS = re.compile(
    r"old|was|compare|regular|list|rrp|msrp|uvp|strike|sav|unit|ship|range|before|filter", re.I
)
LABEL_TAGS = "th, dt, td, li, p, span, strong, b, label, div"
AMOUNT_TAGS = "p, span, div, b, strong, ins, bdi, td, dd, em, data"
# Bounds against hostile input.
MAX_AMOUNT_NODES = 1_500
MAX_LABEL_NODES = 3_000
MAX_CLASS_NODES = 40
# Ancestors of the heading that belong to the offer.
MAX_ANCESTORS = 6
# Distinct amounts near the heading beyond which none is the price for sure.
MAX_AMOUNTS = 3
# Characters of a heading that are compared.
MAX_HEADING_CHARS = 400
# Characters of an element that is only an amount, and characters of it that are read.
MAX_AMOUNT_CHARS = 24
AMOUNT_CHARS_READ = 30
# Characters of a value in an element of a common class, and characters of it that are read.
MAX_CLASS_CHARS = 40
CLASS_CHARS_READ = 60


def visible_text_claims(document: Document, title: str | None) -> Iterator[Claim]:
    """Yield the claims of the text around the heading that is the page's title."""
    ancestors = list(_ancestors_of_heading(document, title))
    yield from _label_claims(ancestors)
    yield from _class_claims(ancestors)


def _ancestors_of_heading(document: Document, title: str | None) -> Iterator[LexborNode]:
    """Yield the ancestors of the page's heading, innermost first: their text is about the offer."""
    if not title:
        return
    heading = None
    for node in document.element_index.headings:
        if element_text(node, MAX_HEADING_CHARS) == title:
            heading = node
            break
    ancestor = heading.parent if heading is not None else None
    for _ in range(MAX_ANCESTORS):
        if ancestor is None or ancestor.tag in ("body", "html", "-undef", None):
            return
        yield ancestor
        ancestor = ancestor.parent


def _label_claims(ancestors: Sequence[LexborNode]) -> Iterator[Claim]:
    """Yield the values behind labels: in the same element, or in the next one."""
    if not ancestors:
        return
    claimed: set[Attribute] = set()
    for node in ancestors[-1].css(LABEL_TAGS)[:MAX_LABEL_NODES]:
        text = short_text(node)
        if not text or len(text) < 3:
            continue
        for attribute, pattern in LABEL_PATTERNS.items():
            match = pattern.fullmatch(text)
            if match is None or attribute in claimed:
                continue
            same_element = match["value"].strip()
            value = same_element or following_text(node)
            # Words that follow without a mark make another label, as in `Hersteller-Nr.: 7`.
            if value and (match["mark"] or not same_element or attribute is Attribute.EAN):
                claimed.add(attribute)
                yield Claim(attribute, value, LABEL_TRUST, LABEL)


def _class_claims(ancestors: Sequence[LexborNode]) -> Iterator[Claim]:
    """Yield the price near the heading, and values in elements of common classes."""
    amounts = next(filter(None, map(_amounts_in, ancestors)), [])
    has_price = 0 < len(amounts) <= MAX_AMOUNTS
    if has_price:
        yield Claim(Attribute.PRICE, amounts[0], NEAR_HEADING_TRUST, NEAR_HEADING)
    for attribute, css in CLASSES.items():
        if attribute is Attribute.PRICE and has_price:
            continue
        text = _first_class_text(attribute, css, ancestors)
        if text is not None:
            yield Claim(attribute, text, CLASS_TRUST, CLASS)


def _amounts_in(ancestor: LexborNode) -> list[str]:
    """Return the distinct texts of elements that hold only an amount with its currency."""
    texts: dict[str, None] = {}
    for node in ancestor.css(AMOUNT_TAGS)[:MAX_AMOUNT_NODES]:
        text = element_text(node, AMOUNT_CHARS_READ) if node.first_child is not None else None
        if text and len(text) <= MAX_AMOUNT_CHARS and find_currency(text):
            texts[text] = None
    return [text for text in texts if _is_amount(text)]


def _is_amount(text: str) -> bool:
    value = normalise(Attribute.PRICE, text)
    return bool(value and float(value))


def _first_class_text(
    attribute: Attribute, css: str, ancestors: Sequence[LexborNode]
) -> str | None:
    for ancestor in ancestors:
        for node in ancestor.css(css)[:MAX_CLASS_NODES]:
            text = _class_text(attribute, node)
            if text is not None:
                return text
    return None


def _class_text(attribute: Attribute, node: LexborNode) -> str | None:
    """Return the text of an element of a common class, if it is a value of the attribute."""
    names = f"{node.attributes.get('class')} {node.attributes.get('id')}"
    is_price = attribute is Attribute.PRICE
    if is_price and OTHER_AMOUNTS.search(names):
        return None
    text = element_text(node, CLASS_CHARS_READ)
    if not text or len(text) > MAX_CLASS_CHARS:
        return None
    value = normalise(attribute, text)
    if value is None or (is_price and not float(value)):
        return None
    return text
