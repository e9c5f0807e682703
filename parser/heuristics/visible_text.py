"""What a page says of its offer by general rules, where no known offer has taught any.

Schema.org's words in JSON-LD, microdata and RDFa, OpenGraph's, objects of data that bear the page's title, labels
beside values, and classes as most shops name them. Each says something with a trust of its own; what agrees adds up.
The names are those of the vocabularies and of common shop systems, never of one shop.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from catalog.values import Hint, currency_of, key, normalise
from catalog.values.category import is_home
from catalog.values.identifier import GTIN_NAMES
from parser.heuristics.structured_data import Spoken, in_data, in_schema
from parser.page.document import Document
from parser.page.labels import labelled, next_text, short_text
from parser.page.texts import text_of

SCHEMA = 1.0
MARKUP = 0.9
GRAPH = 0.7
DATA = 0.8
HEAD = 0.6
LABEL = 0.5
NEAR = 0.5
CLASS = 0.4
SCOPE = '[itemtype*="schema.org/Product" i], [typeof~="Product" i], [typeof~="schema:Product" i]'
PROPERTIES = {
    Attribute.TITLE: ("name",), Attribute.PRICE: ("price", "lowPrice"), Attribute.CURRENCY: ("priceCurrency",),
    Attribute.BRAND: ("brand", "manufacturer"), Attribute.SKU: ("sku",), Attribute.HAN: ("mpn",),
    Attribute.EAN: (*GTIN_NAMES, "isbn"), Attribute.IMAGE: ("image",),
    Attribute.DESCRIPTION: ("description",), Attribute.CATEGORY: ("category",),
    Attribute.AVAILABILITY: ("availability",),
}  # fmt: skip
META = {
    Attribute.TITLE: ("og:title", "twitter:title"),
    Attribute.PRICE: ("product:sale_price:amount", "product:price:amount", "og:price:amount"),
    Attribute.CURRENCY: ("product:price:currency", "og:price:currency"),
    Attribute.BRAND: ("product:brand", "og:brand"), Attribute.SKU: ("product:retailer_item_id",),
    Attribute.EAN: ("product:ean", "product:gtin", "product:upc", "product:isbn"),
    Attribute.HAN: ("product:mfr_part_no",), Attribute.IMAGE: ("og:image:secure_url", "og:image", "twitter:image"),
    Attribute.DESCRIPTION: ("og:description", "description"), Attribute.CATEGORY: ("product:category",),
    Attribute.AVAILABILITY: ("product:availability", "og:availability"),
}  # fmt: skip
CODE = r"(?:ean|gtin|upc|isbn|barcode|codes?[- ]barres?|strichcode)(?:[- ]?(?:8|1[234]|code|number|no\.?|nummer))?"
LABELS = {
    Attribute.EAN: rf"{CODE}(?:\s*[/,]\s*{CODE})?",
    Attribute.SKU: r"sku|art(?:ikel|icle)?[.\s-]{0,2}(?:nr|no|nummer|number)\.?|item (?:no|number|code)\.?|product code"
    r"|r[ée]f[ée]rence|bestell(?:-?nr\.?|nummer)",
    Attribute.HAN: r"mpn|manufacturer(?:'s)? (?:part )?(?:no|number)\.?|part (?:no|number)\.?"
    r"|hersteller-?(?:nr|nummer)\.?",
    Attribute.BRAND: r"brand(?: name)?|manufacturer|vendor|hersteller|marke|marque|marca|fabricante",
}
LABELLED = {name: labelled(label) for name, label in LABELS.items()}
CLASSES = {
    Attribute.SKU: '.sku, [class$="-sku"], [class$="__sku"], [id$="-sku"], [class*="sku-value"]',
    Attribute.PRICE: '[class*="price" i], [id*="price" i]',
}
NOT_THE_PRICE = re.compile(
    r"old|was|compare|regular|list|rrp|msrp|uvp|strike|sav|unit|ship|range|before|filter", re.I
)
LABEL_TAGS = "th, dt, td, li, p, span, strong, b, label, div"
BUY = (
    'form[action*="cart/add" i], form[action*="addtocart" i], form[action*="add-to-cart" i], form.cart, '
    '[name="add-to-cart"], button[name="add"], [id*="addtocart" i], [id*="add-to-cart" i]'
)
AMOUNT_TAGS = "p, span, div, b, strong, ins, bdi, td, dd, em, data"
MOST_NODES = 1_500
MOST_AMOUNTS = 3
LONGEST_AMOUNT = 24
MOST_LABELS = 3_000
MOST_PRICES = 40
MOST_WAYS = 3
MOST_AROUND = 6


@dataclass(frozen=True)
class General:
    """A value by general rules: how sure it is, and which ways of saying it agree."""

    value: str
    trust: float
    sources: tuple[str, ...]


def general_reading(document: Document) -> dict[Attribute, General]:
    """The values of a page by general rules."""
    title = _title(document)
    said: dict[Attribute, list[Spoken]] = {}
    for one in _all(document, title):
        value = normalise(one.attribute, one.value, Hint(base_url=document.base))
        if value is not None and not (one.attribute is Attribute.CATEGORY and is_home(value)):
            said.setdefault(one.attribute, []).append(
                Spoken(one.attribute, value, one.trust, one.source)
            )
    if title:
        said.setdefault(Attribute.TITLE, []).append(Spoken(Attribute.TITLE, title, HEAD, "heading"))
    return {attribute: _decided(attribute, ones) for attribute, ones in said.items()}


def _decided(attribute: Attribute, said: Sequence[Spoken]) -> General:
    """What most trust stands behind; one source counts once."""
    trust: dict[str, dict[str, float]] = {}
    for one in said:
        of_value = trust.setdefault(key(attribute, one.value), {})
        of_value[one.source] = max(one.trust, of_value.get(one.source, 0.0))
    best = max(trust, key=lambda group: sum(trust[group].values()))
    value = next(one.value for one in said if key(attribute, one.value) == best)
    against = sum(sum(group.values()) for name, group in trust.items() if name != best)
    whole = sum(trust[best].values())
    return General(value, whole * whole / (whole + against), tuple(trust[best]))


def _all(document: Document, title: str | None) -> Iterator[Spoken]:
    yield from in_schema(document, title)
    yield from _in_markup(document)
    yield from _in_meta(document)
    if title:
        yield from in_data(document, title)
    around = list(_around_heading(document, title))
    yield from _labelled(around)
    yield from _by_class(around)


def _title(document: Document) -> str | None:
    """The heading that the page's own title begins with or holds; else the only one there is."""
    headings = [text for node in document.seen.headings if (text := text_of(node, 400))]
    metas = [_content(document, name) for name in ("og:title", "twitter:title")]
    whole = document.first("title")
    names = [*metas, text_of(whole, 400) if whole is not None else None]
    folded = " ".join(name for name in names if name).casefold()
    fitting = [one for one in headings if one.casefold() in folded]
    found = fitting or (headings if len(headings) == 1 else [])
    found = found or [name for name in metas if name]
    return normalise(Attribute.TITLE, found[0]) if found else None


def _content(document: Document, name: str) -> str | None:
    node = document.first(f'meta[property="{name}"], meta[name="{name}"]')
    return node.attributes.get("content") if node is not None else None


def _in_markup(document: Document) -> Iterator[Spoken]:
    """Microdata and RDFa of the first product on the page."""
    scope = document.first(SCOPE)
    if scope is None:
        return
    for attribute, names in PROPERTIES.items():
        for name in names:
            node = scope.css_first(
                f'[itemprop~="{name}"], [property~="{name}"], [property~="schema:{name}"]'
            )
            text = _marked(node) if node is not None else None
            if text:
                yield Spoken(attribute, text, MARKUP, "markup")
                break


def _marked(node: LexborNode) -> str | None:
    for name in ("content", "src", "href") if node.tag in ("meta", "img", "link") else ("content",):
        if node.attributes.get(name):
            return node.attributes[name]
    inner = node.css_first('[itemprop="name"], [property$="name"]')
    if inner is not None and inner.mem_id != node.mem_id:
        return inner.attributes.get("content") or text_of(inner, 400)
    return text_of(node)


def _in_meta(document: Document) -> Iterator[Spoken]:
    for attribute, names in META.items():
        for name in names:
            content = _content(document, name)
            if content:
                weak = attribute in (Attribute.TITLE, Attribute.DESCRIPTION)
                yield Spoken(attribute, content, GRAPH * (0.5 if weak else 1), "OpenGraph")
                break


def _around_heading(document: Document, title: str | None) -> Iterator[LexborNode]:
    """The elements around the page's heading, the narrowest first: what is said there is said of the offer."""
    heading = next(
        (node for node in document.seen.headings if title and text_of(node, 400) == title), None
    )
    above = heading.parent if heading is not None else None
    for _ in range(MOST_AROUND):
        if above is None or above.tag in ("body", "html", "-undef", None):
            return
        yield above
        above = above.parent


def _labelled(around: Sequence[LexborNode]) -> Iterator[Spoken]:
    """Values behind their labels: in the same element, or in the next one.

    Words that go on without a mark between make another label, as in `Hersteller-Nr.: 7`.
    """
    found: set[Attribute] = set()
    for node in around[-1].css(LABEL_TAGS)[:MOST_LABELS] if around else ():
        text = short_text(node)
        if not text or len(text) < 3:
            continue
        for attribute, pattern in LABELLED.items():
            match = pattern.fullmatch(text)
            if match is None or attribute in found:
                continue
            said = match["value"].strip()
            value = said or next_text(node)
            if value and (match["mark"] or not said or attribute is Attribute.EAN):
                found.add(attribute)
                yield Spoken(attribute, value, LABEL, "label")


def _by_class(around: Sequence[LexborNode]) -> Iterator[Spoken]:
    """What stands under a usual class, nearest to the heading."""
    near = next((amounts for above in around if (amounts := _amounts_in(above))), [])
    shown = 0 < len(near) <= MOST_AMOUNTS
    if shown:
        yield Spoken(Attribute.PRICE, near[0], NEAR, "near the heading")
    for attribute, css in CLASSES.items():
        if attribute is Attribute.PRICE and shown:
            continue
        nodes = (node for above in around for node in above.css(css)[:MOST_PRICES])
        text = next((text for node in nodes if (text := _text_of_class(attribute, node))), None)
        if text is not None:
            yield Spoken(attribute, text, CLASS, "class")


def _amounts_in(above: LexborNode) -> list[str]:
    """The texts in an element that are nothing but an amount with its currency, and not struck."""
    texts = (
        text_of(node, 30)
        for node in above.css(AMOUNT_TAGS)[:MOST_NODES]
        if node.first_child is not None
    )
    short = dict.fromkeys(
        text for text in texts if text and len(text) <= LONGEST_AMOUNT and currency_of(text)
    )
    return [text for text in short if (value := normalise(Attribute.PRICE, text)) and float(value)]


def _text_of_class(attribute: Attribute, node: LexborNode) -> str | None:
    names = f"{node.attributes.get('class')} {node.attributes.get('id')}"
    if attribute is Attribute.PRICE and NOT_THE_PRICE.search(names):
        return None
    text = text_of(node, 60)
    value = normalise(attribute, text) if text and len(text) <= 40 else None
    return (
        text if value is not None and (attribute is not Attribute.PRICE or float(value)) else None
    )


def offer_likeness(document: Document, read: Mapping[Attribute, General]) -> int:
    """Whether a page looks like one offer's: 2 where it says so itself, 1 where it has but a price and a way to buy."""
    if (
        Attribute.PRICE not in read
        or Attribute.TITLE not in read
        or not float(read[Attribute.PRICE].value)
    ):
        return 0
    if _content(document, "og:type") in ("product", "og:product", "product.item"):
        return 2
    things = [
        block
        for block in document.blocks
        if block.name in ("ld+json Product", "ld+json ProductGroup")
    ]
    scopes = [node for node in document.tree.css(SCOPE)[:MOST_PRICES] if _is_outer(node)]
    if len(things) == 1 or len(scopes) == 1 or "data" in read[Attribute.PRICE].sources:
        return 2
    if things or scopes:
        return 0
    if "near the heading" in read[Attribute.PRICE].sources and any(
        "label" in one.sources for one in read.values()
    ):
        return 1
    ways = {node.mem_id for node in document.tree.css(BUY)[: MOST_WAYS + 1]}
    return int(_content(document, "product:price:amount") is not None or 0 < len(ways) <= MOST_WAYS)


def _is_outer(node: LexborNode) -> bool:
    kind = f"{node.attributes.get('itemtype')} {node.attributes.get('typeof')}".lower()
    return "product" in kind and node.attributes.get("itemprop") is None
