"""Page de-duplication: group the pages that show the same offer, so that it counts once.

Pages with one link are one offer. Otherwise pages must agree in title *and* in evidence that tells
offers apart: the last path segment, an identifier, or price, image and description together. Offers
that merely share a title stay apart. So do pages that the catalog lists as different offers, the
variants of one page, and pages of one identifier with different first images.

Pages in another language or market have another title or price. There, one EAN and one first image
suffice, or one SKU and one first image with the same title or the same price. Addresses and
hreflang links join further ones (`matcher.records.languages.language_twins`).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from matcher.records.languages.language_twins import (
    MAX_MARKETS,
    has_different_quantity,
    join_language_twins,
)
from matcher.records.languages.localized_page import DEFAULT_VERSION, LocalizedPage, localize_pages
from matcher.records.offer_groups import OfferGroups
from matcher.records.record import Record

# Characters of a description; shorter ones say the same of many offers.
MIN_DESCRIPTION = 40
# Leading parts of an address (host and first folder) that often name language or market.
FOLDER_PARTS = 2


@dataclass(frozen=True)
class _CatalogLanguage:
    """The shop's pages that show the catalog's offers: how many there are of each language.

    `listed` are their addresses; `folders` counts by host and first folder, `markers` by the
    language in the address, `languages` by that of the markup.
    """

    listed: set[str]
    folders: Counter[str]
    markers: Counter[Hashable]
    languages: Counter[str]


def group_pages(
    shop: Sequence[Record],
    catalog: Sequence[Record] = (),
    pages: Sequence[LocalizedPage] = (),
) -> list[tuple[int, ...]]:
    """Group the indices of `shop` by offer, the best page of each group first.

    `pages` are the shop's records with the languages of their pages; by default the addresses alone
    tell them. Groups are in the order of their smallest index.
    """
    pages = pages or localize_pages(shop)
    listed = {record.link.address for record in catalog} - {""}
    links = []
    for record in shop:
        links.append({link.address for link in record.links} & listed)
    groups = OfferGroups(links, shop, [page.label for page in pages])
    for keys in (_link_keys, _slug_keys, _identifier_keys, _content_keys):
        for members in _indices_by_key(shop, keys):
            if keys is _identifier_keys:
                # One SKU on pages with different images may stand for several products.
                for same_image in _split_by_image(shop, members):
                    groups.join_all(same_image)
            else:
                groups.join_all(members)
    for members in _indices_by_key(shop, _market_keys):
        if len(members) > MAX_MARKETS:
            continue
        for index in members[1:]:
            if not has_different_quantity(shop[members[0]], shop[index]):
                groups.join(members[0], index)
    join_language_twins(pages, groups)
    language = _learn_catalog_language(pages, catalog, listed)
    ordered: list[tuple[int, ...]] = []
    for members in groups.members():
        defaults = {pages[index].alternates.get(DEFAULT_VERSION) for index in members}
        members.sort(key=lambda index: _preference(pages[index], language, defaults, index))
        ordered.append(tuple(members))
    return ordered


def _link_keys(record: Record) -> Iterator[Hashable]:
    yield from dict.fromkeys(link.address for link in record.links if link.address)


def _slug_keys(record: Record) -> Iterator[Hashable]:
    if record.link.slug and not record.link.has_query and record.title:
        yield record.link.slug, record.title, record.price, record.sku


def _identifier_keys(record: Record) -> Iterator[Hashable]:
    for name, value in (("ean", record.ean), ("sku", record.sku)):
        if value and record.title:
            yield name, value, record.title, record.price


def _content_keys(record: Record) -> Iterator[Hashable]:
    if (
        record.title
        and record.price is not None
        and record.images
        and len(record.description) >= MIN_DESCRIPTION
    ):
        yield (
            record.title,
            record.price,
            record.sku,
            record.ean,
            record.han,
            record.images[0],
            record.description,
        )


def _market_keys(record: Record) -> Iterator[Hashable]:
    """Yield the keys that an offer keeps in other languages and markets."""
    image = record.images[:1]
    if image and record.ean:
        yield "ean", record.ean, image
    elif image and record.sku:
        if record.title:
            yield "sku", record.sku, image, record.title
        if record.price is not None:
            yield "sku", record.sku, image, record.price


def _indices_by_key(
    shop: Sequence[Record], keys: Callable[[Record], Iterable[Hashable]]
) -> Iterable[list[int]]:
    """Return the indices of the records that share a key, for each shared key."""
    indices: dict[Hashable, list[int]] = defaultdict(list)
    for index, record in enumerate(shop):
        for key in keys(record):
            indices[key].append(index)
    return [members for members in indices.values() if len(members) > 1]


def _split_by_image(shop: Sequence[Record], members: Sequence[int]) -> list[list[int]]:
    """Split indices by first image; pages without images go with the first part."""
    by_image: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index in members:
        by_image[shop[index].images[:1]].append(index)
    without_image = by_image.pop((), [])
    parts = list(by_image.values()) or [[]]
    parts[0] = parts[0] + without_image
    return parts


def _folder(record: Record) -> str:
    """Return the first folder of a page with its host: often the language or the market."""
    return "/".join(record.link.path.split("/")[:-1][:FOLDER_PARTS])


def _learn_catalog_language(
    pages: Sequence[LocalizedPage], catalog: Sequence[Record], listed: set[str]
) -> _CatalogLanguage:
    """Learn the catalog's language from the pages that it links, else from equal titles."""
    linked = [page for page in pages if page.record.link.address in listed]
    if not linked:
        titles = {record.title for record in catalog} - {""}
        linked = [page for page in pages if page.record.title in titles]
    return _CatalogLanguage(
        listed=listed,
        folders=Counter(_folder(page.record) for page in linked),
        markers=Counter(page.address.markers for page in linked),
        languages=Counter(page.language for page in linked if page.language),
    )


def _preference(
    page: LocalizedPage, catalog: _CatalogLanguage, defaults: set[str | None], index: int
) -> tuple[object, ...]:
    """Return the sort key of an offer's pages, the best page first.

    Pages that the catalog links come first, then those in its language, then the version for all
    languages (`defaults`) and addresses without a language, then those with most fields, then those
    in a folder with many listed pages, without a query, that are canonical, with a short address.
    `match_offers` orders records by content, so that `index` does not depend on the order of its
    input.
    """
    record = page.record
    fields = (
        record.title,
        record.price,
        record.sku,
        record.ean,
        record.images,
        record.description,
    )
    filled = sum(map(bool, fields))
    return (
        record.link.address not in catalog.listed,
        -catalog.markers[page.address.markers],
        -catalog.languages[page.language],
        not page.addresses & defaults,
        page.address.has_marker,
        -filled,
        -catalog.folders[_folder(record)],
        record.link.has_query,
        not _is_canonical(record),
        len(record.link.address),
        record.link.address,
        index,
    )


def _is_canonical(record: Record) -> bool:
    """Return True unless the page names another one as canonical.

    The page's own URL is the first alternate one, except on a page with several variants.
    """
    if record.variant_page or not record.alternate_links:
        return True
    return record.alternate_links[0].address == record.link.address
