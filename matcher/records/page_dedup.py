"""Pages that show one and the same offer: found on several URLs, an offer counts once.

Equal links are one offer. Beyond that, pages must agree in title *and* in something that tells offers apart: the last
word of the link, an identifier, or all of price, image and description. Two products that merely share a title stay
two, and so do pages whose links the catalog lists as different offers. Variants that one page keeps stay apart too, and
so do pages of one identifier with pictures of their own: a shop that sells a vest to babies, girls and boys may give
it one sku and three pages. In another language or market an offer has another title or price, or both: there one EAN
and one picture suffice, or one sku, one picture and either of the two.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence

from matcher.records.record import Record

MOST_MARKETS = 40


def group(shop: Sequence[Record], known: Sequence[Record] = ()) -> list[tuple[int, ...]]:
    """Groups of indices of `shop`, the best page of each first, in the order of their first index."""
    listed = {record.address.whole for record in known} - {""}
    parts = _Parts([{a.whole for a in record.addresses} & listed for record in shop], shop)
    for key in (_same_link, _same_last_word, _same_identifier, _same_content):
        for members in _by_key(shop, key):
            for alike in _by_picture(shop, members) if key is _same_identifier else [members]:
                for other in alike[1:]:
                    parts.join(alike[0], other)
    for members in _by_key(shop, _same_thing):
        for other in members[1:] if len(members) <= MOST_MARKETS else ():
            if not _other_quantity(shop[members[0]], shop[other]):
                parts.join(members[0], other)
    folders = Counter(_folder(record) for record in shop if record.address.whole in listed)
    return [
        tuple(sorted(members, key=lambda i: _preference(shop[i], listed, folders, i)))
        for members in parts.groups()
    ]


def _same_link(record: Record) -> Iterator[Hashable]:
    yield from dict.fromkeys(address.whole for address in record.addresses if address.whole)


def _same_last_word(record: Record) -> Iterator[Hashable]:
    if record.address.last and not record.address.query and record.title:
        yield record.address.last, record.title, record.price, record.sku


def _same_identifier(record: Record) -> Iterator[Hashable]:
    for name, value in (("ean", record.ean), ("sku", record.sku)):
        if value and record.title:
            yield name, value, record.title, record.price


def _same_content(record: Record) -> Iterator[Hashable]:
    if (
        record.title
        and record.price is not None
        and record.images
        and len(record.description) >= 40
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


def _same_thing(record: Record) -> Iterator[Hashable]:
    """What an offer has in common with itself in other languages and markets."""
    picture = record.images[:1]
    if picture and record.ean:
        yield "ean", record.ean, picture
    elif picture and record.sku:
        if record.title:
            yield "sku", record.sku, picture, record.title
        if record.price is not None:
            yield "sku", record.sku, picture, record.price


def _other_quantity(one: Record, other: Record) -> bool:
    """Whether the titles name different amounts: one identifier and one picture may stand for all sizes of a thing."""
    ours, theirs = one.quantities, other.quantities
    return any(ours[unit] != theirs[unit] for unit in ours.keys() & theirs.keys())


def _by_key(shop: Sequence[Record], keys: object) -> Iterable[list[int]]:
    found: dict[Hashable, list[int]] = defaultdict(list)
    for index, record in enumerate(shop):
        for key in keys(record):  # type: ignore[operator]
            found[key].append(index)
    return [members for members in found.values() if len(members) > 1]


def _by_picture(shop: Sequence[Record], members: Sequence[int]) -> list[list[int]]:
    """The members with one picture together; those without any go with the first."""
    found: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index in members:
        found[shop[index].images[:1]].append(index)
    bare = found.pop((), [])
    first, *others = found.values() or [[]]
    return [first + bare, *others]


def _folder(record: Record) -> str:
    """Where a page stands: often the language or the market."""
    return "/".join(record.address.path.split("/")[:-1][:2])


def _preference(
    record: Record, listed: set[str], folders: Counter[str], index: int
) -> tuple[object, ...]:
    """What orders the pages of an offer: those that the catalog links, those that say most, those in its folders."""
    filled = sum(
        map(
            bool,
            (record.title, record.price, record.sku, record.ean, record.images, record.description),
        )
    )
    place = -folders[_folder(record)], record.address.query, len(record.address.whole), index
    return record.address.whole not in listed, -filled, *place


class _Parts:
    """Disjoint sets that never join two offers which the catalog lists as different, or which one page keeps apart."""

    def __init__(self, listed: Sequence[set[str]], shop: Sequence[Record]) -> None:
        self._parent = list(range(len(listed)))
        self._listed = [set(links) for links in listed]
        self._of_page = [
            {record.page: record.address.whole} if record.page else {} for record in shop
        ]

    def join(self, a: int, b: int) -> None:
        a, b = self._root(a), self._root(b)
        if a == b or len(self._listed[a] | self._listed[b]) > 1 or self._kept_apart(a, b):
            return
        low, high = min(a, b), max(a, b)
        self._parent[high] = low
        self._listed[low] |= self._listed[high]
        self._of_page[low] |= self._of_page[high]

    def _kept_apart(self, a: int, b: int) -> bool:
        ours, theirs = self._of_page[a], self._of_page[b]
        return any(theirs.get(page, link) != link for page, link in ours.items())

    def groups(self) -> list[list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for index in range(len(self._parent)):
            found[self._root(index)].append(index)
        return list(found.values())

    def _root(self, index: int) -> int:
        while self._parent[index] != index:
            self._parent[index] = self._parent[self._parent[index]]
            index = self._parent[index]
        return index
