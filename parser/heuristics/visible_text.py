"""Claims of visible text: labelled values, the price near the title, elements of common classes."""

from collections.abc import Iterator, Sequence
from itertools import filterfalse

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from catalog.values import normalise
from parser.heuristics.claims import CLASS, LABEL, NEAR_HEADING, Claim
from parser.heuristics.labelled_values import read_label, without_label
from parser.heuristics.page_parts import (
    AMOUNT_CHARS_READ,
    PageParts,
    is_named_price,
    is_outer,
    is_regular_price,
)
from parser.page.ancestors import path_to_body
from parser.page.labels import following_text, short_text
from parser.page.texts import element_text

# Common classes and ids of shop systems.
SKU_CSS = '.sku, [class$="-sku"], [class$="__sku"], [id$="-sku"], [class*="sku-value"]'
PRICE_CSS = '[class*="price" i], [id*="price" i]'
LABEL_TAGS = "th, dt, td, li, p, span, strong, b, label, div, small, h5, h6, em"
# Bounds against hostile input.
MAX_LABEL_NODES = 3_000
MAX_CLASS_NODES = 40
# Distinct amounts near the title beyond which none is the price for sure.
MAX_AMOUNTS = 3
# Characters of a label that is read, at least.
MIN_LABEL_CHARS = 2
# Characters of a value in an element of a common class, and characters of it that are read.
MAX_CLASS_CHARS = 40
CLASS_CHARS_READ = 60


def visible_text_claims(parts: PageParts) -> Iterator[Claim]:
    """Yield the claims of the text around the elements that show the page's title."""
    ancestors = parts.ancestors_of_title()
    if not ancestors:
        return
    yield from _label_claims(ancestors[-1], parts)
    yield from _class_claims(ancestors, parts)


def _label_claims(content: LexborNode, parts: PageParts) -> Iterator[Claim]:
    """Yield the values behind the first label of each attribute: in its element, or in the next.

    Of nested elements that begin with a label, the innermost counts: an outer one may hold several.
    """
    claims: dict[Attribute, tuple[int, str]] = {}
    for node in content.css(LABEL_TAGS)[:MAX_LABEL_NODES]:
        text = short_text(node)
        if not text or len(text) < MIN_LABEL_CHARS:
            continue
        labelled = read_label(text)
        if labelled is None:
            continue
        path = path_to_body(node)
        outer = claims.get(labelled.attribute)
        if outer is not None and outer[0] not in path:
            continue
        value = labelled.value or following_text(node)
        if not value or is_outer(node) or parts.cards.intersection(path):
            continue
        if labelled.attribute is Attribute.PRICE and (parts.amounts or not _is_price(value)):
            continue
        claims[labelled.attribute] = node.mem_id, value
    for attribute, (_, value) in claims.items():
        yield Claim(attribute, value, LABEL)


def _is_price(text: str) -> bool:
    value = normalise(Attribute.PRICE, text)
    return bool(value and float(value))


def _class_claims(ancestors: Sequence[LexborNode], parts: PageParts) -> Iterator[Claim]:
    """Yield the price near the title, and values in elements of common classes."""
    amounts = _nearest_amounts(ancestors, parts)
    if 0 < len(amounts) <= MAX_AMOUNTS:
        yield Claim(Attribute.PRICE, amounts[0], NEAR_HEADING)
    else:
        price = _first_class_text(Attribute.PRICE, PRICE_CSS, ancestors, parts)
        if price is not None:
            yield Claim(Attribute.PRICE, price, CLASS)
    sku = _first_class_text(Attribute.SKU, SKU_CSS, ancestors, parts)
    if sku is not None:
        yield Claim(Attribute.SKU, sku, CLASS)


def _nearest_amounts(ancestors: Sequence[LexborNode], parts: PageParts) -> list[str]:
    """Return the distinct amounts in the innermost ancestor that has any, prices if named."""
    paths = [(node, set(path_to_body(node))) for node in parts.amounts]
    for ancestor in ancestors:
        nodes = [node for node, path in paths if ancestor.mem_id in path]
        if nodes:
            return _distinct(_price_texts(nodes))
    return []


def _price_texts(nodes: Sequence[LexborNode]) -> list[str]:
    """Return the texts of the likeliest prices among amounts: by their names, if they have any."""
    candidates = list(filterfalse(is_regular_price, nodes)) or list(nodes)
    candidates = list(filter(is_named_price, candidates)) or candidates
    texts = []
    for node in candidates:
        text = element_text(node, AMOUNT_CHARS_READ)
        if text:
            texts.append(text)
    return texts


def _distinct(texts: Sequence[str]) -> list[str]:
    """Leave out amounts that another spells with its decimals: raised cents have no separator."""
    distinct: dict[str, str] = {}
    for text in texts:
        digits = "".join(filter(str.isdigit, text))
        if len(text) > len(distinct.get(digits, "")):
            distinct[digits] = text
    return list(distinct.values())


def _first_class_text(
    attribute: Attribute, css: str, ancestors: Sequence[LexborNode], parts: PageParts
) -> str | None:
    for ancestor in ancestors:
        for node in ancestor.css(css)[:MAX_CLASS_NODES]:
            text = _class_text(attribute, node, parts)
            if text is not None:
                return text
    return None


def _class_text(attribute: Attribute, node: LexborNode, parts: PageParts) -> str | None:
    """Return the text of an element of a common class, if it is a value of the attribute."""
    text = element_text(node, CLASS_CHARS_READ)
    if not text or len(text) > MAX_CLASS_CHARS:
        return None
    text = without_label(attribute, text)
    value = normalise(attribute, text)
    if value is None or not parts.is_own(node):
        return None
    if attribute is Attribute.PRICE and not (float(value) and parts.is_price(node)):
        return None
    return text
