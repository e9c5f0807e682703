"""Connected components of pairs of records."""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from matcher.array_types import Ints


def label_components(edges: Ints) -> tuple[Ints, Ints]:
    """Return the records of some edges, (edges, 2), each once and sorted, and their components.

    >>> records, component = label_components(np.array([[7, 3], [9, 5], [5, 7]]))
    >>> records.tolist(), component.tolist()
    ([3, 5, 7, 9], [0, 0, 0, 0])
    """
    records, numbered = np.unique(edges, return_inverse=True)
    numbered = numbered.reshape(-1, 2)
    graph = sparse.coo_array(
        (np.ones(len(edges), np.int8), (numbered[:, 0], numbered[:, 1])),
        shape=(len(records), len(records)),
    )
    return records, connected_components(graph, directed=False)[1].astype(np.int64)
