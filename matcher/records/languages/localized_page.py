"""Localized pages: a shop's pages with their language, market, and versions in other languages."""

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from catalog.models import OfferFields
from matcher.records.languages.language_address import (
    LanguageAddress,
    primary_language,
    split_language,
)
from matcher.records.record import Record
from matcher.records.url_keys import parse_link

# The code under which pages name the version for all other languages.
DEFAULT_VERSION = "x-default"
# Versions of a page that are read; bound against hostile input. Real shops name up to 60.
MAX_ALTERNATES = 100
# First images on more pages than this, addresses that differ in language counted once, are logos.
MAX_PAGES_PER_IMAGE = 3
# Shops that translate the names of files number the picture: `/45-large_default/red-lamp.jpg`.
_IMAGE_FOLDER_NUMBER = re.compile(r"/(\d{1,12})-[a-z_]{1,40}/[^/]+$")


@dataclass(frozen=True)
class PageVersions:
    """A page's language, and the pages that it names as its versions in other languages.

    `language` is a code such as `de-AT`, "" if unknown. `alternates` maps codes (hreflang) to URLs,
    `canonical` is the URL of the page's canonical link.
    """

    language: str = ""
    alternates: Mapping[str, str] = field(default_factory=dict)
    canonical: str = ""


NO_VERSIONS = PageVersions()


@dataclass(frozen=True)
class LocalizedPage:
    """A page as it is compared with pages in other languages.

    `language` is the primary language, "" where all pages of the shop name the same one, which is
    then a constant of the template. `alternates` maps codes to addresses. `image` is the first
    image, "" if many pages have it; `image_folder_number` the number of its folder.
    """

    record: Record
    address: LanguageAddress
    language: str = ""
    alternates: Mapping[str, str] = field(default_factory=dict)
    canonical: str = ""
    currency: str = ""
    image: str = ""
    image_folder_number: str = ""

    @property
    def label(self) -> Hashable:
        """The language and market of the page, as its address and its markup name them."""
        return self.address.markers, self.language

    @property
    def addresses(self) -> set[str]:
        """All addresses of the page."""
        return {link.address for link in self.record.links} - {""}


def localize_pages(
    shop: Sequence[Record],
    languages: Sequence[PageVersions] = (),
    offers: Sequence[OfferFields] = (),
) -> list[LocalizedPage]:
    """Combine the shop's records with the languages and raw offers of their pages, if known."""
    languages = languages or [NO_VERSIONS] * len(shop)
    offers = offers or [OfferFields()] * len(shop)
    codes = [primary_language(page.language) for page in languages]
    if len(set(codes) - {""}) < 2:
        codes = [""] * len(codes)
    addresses = [_page_address(record) for record in shop]
    images = _distinctive_images(shop, addresses)
    pages = []
    for row, record in enumerate(shop):
        offer, page = offers[row], languages[row]
        alternates = {}
        for code, url in list(page.alternates.items())[:MAX_ALTERNATES]:
            alternates[code] = parse_link(url).address
        folder_number = _IMAGE_FOLDER_NUMBER.search(offer.images[0]) if offer.images else None
        pages.append(
            LocalizedPage(
                record=record,
                address=addresses[row],
                language=codes[row],
                alternates=alternates,
                canonical=parse_link(page.canonical).address,
                currency=offer.currency or "",
                image=images[row],
                image_folder_number=folder_number[1] if folder_number else "",
            )
        )
    return pages


def _page_address(record: Record) -> LanguageAddress:
    """Split the address of the page itself: its canonical one may be that of another language."""
    link = record.link
    if record.alternate_links and not record.variant_page:
        link = record.alternate_links[0]
    return split_language(link.address)


def _distinctive_images(shop: Sequence[Record], addresses: Sequence[LanguageAddress]) -> list[str]:
    """Return the first image of each record, "" where many pages have the same."""
    pages = {
        (record.images[0], address.neutral)
        for record, address in zip(shop, addresses, strict=True)
        if record.images
    }
    counts = Counter(image for image, _ in pages)
    images = []
    for record in shop:
        image = record.images[0] if record.images else ""
        images.append(image if counts[image] <= MAX_PAGES_PER_IMAGE else "")
    return images
