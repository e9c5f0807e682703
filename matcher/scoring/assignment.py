"""One-to-one assignment: the pairs that hold if each offer of either side has one partner at most.

Each group of competing offers is solved exactly for the greatest sum of log-odds (Jonker-Volgenant,
by scipy). A group too large for that is paired greedily, the strongest pair first.
"""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from matcher.array_types import Doubles, Ints, Pairs

# Cells of a group's cost matrix up to which it is solved exactly; bounds memory and time.
MAX_EXACT_CELLS = 4_000_000
# Marks cells without a candidate pair.
_NO_PAIR = -1


def assign_one_to_one(pairs: Pairs, weight: Doubles) -> Ints:
    """Return the indices of the chosen pairs: of positive weight, with the greatest sum.

    >>> assign_one_to_one(np.array([[0, 0], [0, 1], [1, 0]]), np.array([5.0, 4.0, 4.5])).tolist()
    [1, 2]
    """
    positive = np.flatnonzero(weight > 0)
    if not len(positive):
        return positive
    chosen = [_solve_group(group, pairs, weight) for group in _competing_groups(positive, pairs)]
    return np.sort(np.concatenate(chosen))


def _competing_groups(rows: Ints, pairs: Pairs) -> Iterator[Ints]:
    """Split the pairs into connected components: groups that share no offer."""
    shop = np.unique(pairs[rows, 0], return_inverse=True)[1]
    catalog = np.unique(pairs[rows, 1], return_inverse=True)[1]
    is_alone = (np.bincount(shop)[shop] == 1) & (np.bincount(catalog)[catalog] == 1)
    yield from rows[is_alone].reshape(-1, 1)
    if is_alone.all():
        return
    # Imported late: it takes a seventh of a second to load.
    from scipy.sparse.csgraph import connected_components

    rows, shop, catalog = rows[~is_alone], shop[~is_alone], catalog[~is_alone]
    shop_size = int(shop.max()) + 1
    size = shop_size + int(catalog.max()) + 1
    edges = (np.ones(len(rows)), (shop, catalog + shop_size))
    graph = sparse.coo_array(edges, shape=(size, size))
    label = connected_components(graph, directed=False)[1][shop]
    order = np.argsort(label, kind="stable")
    yield from np.split(rows[order], np.flatnonzero(np.diff(label[order])) + 1)


def _solve_group(group: Ints, pairs: Pairs, weight: Doubles) -> Ints:
    if len(group) == 1:
        return group
    shop_rows, shop = np.unique(pairs[group, 0], return_inverse=True)
    catalog_rows, catalog = np.unique(pairs[group, 1], return_inverse=True)
    shape = (len(shop_rows), len(catalog_rows))
    if 1 in shape:
        # All compete for one offer.
        return group[[np.argmax(weight[group])]]
    if shape[0] * shape[1] > MAX_EXACT_CELLS:
        return _solve_greedily(group, shop, catalog, weight)
    # Imported late: it takes a fifth of a second to load.
    from scipy.optimize import linear_sum_assignment

    # Cells without a candidate pair weigh 0: choosing them means no partner.
    cells = np.zeros(shape)
    index: Ints = np.full(shape, _NO_PAIR)
    cells[shop, catalog] = weight[group]
    index[shop, catalog] = group
    chosen: Ints = index[linear_sum_assignment(cells, maximize=True)]
    return chosen[chosen >= 0]


def _solve_greedily(group: Ints, shop: Ints, catalog: Ints, weight: Doubles) -> Ints:
    """Choose pairs by weight; `shop` and `catalog` number the offers of each pair in the group."""
    chosen: list[int] = []
    taken_shop: set[int] = set()
    taken_catalog: set[int] = set()
    for position in np.argsort(-weight[group], kind="stable").tolist():
        if shop[position] in taken_shop or catalog[position] in taken_catalog:
            continue
        taken_shop.add(shop[position])
        taken_catalog.add(catalog[position])
        chosen.append(group[position])
    return np.array(chosen, dtype=np.int64)
