"""Several offers on one page: the variants of a product, each with its own number, price and picture.

Shops keep variants in a list of a script, in JSON-LD's offers, or in the rows of a table. An item is one of them; rules
that look inside it read what is its own, and the page as a whole says what all share. The numbers of the whole page are
those of the variant that it happens to show, so they are never taken for another's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit, urlunsplit

from selectolax.lexbor import LexborNode

from catalog.models import NUMBERS, Attribute, OfferFields
from parser.document import Document, scalar
from parser.paths import compile_path
from parser.rules import Rule, Variants
from parser.selector import AnySelector, JsonAt
from parser.texts import text_at
from parser.votes import Reading, Vote, decide, offer_of, value_of

MOST_ITEMS = 250
LONGEST_OPTION = 80
NO_CHOICE = frozenset({"default title", "default"})


@dataclass(frozen=True)
class Variant:
    """One offer of a page that keeps several, and what was read of it."""

    offer: OfferFields
    readings: Mapping[Attribute, Reading] = field(default_factory=dict)


@dataclass(frozen=True)
class Item:
    """One of several offers on a page: an object of its data, or an element."""

    data: Any = None
    node: LexborNode | None = None

    def find(self, selector: AnySelector) -> str | None:
        """The first value where the selector points inside the item, as text; None where there is none."""
        if isinstance(selector, JsonAt):
            found = compile_path(selector.path)(self.data) if self.node is None else ()
            return next((text for value in found if (text := scalar(value))), None)
        if self.node is None:
            return None
        node = self.node.css_first(selector.css) if selector.css else self.node
        return None if node is None else text_at(node, selector)


def items_at(document: Document, selector: AnySelector) -> list[Item]:
    """The items that a selector finds on a page, at most 250."""
    if isinstance(selector, JsonAt):
        found = (item for data in document.data_of(selector) for item in _children(data, selector.path))
        return [Item(data=one) for one in islice((one for one in found if isinstance(one, dict)), MOST_ITEMS)]
    return [Item(node=node) for node in document.tree.css(selector.css)[:MOST_ITEMS]]


def _children(data: Any, path: str) -> Iterator[Any]:
    """What stands at a path, whose last step may be any child: a list of variants may be long."""
    if not path.endswith(".*"):
        yield from compile_path(path)(data)
        return
    for container in compile_path(path.removesuffix(".*"))(data):
        yield from (
            container.values() if isinstance(container, dict) else container if isinstance(container, list) else []
        )


def variants_of(
    document: Document, ways: Iterable[Variants], shared: Mapping[Attribute, Reading], currency: str | None
) -> tuple[Variant, ...]:
    """The offers of a page, if the first of these ways that finds items finds some that differ."""
    for way in ways:
        found = [_read(item, way, document.url) for item in items_at(document, way.items)]
        distinct = {one.says: one for one in reversed(found) if one.says}
        kept = [one for one in found if distinct.get(one.says) is one]
        if kept:
            alone = len(kept) == 1
            return tuple(_variant(one, way, shared, document.url, currency, alone) for one in kept)
    return ()


@dataclass(frozen=True)
class _Read:
    """What was read inside an item."""

    readings: Mapping[Attribute, Reading]
    options: tuple[str, ...]
    link: str | None

    @property
    def says(self) -> tuple[object, ...]:
        """What tells it from the others; nothing where it has neither number, address nor words of its own."""
        own = tuple(one.value for name, one in sorted(self.readings.items()) if name in NUMBERS and one.value)
        told = (own, self.options, self.link)
        return told if any(told) else ()


def _read(item: Item, way: Variants, url: str) -> _Read:
    votes: dict[Attribute, list[Vote]] = {}
    for rule in way.rules:
        votes.setdefault(rule.attribute, []).append(_vote(item, rule, url))
    texts = [item.find(selector) for selector in way.options]
    options = [text for text in texts if text and len(text) <= LONGEST_OPTION and text.casefold() not in NO_CHOICE]
    link = item.find(way.link) if way.link is not None else None
    return _Read({name: decide(name, cast) for name, cast in votes.items()}, tuple(dict.fromkeys(options)), link)


def _vote(item: Item, rule: Rule, url: str) -> Vote:
    raw = item.find(rule.selector)
    cut = rule.trim.apply(raw) if raw is not None else None
    return Vote(rule, raw, cut, value_of(rule, cut, url) if cut is not None else None)


def _variant(
    one: _Read, way: Variants, shared: Mapping[Attribute, Reading], url: str, currency: str | None, alone: bool
) -> Variant:
    """The offer of an item: what it says itself, and what the page says of all."""
    own = {name: reading for name, reading in one.readings.items() if reading.value is not None}
    of_all = {name: reading for name, reading in shared.items() if alone or name not in NUMBERS}
    readings = {**of_all, **own}
    offer = offer_of(readings, url if alone else _address(one, way, url), currency)
    if Attribute.TITLE not in own and not alone:
        offer = offer.model_copy(update={"title": titled(offer.title or "", one.options)})
    return Variant(offer, readings)


def titled(title: str, options: Sequence[str]) -> str:
    """A variant's title: the product's, and those of the words that tell the variant which it does not say.

    >>> titled("Shirt", ["Red", "M"]), titled("Shirt, red", ["Red", "M"])
    ('Shirt - Red / M', 'Shirt, red - M')
    """
    said = set(title.casefold().replace(",", " ").split())
    more = [option for option in options if not said.issuperset(option.casefold().split())]
    return f"{title} - {' / '.join(more)}" if more else title


def _address(one: _Read, way: Variants, url: str) -> str:
    """A variant's own address: by its link, by its number in the query, else told apart by a fragment."""
    parts = urlsplit(url)
    if one.link and way.parameter:
        others = [(name, value) for name, value in parse_qsl(parts.query) if name != way.parameter]
        query = urlencode([*others, (way.parameter, one.link)])
        return urlunsplit((parts.scheme, parts.netloc, parts.path, query, ""))
    if one.link:
        absolute = urljoin(url, one.link)
        if urlsplit(absolute).netloc == parts.netloc and absolute != url:
            return absolute
    told = next((reading.value for name, reading in one.readings.items() if name in NUMBERS and reading.value), None)
    return urlunsplit(parts._replace(fragment=f"variant-{quote(told or ' '.join(one.options))}"))
