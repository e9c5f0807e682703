"""Records: offers prepared for comparison, every text folded, tokenized and keyed once."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from catalog.models import Attribute, OfferFields
from catalog.values import is_dash, value_key
from matcher.catalog_statistics import CatalogStatistics
from matcher.records.product_kinds import ProductKind, detect_product_kind
from matcher.records.text import fold, has_digit, join_neighbours, tokenize
from matcher.records.units import extract_quantities
from matcher.records.url_keys import LinkKeys, parse_link

# Characters of a description that are compared; cap against hostile input.
MAX_DESCRIPTION = 1500
# Characters of the description that stand for a missing title in the search for candidates.
MAX_SEARCH_TEXT = 200
# Images of an offer; cap against hostile input.
MAX_IMAGES = 20
# Characters of a brand or a part number; cap against hostile input.
MAX_KEY = 100
# Characters of a raw identifier or image address; cap against hostile input.
MAX_RAW_KEY = 2000
# Words of a brand name; cap: each further word is one more look-up per title.
MAX_BRAND_WORDS = 6
# Prices from here on are errors or hostile input.
PRICE_LIMIT = 10**12
# An image on more offers than this, plus one in a hundred of its side, is a logo or placeholder.
COMMON_IMAGE = 5


@dataclass(frozen=True, slots=True)
class Record:
    """One offer as the matcher compares it; empty text stands for unknown.

    `title` is folded, without a brand name at its ends (`strip_brands`): shops and feeds differ in
    whether they write it. `brand` comes from the offer's own field, else from its title.
    `alternate_links` are further links of the same offer, `product` is its catalog product.
    `variant_page` is the address of the page that shows it among other variants.
    """

    title: str = ""
    brand: str = ""
    description: str = ""
    price: float | None = None
    ean: str = ""
    han: str = ""
    sku: str = ""
    images: tuple[str, ...] = ()
    link: LinkKeys = field(default_factory=LinkKeys)
    alternate_links: tuple[LinkKeys, ...] = ()
    product: str = ""
    variant_page: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The title's tokens."""
        return tokenize(self.title)

    @property
    def spellings(self) -> frozenset[str]:
        """The title's tokens and their joined spellings."""
        return _spellings(self.title)

    @property
    def text_spellings(self) -> frozenset[str]:
        """The spellings of title and description."""
        if not self.description:
            return _spellings(self.title)
        return _text_spellings(self.title, self.description)

    @property
    def quantities(self) -> dict[str, frozenset[str]]:
        """The title's amounts by base unit."""
        return _title_features(self.title).quantities

    @property
    def model_numbers(self) -> frozenset[str]:
        """The title's tokens with a digit that are no quantities."""
        return _title_features(self.title).model_numbers

    @property
    def product_kind(self) -> ProductKind:
        """The product kind that the title names."""
        return _title_features(self.title).product_kind

    @property
    def links(self) -> tuple[LinkKeys, ...]:
        """All links of the offer, its own first."""
        return (self.link, *self.alternate_links)

    @property
    def search_text(self) -> str:
        """The text that blocking searches with: the title, else the start of the description."""
        return self.title or self.description[:MAX_SEARCH_TEXT]


def record_fields(record: Record) -> dict[str, Any]:
    """Return the fields of a record by name, not copied."""
    return {name: getattr(record, name) for name in Record.__dataclass_fields__}


def build_records(offers: Iterable[OfferFields]) -> list[Record]:
    """Prepare offers one by one; see `strip_brands` for the step that needs all of them."""
    return [_build_record(offer) for offer in offers]


class BrandNames:
    """Known brand names, to be removed from the ends of titles."""

    def __init__(self, brands: Iterable[str]) -> None:
        self._names = {brand for brand in brands if len(brand) > 1}
        longest = max((name.count(" ") + 1 for name in self._names), default=0)
        self._max_words = min(longest, MAX_BRAND_WORDS)

    def strip(self, title: str, brand: str) -> tuple[str, str]:
        """Return a title without a name at its ends, which fills an empty brand."""
        words = title.split(" ")
        # The longest name first: `bosch home` before `bosch`. One word of the title always remains.
        for count in range(min(self._max_words, len(words) - 1), 0, -1):
            for name_words, other_words in (
                (words[:count], words[count:]),
                (words[-count:], words[:-count]),
            ):
                name = " ".join(name_words)
                if name in self._names:
                    stripped = " ".join(other_words).strip(" -–|:,/")
                    return (stripped, brand or name) if stripped else (title, brand)
        return title, brand


def build_title_record(
    names: BrandNames, title: str | None, brand: str | None, description: str | None
) -> Record:
    """Prepare the texts that candidates are searched by, and nothing else of an offer."""
    stripped, brand_name = names.strip(fold(title), fold(brand, MAX_KEY))
    return Record(title=stripped, brand=brand_name, description=fold(description, MAX_DESCRIPTION))


def strip_brands(records: Sequence[Record], brands: Iterable[str]) -> list[Record]:
    """Remove known brand names from the ends of titles; a removed name fills an empty brand."""
    names = BrandNames(brands)
    stripped = []
    for record in records:
        title, brand = names.strip(record.title, record.brand)
        is_same = title == record.title and brand == record.brand
        stripped.append(record if is_same else replace(record, title=title, brand=brand))
    return stripped


def add_alternate_links(
    records: Sequence[Record], alternate_urls: Sequence[Sequence[str]]
) -> list[Record]:
    """Add to each record the further URLs of the same offer; no URLs at all change nothing."""
    linked = list(records)
    if not alternate_urls:
        return linked
    for index, urls in enumerate(alternate_urls):
        if urls:
            links = tuple(parse_link(url) for url in urls)
            linked[index] = replace(linked[index], alternate_links=links)
    return linked


def add_variant_pages(records: Sequence[Record], pages: Sequence[str | None]) -> list[Record]:
    """Add to each record the page that holds it among other variants, where there is one."""
    placed = list(records)
    for index, page in enumerate(pages):
        if page:
            placed[index] = replace(placed[index], variant_page=parse_link(page).address)
    return placed


def drop_common_images(
    records: Sequence[Record], statistics: CatalogStatistics | None = None
) -> list[Record]:
    """Drop images that many offers of one side share: logos and placeholders are no evidence.

    With `statistics`, they count the images of the whole side.
    """
    counts = Counter(image for record in records for image in record.images)
    size = len(records)
    if statistics:
        counts = Counter({image: statistics.image_count(image) for image in counts})
        size = statistics.size
    max_count = COMMON_IMAGE + size // 100
    common = {image for image, count in counts.items() if count > max_count}
    if not common:
        return list(records)
    reduced = []
    for record in records:
        images = tuple(image for image in record.images if image not in common)
        reduced.append(replace(record, images=images))
    return reduced


def _build_record(offer: OfferFields) -> Record:
    return Record(
        title=fold(offer.title),
        brand=fold(offer.brand, MAX_KEY),
        description=fold(offer.description, MAX_DESCRIPTION),
        price=_price(offer),
        ean=_normalise_key(Attribute.EAN, offer.ean),
        han=_compact(_normalise_key(Attribute.HAN, offer.han)),
        # A dash stands for "no article number": it would make one offer of many.
        sku="" if is_dash(offer.sku) else _normalise_key(Attribute.SKU, offer.sku),
        images=_images(offer),
        link=parse_link(offer.url),
    )


def _images(offer: OfferFields) -> tuple[str, ...]:
    """Return the keys of the offer's images, each once."""
    keys = (_normalise_key(Attribute.IMAGE, url[:MAX_RAW_KEY]) for url in offer.images[:MAX_IMAGES])
    return tuple(dict.fromkeys(filter(None, keys)))


# Cache sizes: enough for a chunk of pairs; the spellings of a million titles would fill memory.
@lru_cache(maxsize=65_536)
def _spellings(text: str) -> frozenset[str]:
    """Return the tokens of a text and their joined spellings."""
    tokens = tokenize(text)
    return frozenset(tokens) | join_neighbours(tokens)


@lru_cache(maxsize=16_384)
def _text_spellings(title: str, description: str) -> frozenset[str]:
    tokens = tokenize(description)
    return _spellings(title) | frozenset(tokens) | join_neighbours(tokens)


@dataclass(frozen=True, slots=True)
class _TitleFeatures:
    quantities: dict[str, frozenset[str]]
    model_numbers: frozenset[str]
    product_kind: ProductKind


# Not kept with the record: those of a million offers would fill memory.
@lru_cache(maxsize=65_536)
def _title_features(title: str) -> _TitleFeatures:
    tokens = tokenize(title)
    quantities = extract_quantities(tokens)
    amounts = {value + unit for unit, values in quantities.items() for value in values}
    numbers = frozenset(token for token in tokens if has_digit(token) and token not in amounts)
    return _TitleFeatures(quantities, numbers, detect_product_kind(tokens))


def _compact(part_number: str) -> str:
    """Remove the separators of a part number, which every seller sets differently."""
    return "".join(c for c in fold(part_number, MAX_KEY) if c.isalnum())


def _price(offer: OfferFields) -> float | None:
    if offer.price is None or not offer.price.is_finite() or not 0 < offer.price < PRICE_LIMIT:
        return None
    return float(offer.price)


def _normalise_key(attribute: Attribute, value: str | None) -> str:
    if not value or len(value) > MAX_RAW_KEY:
        return ""
    return value_key(attribute, value)[: 2 * MAX_KEY]
