"""Page de-duplication: group the pages that show the same offer, so that it counts once.

Pages with one link are one offer. Otherwise pages must agree in title *and* in evidence that tells
offers apart: the last path segment, an identifier, or price, image and description together. Offers
that merely share a title stay apart. So do pages that the catalog lists as different offers, the
variants of one page, and pages of one identifier with different first images.

Pages in another language or market have another title or price. There, one EAN and one first image
suffice, or one SKU and one first image with the same title or the same price.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from matcher.records.record import Record

# Pages of one identifier and image; more of them share a placeholder, not an offer.
MAX_MARKETS = 40
# Characters of a description; shorter ones say the same of many offers.
MIN_DESCRIPTION = 40
# Leading parts of an address (host and first folder) that often name language or market.
FOLDER_PARTS = 2


def group_pages(shop: Sequence[Record], catalog: Sequence[Record] = ()) -> list[tuple[int, ...]]:
    """Group the indices of `shop` by offer, the best page of each group first.

    Groups are in the order of their smallest index.
    """
    listed = {record.link.address for record in catalog} - {""}
    links = [{link.address for link in record.links} & listed for record in shop]
    groups = _OfferGroups(links, shop)
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
            if not _has_different_quantity(shop[members[0]], shop[index]):
                groups.join(members[0], index)
    folders = Counter(_folder(record) for record in shop if record.link.address in listed)
    ordered: list[tuple[int, ...]] = []
    for members in groups.members():
        members.sort(key=lambda index: _preference(shop[index], listed, folders, index))
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


def _has_different_quantity(first: Record, second: Record) -> bool:
    """Return True if the titles name different amounts.

    One identifier and one image may stand for all sizes of a product.
    """
    shared_units = first.quantities.keys() & second.quantities.keys()
    return any(first.quantities[unit] != second.quantities[unit] for unit in shared_units)


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


def _preference(
    record: Record, listed: set[str], folders: Counter[str], index: int
) -> tuple[object, ...]:
    """Return the sort key of an offer's pages, the best page first.

    Pages that the catalog links come first, then those with most fields, then those in a folder
    with many listed pages, without a query, that are canonical, with a short address. `match_offers`
    orders records by content, so that `index` does not depend on the order of its input.
    """
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
        record.link.address not in listed,
        -filled,
        -folders[_folder(record)],
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


class _OfferGroups:
    """Disjoint sets that never join two listed offers, or two variants of one page.

    `listed` gives for each record its links that the catalog lists.
    """

    def __init__(self, listed: Sequence[set[str]], shop: Sequence[Record]) -> None:
        self._parent = list(range(len(listed)))
        self._listed = [set(links) for links in listed]
        # Per set: {page with several variants: the address of its variant in this set}.
        self._variants: list[dict[str, str]] = []
        for record in shop:
            page = record.variant_page
            self._variants.append({page: record.link.address} if page else {})

    def join_all(self, members: Sequence[int]) -> None:
        """Join the first member with each other one, where that is allowed."""
        for index in members[1:]:
            self.join(members[0], index)

    def join(self, first: int, second: int) -> None:
        """Join two sets unless the catalog or a page keeps them apart."""
        first, second = self._root(first), self._root(second)
        if first == second:
            return
        if len(self._listed[first] | self._listed[second]) > 1 or self._are_variants(first, second):
            return
        low, high = min(first, second), max(first, second)
        self._parent[high] = low
        self._listed[low] |= self._listed[high]
        self._variants[low] |= self._variants[high]

    def members(self) -> list[list[int]]:
        """Return the indices of each set, in the order of the smallest index."""
        by_root: dict[int, list[int]] = defaultdict(list)
        for index in range(len(self._parent)):
            by_root[self._root(index)].append(index)
        return list(by_root.values())

    def _are_variants(self, first: int, second: int) -> bool:
        variants = self._variants[second]
        for page, address in self._variants[first].items():
            if variants.get(page, address) != address:
                return True
        return False

    def _root(self, index: int) -> int:
        while self._parent[index] != index:
            # Path halving keeps later look-ups short.
            self._parent[index] = self._parent[self._parent[index]]
            index = self._parent[index]
        return index
