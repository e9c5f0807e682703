"""An offer prepared for comparing: every text folded, cut into tokens and keyed exactly once."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from catalog.models import Attribute, OfferFields
from catalog.values import is_dash, key
from matcher.records.product_kinds import Kinds, kinds
from matcher.records.text import fold, has_digit, joined, tokens
from matcher.records.units import quantities
from matcher.records.url_keys import Address, address

MOST_DESCRIPTION = 1500
MOST_IMAGES = 20
MOST_KEY = 100
COMMON_IMAGE = 5


@dataclass(frozen=True)
class Record:
    """One offer as the matcher compares it; empty text stands for unknown.

    `title` is folded and without a leading or trailing brand name (`with_brands`), because whether the brand is
    written there says nothing about the offer. `brand` is that of the offer's own field, or else the one found there.
    `others` are further links under which the same offer was found, `product` the catalog product it belongs to, `page`
    the link of the page that keeps it among several offers, the variants of one product.
    """

    title: str = ""
    brand: str = ""
    description: str = ""
    price: float | None = None
    ean: str = ""
    han: str = ""
    sku: str = ""
    images: tuple[str, ...] = ()
    address: Address = field(default_factory=Address)
    others: tuple[Address, ...] = ()
    product: str = ""
    page: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The title's tokens."""
        return tokens(self.title)

    @property
    def spellings(self) -> frozenset[str]:
        """The title's tokens and their joined spellings."""
        return _spellings(self.title)

    @property
    def told(self) -> frozenset[str]:
        """The spellings of title and description: whatever the offer says of itself."""
        return _told(self.title, self.description) if self.description else _spellings(self.title)

    @cached_property
    def quantities(self) -> dict[str, frozenset[str]]:
        """The title's quantities by unit."""
        return quantities(self.words)

    @cached_property
    def codes(self) -> frozenset[str]:
        """The title's tokens that may be model numbers: a digit in them, and no quantity."""
        amounts = {value + unit for unit, values in self.quantities.items() for value in values}
        return frozenset(word for word in self.words if has_digit(word) and word not in amounts)

    @cached_property
    def kinds(self) -> Kinds:
        """What kind of thing the title names."""
        return kinds(self.words)

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Every link under which the offer was found, its own first."""
        return (self.address, *self.others)

    @property
    def text(self) -> str:
        """What stands for the offer in a search: its title, else the start of its description."""
        return self.title or self.description[:200]


def records(offers: Iterable[OfferFields]) -> list[Record]:
    """The offers prepared one by one; see `with_brands` for what needs all of them."""
    return [_record(offer) for offer in offers]


def with_brands(items: Sequence[Record], brands: Iterable[str]) -> list[Record]:
    """The records with known brand names taken off the ends of their titles, and kept as brand where none was given."""
    known = {brand for brand in brands if len(brand) > 1}
    longest = max((brand.count(" ") + 1 for brand in known), default=0)
    return [_without_brand(item, known, min(longest, 6)) for item in items]


def with_links(items: Sequence[Record], links: Sequence[Sequence[str]]) -> list[Record]:
    """The records with the further links under which each was found."""
    if not links:
        return list(items)
    return [
        replace(item, others=tuple(address(url) for url in urls)) if urls else item
        for item, urls in zip(items, links, strict=True)
    ]


def with_pages(items: Sequence[Record], pages: Sequence[str | None]) -> list[Record]:
    """The records with the page that keeps each among several offers."""
    if not any(pages):
        return list(items)
    return [
        replace(item, page=address(page).whole) if page else item
        for item, page in zip(items, pages, strict=True)
    ]


def _without_brand(item: Record, known: set[str], longest: int) -> Record:
    words = item.title.split(" ")
    for count in range(min(longest, len(words) - 1), 0, -1):
        for found, rest in ((words[:count], words[count:]), (words[-count:], words[:-count])):
            name = " ".join(found)
            if name in known:
                title = " ".join(rest).strip(" -–|:,/")
                return replace(item, title=title, brand=item.brand or name) if title else item
    return item


def _record(offer: OfferFields) -> Record:
    return Record(
        title=fold(offer.title),
        brand=fold(offer.brand, MOST_KEY),
        description=fold(offer.description, MOST_DESCRIPTION),
        price=_amount(offer),
        ean=_key(Attribute.EAN, offer.ean),
        han=_compact(_key(Attribute.HAN, offer.han)),
        sku="" if is_dash(offer.sku) else _key(Attribute.SKU, offer.sku),
        images=tuple(
            dict.fromkeys(
                k for i in offer.images[:MOST_IMAGES] if (k := _key(Attribute.IMAGE, i[:2000]))
            )
        ),
        address=address(offer.url),
    )


@lru_cache(maxsize=65_536)
def _spellings(text: str) -> frozenset[str]:
    """The tokens of a text and their joined spellings; kept for a while, as those of a million titles would fill it."""
    words = tokens(text)
    return frozenset(words) | joined(words)


@lru_cache(maxsize=16_384)
def _told(title: str, description: str) -> frozenset[str]:
    words = tokens(description)
    return _spellings(title) | frozenset(words) | joined(words)


def _compact(code: str) -> str:
    """A part number without its separators, which every seller sets otherwise."""
    return "".join(c for c in fold(code, MOST_KEY) if c.isalnum())


def _amount(offer: OfferFields) -> float | None:
    if offer.price is None or not offer.price.is_finite() or not 0 < offer.price < 10**12:
        return None
    return float(offer.price)


def _key(attribute: Attribute, value: str | None) -> str:
    return key(attribute, value)[: 2 * MOST_KEY] if value and len(value) <= 2000 else ""


def with_own_images(items: Sequence[Record]) -> list[Record]:
    """The records without images that many of the same side show: logos and placeholders are no evidence."""
    counts = Counter(image for item in items for image in item.images)
    common = {image for image, count in counts.items() if count > COMMON_IMAGE + len(items) // 100}
    if not common:
        return list(items)
    return [
        replace(item, images=tuple(i for i in item.images if i not in common)) for item in items
    ]
