"""Several offers on one page: variants, each with its own number, price and picture.

Shops list variants in a script, in JSON-LD's offers, or in the rows of a table. An item is one
variant; rules that look inside it read its own values, and the page as a whole provides the values
that all share. The page's own numbers are those of the variant that it happens to show, so they are
never used for another one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote_plus, urlencode, urlsplit, urlunsplit

from selectolax.lexbor import LexborNode

from catalog.models import IDENTIFIERS, Attribute, OfferFields
from catalog.values import normalise
from parser.page.document import Document, scalar_text
from parser.page.struck_prices import find_price
from parser.page.texts import selected_text
from parser.rules.model import VariantLayout
from parser.rules.selector import AnySelector, JsonAt
from parser.scripts.syntax.jsonpath import compile_path
from parser.voting.votes import Vote, vote_on_text
from parser.voting.winner import Reading, decide, offer_from, with_values
from url_cleaner.urls.url import join_url

# Items of a page that are read: a bound against hostile input.
MAX_ITEMS = 250
# Characters of a text that distinguishes a variant; longer ones are prose.
MAX_OPTION_CHARS = 80
# Placeholders of shop systems for a product without options.
NO_OPTION = frozenset({"default title", "default"})


@dataclass(frozen=True)
class Variant:
    """One offer of a page that lists several, and its readings."""

    offer: OfferFields
    readings: Mapping[Attribute, Reading] = field(default_factory=dict)


@dataclass(frozen=True)
class Item:
    """The place of one of several offers on a page: an object of its data, or an element."""

    data: Any = None
    node: LexborNode | None = None

    def find(self, selector: AnySelector) -> str | None:
        """Return the first value at a selector inside the item, as text; None without any."""
        if isinstance(selector, JsonAt):
            if self.node is not None:
                return None
            texts = map(scalar_text, compile_path(selector.path)(self.data))
            return next((text for text in texts if text), None)
        if self.node is None:
            return None
        node = self._first(selector.css)
        return None if node is None else selected_text(node, selector)

    def find_price(self, selector: AnySelector) -> str | None:
        """Return the text at a price's selector, without prices that are struck out."""
        if self.node is None or isinstance(selector, JsonAt):
            return self.find(selector)
        css, element = selector.css, self.node
        return find_price(self._first(css), selector, lambda: element.css(css) if css else ())

    def _first(self, css: str) -> LexborNode | None:
        if self.node is None or not css:
            return self.node
        return self.node.css_first(css)


def items_at(document: Document, selector: AnySelector) -> list[Item]:
    """Return the items that a selector matches on a page, at most 250."""
    if not isinstance(selector, JsonAt):
        return [Item(node=node) for node in document.tree.css(selector.css)[:MAX_ITEMS]]
    items: list[Item] = []
    for data in document.data_of(selector):
        for item in _children_at(data, selector.path):
            if isinstance(item, dict):
                items.append(Item(data=item))
                if len(items) == MAX_ITEMS:
                    return items
    return items


def _children_at(data: Any, path: str) -> Iterator[Any]:
    """Yield the values at a path; without the cap on children where its last step is any child."""
    if not path.endswith(".*"):
        yield from compile_path(path)(data)
        return
    for container in compile_path(path.removesuffix(".*"))(data):
        if isinstance(container, dict):
            yield from container.values()
        elif isinstance(container, list):
            yield from container


def read_variants(
    document: Document,
    layouts: Iterable[VariantLayout],
    page_readings: Mapping[Attribute, Reading],
    currency: str | None,
) -> tuple[Variant, ...]:
    """Return the offers of a page by the first layout that finds items that differ."""
    for layout in layouts:
        items = [_read_item(item, layout, document) for item in items_at(document, layout.items)]
        distinct = _distinct(items)
        if distinct:
            return tuple(_to_variants(distinct, layout, document, page_readings, currency))
    return ()


@dataclass(frozen=True)
class _ItemReading:
    """The values that were read inside an item."""

    readings: Mapping[Attribute, Reading]
    options: tuple[str, ...]
    link: str | None
    query: tuple[tuple[str, str], ...]

    @property
    def numbers(self) -> tuple[str, ...]:
        """Its own numbers."""
        readings = sorted(self.readings.items())
        return tuple(
            reading.value for name, reading in readings if name in IDENTIFIERS and reading.value
        )

    @property
    def identity(self) -> tuple[object, ...]:
        """Numbers, options and URL, by which an item differs from others."""
        return self.numbers, self.options, self.link, self.query

    @property
    def short_name(self) -> str:
        """Its first number, else its options."""
        return self.numbers[0] if self.numbers else " ".join(self.options)

    @property
    def full_name(self) -> str:
        """All that distinguishes it."""
        query_values = (value for _, value in self.query)
        return " ".join([*self.numbers, *self.options, *query_values, self.link or ""]).rstrip()


def _distinct(items: Sequence[_ItemReading]) -> list[_ItemReading]:
    """Return the first item of each identity, without items that have none."""
    distinct: dict[tuple[object, ...], _ItemReading] = {}
    for item in items:
        if any(item.identity):
            distinct.setdefault(item.identity, item)
    return list(distinct.values())


def _read_item(item: Item, layout: VariantLayout, document: Document) -> _ItemReading:
    votes: dict[Attribute, list[Vote]] = {}
    for rule in layout.rules:
        is_price = rule.attribute is Attribute.PRICE
        text = item.find_price(rule.selector) if is_price else item.find(rule.selector)
        vote = vote_on_text(rule, text, document)
        votes.setdefault(rule.attribute, []).append(vote)
    query = []
    for name, selector in layout.query:
        value = _printable_text(item, selector)
        if value:
            query.append((name, value))
    return _ItemReading(
        readings={name: decide(name, cast) for name, cast in votes.items()},
        options=_options_of(item, layout),
        link=_printable_text(item, layout.link) if layout.link is not None else None,
        query=tuple(query),
    )


def _options_of(item: Item, layout: VariantLayout) -> tuple[str, ...]:
    options = []
    for selector in layout.options:
        text = normalise(Attribute.TITLE, item.find(selector) or "")
        if text and len(text) <= MAX_OPTION_CHARS and text.casefold() not in NO_OPTION:
            options.append(text)
    return tuple(dict.fromkeys(options))


def _printable_text(item: Item, selector: AnySelector) -> str:
    return "".join(filter(str.isprintable, item.find(selector) or ""))


def _to_variants(
    items: Sequence[_ItemReading],
    layout: VariantLayout,
    document: Document,
    page_readings: Mapping[Attribute, Reading],
    currency: str | None,
) -> Iterator[Variant]:
    if len(items) == 1:
        # A single item is the page's own offer.
        yield Variant(*_merge(items[0], page_readings, document.url, currency))
        return
    # The page's numbers are those of one variant, and so is its price where each has its own.
    excluded = set(IDENTIFIERS)
    if any(rule.attribute is Attribute.PRICE for rule in layout.rules):
        excluded.add(Attribute.PRICE)
    shared = {name: reading for name, reading in page_readings.items() if name not in excluded}
    addresses = [_address(item, document) for item in items]
    short_names = [item.short_name for item in items]
    # Short names may be equal, too.
    for names in (short_names, [item.full_name for item in items]):
        addresses = _with_fragments(addresses, names)
    for item, address in zip(items, addresses, strict=True):
        offer, readings = _merge(item, shared, address, currency)
        own_title = item.readings.get(Attribute.TITLE)
        if own_title is None or own_title.value is None:
            title = variant_title(offer.title or "", item.options)
            offer = offer.model_copy(update={"title": title})
        yield Variant(offer, readings)


def _merge(
    item: _ItemReading, shared: Mapping[Attribute, Reading], url: str, currency: str | None
) -> tuple[OfferFields, dict[Attribute, Reading]]:
    """Return the offer of an item, and its readings: its own before the shared ones."""
    readings = {**shared, **with_values(item.readings)}
    return offer_from(readings, url, currency), readings


def variant_title(title: str, options: Sequence[str]) -> str:
    """Return a variant's title: the product's, followed by the options that it does not contain.

    >>> variant_title("Shirt", ["Red", "M"]), variant_title("Shirt, red", ["Red", "M"])
    ('Shirt - Red / M', 'Shirt, red - M')
    """
    title_words = set(title.casefold().replace(",", " ").split())
    missing = [
        option for option in options if not title_words.issuperset(option.casefold().split())
    ]
    if not missing:
        return title
    return f"{title} - {' / '.join(missing)}"


def _with_fragments(addresses: Sequence[str], names: Sequence[str]) -> list[str]:
    """Add a fragment with the item's name to each URL that is not unique."""
    counts = Counter(addresses)
    unique = []
    for address, name in zip(addresses, names, strict=True):
        unique.append(address if counts[address] == 1 else _with_fragment(address, name))
    return unique


def _address(item: _ItemReading, document: Document) -> str:
    """Return a variant's URL: by query, by link, else the page's with a fragment."""
    url = document.url
    parts = urlsplit(url)
    if item.query:
        replaced = {name for name, _ in item.query}
        # The other parameters stay as they are written, in any encoding.
        pairs = [
            pair
            for pair in parts.query.split("&")
            if pair and unquote_plus(pair.partition("=")[0]) not in replaced
        ]
        query = "&".join([*pairs, urlencode(item.query)])
        return urlunsplit(parts._replace(query=query, fragment=""))
    link = (join_url(document.base, item.link) if item.link else None) or url
    if urlsplit(link).netloc == parts.netloc and link != url:
        return link
    return _with_fragment(url, item.short_name)


def _with_fragment(address: str, name: str) -> str:
    return urlunsplit(urlsplit(address)._replace(fragment=f"variant-{quote(name)}"))
