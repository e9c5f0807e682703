"""Nearest neighbours among vectors, by FAISS: exhaustive for few, IVF or HNSW for many.

Comparing every pair costs the square of their number; beyond 10,000 vectors that is never done.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np

from catalog.runtime.progress import Progress, no_progress
from matcher.array_types import Doubles, Ints
from matcher.dedupe.base.optional_imports import import_optional
from matcher.dedupe.embedding.encoders import EMBEDDINGS_EXTRA, Vectors

IndexKind = Literal["ivf", "hnsw"]
DEFAULT_NEIGHBOURS = 10  # neighbours of each text
MAX_EXHAUSTIVE = 10_000  # vectors compared all with all; beyond it an index is built
QUERIES_PER_BATCH = 5_000  # vectors looked up at once, between two progress reports
IVF_PROBES = 64  # inverted lists searched per query
IVF_LISTS_PER_ROOT = 4  # lists per square root of the number of vectors (FAISS guideline: 4 to 16)
IVF_MIN_POINTS = 39  # vectors per list that FAISS wants for training
HNSW_LINKS = 32  # links of each vector in the graph
HNSW_BREADTH = 128  # candidates kept while the graph is built and searched


@dataclass(frozen=True)
class Neighbours:
    """Pairs of a query and a stored vector, with their cosine similarity."""

    queries: Ints
    stored: Ints
    cosine: Doubles


@dataclass(frozen=True)
class NeighbourSearch:
    """A search for the `count` nearest stored vectors of each query, and the index for many."""

    count: int = DEFAULT_NEIGHBOURS
    kind: IndexKind = "ivf"

    def __call__(
        self, stored: Vectors, queries: Vectors, progress: Progress = no_progress
    ) -> Neighbours:
        """Return the neighbours of all queries. Raises ConfigError if faiss is not installed."""
        if not len(stored) or not len(queries):
            no_rows = np.empty(0, dtype=np.int64)
            return Neighbours(no_rows, no_rows, np.empty(0))
        index = self.build_index(stored)
        count = min(self.count, len(stored))
        row_batches, cosine_batches = list[Ints](), list[Doubles]()
        for start in range(0, len(queries), QUERIES_PER_BATCH):
            cosines, rows = index.search(queries[start : start + QUERIES_PER_BATCH], count)
            row_batches.append(rows.astype(np.int64))
            cosine_batches.append(cosines.astype(np.float64))
            progress("neighbours found", min(start + QUERIES_PER_BATCH, len(queries)), len(queries))
        query_rows = np.repeat(np.arange(len(queries)), count)
        stored_rows = np.concatenate(row_batches).reshape(-1)
        cosine = np.concatenate(cosine_batches).reshape(-1)
        # FAISS fills up with -1 where an approximate index finds fewer neighbours.
        is_found = stored_rows >= 0
        return Neighbours(query_rows[is_found], stored_rows[is_found], cosine[is_found])

    def build_index(self, stored: Vectors) -> Any:
        """Build the FAISS index that suits the number of vectors."""
        faiss = import_optional("faiss", EMBEDDINGS_EXTRA)
        dimension = stored.shape[1]
        if len(stored) <= MAX_EXHAUSTIVE:
            index = faiss.IndexFlatIP(dimension)
        elif self.kind == "hnsw":
            index = faiss.IndexHNSWFlat(dimension, HNSW_LINKS, faiss.METRIC_INNER_PRODUCT)
            breadth = max(HNSW_BREADTH, 2 * self.count)
            index.hnsw.efConstruction = index.hnsw.efSearch = breadth
        else:
            lists = round(IVF_LISTS_PER_ROOT * sqrt(len(stored)))
            lists = min(lists, len(stored) // IVF_MIN_POINTS)
            quantizer = faiss.IndexFlatIP(dimension)
            index = faiss.IndexIVFFlat(quantizer, dimension, lists, faiss.METRIC_INNER_PRODUCT)
            index.nprobe = IVF_PROBES
            index.train(stored)
        index.add(stored)
        return index
