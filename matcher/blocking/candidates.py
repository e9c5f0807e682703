"""Which pairs are worth a look: shared identifiers, links and images first, then the most similar texts, both ways.

Character grams alone find 98-99.95 % of the true pairs among ten per offer (findings, "Matching"); identifiers add
those whose title was rewritten. MinHash and SimHash, made for long texts, find fewer on product titles.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from matcher.blocking.nearest_rows import Pairs, nearest
from matcher.blocking.vectors import Space
from matcher.records.record import Record

TOP = 8
COMMON = 12
CLOSEST = 2
MOST_ASKING = 20_000


def candidates(
    shop: Sequence[Record],
    known: Sequence[Record],
    space: Space,
    top: int = TOP,
    back: int | None = None,
    asking: NDArray[np.int64] | None = None,
) -> Pairs:
    """Sorted pairs (row of the shop, row of the catalog): `top` per shop offer, `back` or as many per catalog offer.

    `asking` names the catalog offers that look for their nearest; unless given, these are all, and of a large catalog
    those that are among the closest to some offer of the shop.
    """
    found = [np.array([*_shared(shop, known)], dtype=np.int64).reshape(-1, 2)]
    for left, right in (
        (space.shop.grams, space.known.grams),
        (space.shop.words, space.known.words),
    ):
        found.append(nearest(left, right, top))
        if asking is not None:
            ask = asking
        else:
            ask = _closest(found[-1]) if len(known) > MOST_ASKING else np.arange(len(known))
        answers = nearest(right[ask], left, top if back is None else back)
        found.append(np.column_stack((answers[:, 1], ask[answers[:, 0]])))
    return np.unique(np.concatenate(found), axis=0)


def _closest(found: Pairs) -> NDArray[np.int64]:
    """The rows of the catalog that stand first or second in the list of some offer of the shop."""
    place = np.arange(len(found)) - np.searchsorted(found[:, 0], found[:, 0])
    return np.unique(found[place < CLOSEST, 1])


def _shared(shop: Sequence[Record], known: Sequence[Record]) -> Iterator[tuple[int, int]]:
    """Pairs that share an identifier, link or image which few others have."""
    rows: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, record in enumerate(known):
        for key in marks(record):
            rows[key].append(index)
    columns: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, record in enumerate(shop):
        for key in marks(record):
            if key in rows:
                columns[key].append(index)
    for key, indices in columns.items():
        if len(indices) * len(rows[key]) <= COMMON:
            yield from ((i, j) for i in indices for j in rows[key])


def marks(record: Record) -> Iterable[tuple[str, str]]:
    """What may name an offer uniquely: links, GTIN, part number with brand, the shop's own key, images."""
    for where in record.addresses:
        named = (("link", where.whole), ("path", where.path), ("last", where.last))
        yield from ((name, value) for name, value in named if value)
    yield from (
        (name, value) for name, value in (("ean", record.ean), ("sku", record.sku)) if value
    )
    if record.han:
        yield "han", f"{record.brand}\n{record.han}"
    yield from (("image", image) for image in record.images)
