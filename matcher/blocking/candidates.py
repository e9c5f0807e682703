"""Blocking: candidate pairs by shared keys and by the most similar texts, searched from both sides.

The keys are identifiers, links and images. Character n-grams alone find 98 to 99.95 % of the true
pairs among ten candidates per offer; identifiers add those whose title was rewritten. MinHash and
SimHash, made for long texts, find fewer on product titles.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from matcher.array_types import Ints, Matrix, Pairs
from matcher.blocking.nearest_rows import find_nearest, rank_in_row
from matcher.blocking.vectors import VectorSpace
from matcher.records.record import Record

# Finds for each row of one matrix so many rows of another, as `find_nearest`.
NearestSearch = Callable[[Matrix, Matrix, int], Pairs]
# Nearest neighbours per offer, kind of vector and direction.
NEIGHBOURS = 8
# Pairs that one shared key may produce; a key of more pairs is no identifier.
MAX_PAIRS_PER_KEY = 12
# Of a large catalog, only offers with at most this rank in some list search for neighbours.
SEARCHING_RANK = 2
# Catalog offers above which not all of them search for neighbours; bounds time.
MAX_SEARCHING = 20_000


def find_candidates(
    shop: Sequence[Record],
    catalog: Sequence[Record],
    space: VectorSpace,
    neighbours: int = NEIGHBOURS,
    catalog_neighbours: int | None = None,
    searching: Ints | None = None,
    catalog_size: int | None = None,
    nearest: NearestSearch = find_nearest,
) -> Pairs:
    """Find candidate pairs; returns sorted unique (shop row, catalog row).

    Each shop offer gets `neighbours`, each searching catalog offer `catalog_neighbours` (default:
    as many). `searching` gives the catalog rows that search; by default all of them, and in a large
    catalog those that are among the nearest of some shop offer. `catalog_size` is the number of
    its offers, where `catalog` lacks some. `nearest` searches neighbours.
    """
    if catalog_neighbours is None:
        catalog_neighbours = neighbours
    shared = np.array([*_pairs_with_shared_key(shop, catalog)], dtype=np.int64).reshape(-1, 2)
    candidates = [shared]
    for shop_vectors, catalog_vectors in (
        (space.shop.grams, space.catalog.grams),
        (space.shop.title_words, space.catalog.title_words),
    ):
        from_shop = nearest(shop_vectors, catalog_vectors, neighbours)
        if searching is not None:
            rows = searching
        elif (catalog_size or len(catalog)) > MAX_SEARCHING:
            rows = _rows_of_top_ranks(from_shop)
        else:
            rows = np.arange(len(catalog))
        from_catalog = nearest(catalog_vectors[rows], shop_vectors, catalog_neighbours)
        candidates.append(from_shop)
        candidates.append(np.column_stack((from_catalog[:, 1], rows[from_catalog[:, 0]])))
    return np.unique(np.concatenate(candidates), axis=0)


def _rows_of_top_ranks(nearest: Pairs) -> Ints:
    """Return the catalog rows with a top rank in the list of some shop offer."""
    return np.unique(nearest[rank_in_row(nearest[:, 0]) < SEARCHING_RANK, 1])


def _pairs_with_shared_key(
    shop: Sequence[Record], catalog: Sequence[Record]
) -> Iterator[tuple[int, int]]:
    """Yield pairs that share an identifier, link or image which few other offers have."""
    catalog_rows: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row, record in enumerate(catalog):
        for key in blocking_keys(record):
            catalog_rows[key].append(row)
    shop_rows: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row, record in enumerate(shop):
        for key in blocking_keys(record):
            if key in catalog_rows:
                shop_rows[key].append(row)
    for key, rows in shop_rows.items():
        if len(rows) * len(catalog_rows[key]) > MAX_PAIRS_PER_KEY:
            continue
        for shop_row in rows:
            for catalog_row in catalog_rows[key]:
                yield shop_row, catalog_row


def blocking_keys(record: Record) -> Iterable[tuple[str, str]]:
    """Yield (kind, value) of everything that may identify an offer."""
    for link in record.links:
        for kind, value in (("link", link.address), ("path", link.path), ("slug", link.slug)):
            if value:
                yield kind, value
    if record.ean:
        yield "ean", record.ean
    if record.sku:
        yield "sku", record.sku
    if record.han:
        # A part number identifies an offer within its brand only.
        yield "han", f"{record.brand}\n{record.han}"
    for image in record.images:
        yield "image", image
