"""Several offers on one page: the variants of a product, each with its own number, price and picture.

Shops keep variants in a list of a script, in JSON-LD's offers, or in the rows of a table. An item is one of them; rules
that look inside it read what is its own, and the page as a whole says what all share. The numbers of the whole page are
those of the variant that it happens to show, so they are never taken for another's.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from selectolax.lexbor import LexborNode

from catalog.models import NUMBERS, Attribute, OfferFields
from catalog.values import normalise
from parser.page.document import Document, scalar
from parser.page.texts import text_at
from parser.rules.model import Variants
from parser.rules.selector import AnySelector, JsonAt
from parser.scripts.syntax.jsonpath import compile_path
from parser.voting.votes import Vote, vote_for
from parser.voting.winner import Reading, decide, offer_of
from url_cleaner.urls.link import absolute

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
        found = (
            item for data in document.data_of(selector) for item in _children(data, selector.path)
        )
        return [
            Item(data=one)
            for one in islice((one for one in found if isinstance(one, dict)), MOST_ITEMS)
        ]
    return [Item(node=node) for node in document.tree.css(selector.css)[:MOST_ITEMS]]


def _children(data: Any, path: str) -> Iterator[Any]:
    """What stands at a path, whose last step may be any child: a list of variants may be long."""
    if not path.endswith(".*"):
        yield from compile_path(path)(data)
        return
    for container in compile_path(path.removesuffix(".*"))(data):
        yield from (
            container.values()
            if isinstance(container, dict)
            else container
            if isinstance(container, list)
            else []
        )


def variants_of(
    document: Document,
    ways: Iterable[Variants],
    shared: Mapping[Attribute, Reading],
    currency: str | None,
) -> tuple[Variant, ...]:
    """The offers of a page, if the first of these ways that finds items finds some that differ."""
    for way in ways:
        found = [_read(item, way, document) for item in items_at(document, way.items)]
        distinct = {one.says: one for one in reversed(found) if one.says}
        kept = [one for one in found if distinct.get(one.says) is one]
        if kept:
            addresses = _addresses(kept, document.url)
            of_all = shared if len(kept) == 1 else _of_all(way, shared)
            return tuple(
                _variant(*one, of_all, currency, len(kept) == 1)
                for one in zip(kept, addresses, strict=True)
            )
    return ()


@dataclass(frozen=True)
class _Read:
    """What was read inside an item."""

    readings: Mapping[Attribute, Reading]
    options: tuple[str, ...]
    link: str | None
    query: tuple[tuple[str, str], ...]

    @property
    def numbers(self) -> tuple[str, ...]:
        """Its own numbers."""
        return tuple(
            one.value
            for name, one in sorted(self.readings.items())
            if name in NUMBERS and one.value
        )

    @property
    def says(self) -> tuple[object, ...]:
        """What tells it from the others; nothing where it has neither number, address nor words of its own."""
        told = (self.numbers, self.options, self.link, self.query)
        return told if any(told) else ()


def _read(item: Item, way: Variants, document: Document) -> _Read:
    votes: dict[Attribute, list[Vote]] = {}
    for rule in way.rules:
        votes.setdefault(rule.attribute, []).append(
            vote_for(rule, item.find(rule.selector), document)
        )
    texts = [normalise(Attribute.TITLE, item.find(selector) or "") for selector in way.options]
    options = [
        text
        for text in texts
        if text and len(text) <= LONGEST_OPTION and text.casefold() not in NO_CHOICE
    ]
    link = _printable(item, way.link) if way.link is not None else None
    query = tuple((name, value) for name, at in way.query if (value := _printable(item, at)))
    return _Read(
        {name: decide(name, cast) for name, cast in votes.items()},
        tuple(dict.fromkeys(options)),
        link,
        query,
    )


def _printable(item: Item, selector: AnySelector) -> str:
    return "".join(filter(str.isprintable, item.find(selector) or ""))


def _of_all(way: Variants, shared: Mapping[Attribute, Reading]) -> dict[Attribute, Reading]:
    """What a page says of all its variants: no number, and no price where they have their own, as it shows one's."""
    own = {*NUMBERS, *(rule.attribute for rule in way.rules if rule.attribute is Attribute.PRICE)}
    return {name: reading for name, reading in shared.items() if name not in own}


def _variant(
    one: _Read, url: str, of_all: Mapping[Attribute, Reading], currency: str | None, alone: bool
) -> Variant:
    """The offer of an item: what it says itself, and what the page says of all."""
    own = {name: reading for name, reading in one.readings.items() if reading.value is not None}
    readings = {**of_all, **own}
    offer = offer_of(readings, url, currency)
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


def _addresses(found: Sequence[_Read], url: str) -> list[str]:
    """An address for each: the page's where it is alone; those that would share one are told apart by a fragment."""
    if len(found) == 1:
        return [url]
    addresses = [_address(one, url) for one in found]
    for told in (_in_short, _in_full):
        counts = Counter(addresses)
        addresses = [
            address if counts[address] == 1 else _with_fragment(address, told(one))
            for one, address in zip(found, addresses, strict=True)
        ]
    return addresses


def _address(one: _Read, url: str) -> str:
    """A variant's own address: by the parameters of its query, by its link, else told apart by a fragment."""
    parts = urlsplit(url)
    if one.query:
        asked = dict(one.query)
        others = [(name, value) for name, value in parse_qsl(parts.query) if name not in asked]
        return urlunsplit(parts._replace(query=urlencode([*others, *one.query]), fragment=""))
    link = absolute(url, one.link or "") or url
    leads_on = urlsplit(link).netloc == parts.netloc and link != url
    return link if leads_on else _with_fragment(url, _in_short(one))


def _in_short(one: _Read) -> str:
    return one.numbers[0] if one.numbers else " ".join(one.options)


def _in_full(one: _Read) -> str:
    return " ".join(
        [*one.numbers, *one.options, *(value for _, value in one.query), one.link or ""]
    ).rstrip()


def _with_fragment(address: str, told: str) -> str:
    return urlunsplit(urlsplit(address)._replace(fragment=f"variant-{quote(told)}"))
