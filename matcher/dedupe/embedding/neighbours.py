"""The nearest of many vectors, by FAISS: all with all among few, by inverted lists (IVF) or a graph (HNSW) among many.

Looking at every vector costs the square of their number; beyond 10,000 that is never done.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np

from catalog.runtime.progress import Progress, silent
from matcher.dedupe.base.join import Floats, Indices
from matcher.dedupe.base.optional import optional
from matcher.dedupe.embedding.encoders import EXTRA, Vectors

Search = Literal["ivf", "hnsw"]
FEW = 10_000
AT_ONCE = 5_000
PROBES = 64
LINKS = 32
BREADTH = 128
POINTS_A_LIST = 39


@dataclass(frozen=True)
class Neighbours:
    """How many neighbours are wanted, and how they are looked for among many."""

    wanted: int = 10
    search: Search = "ivf"

    def __call__(
        self, stored: Vectors, asked: Vectors, progress: Progress = silent
    ) -> tuple[Indices, Indices, Floats]:
        """Pairs of an asked vector and a stored one, with their cosine. Raises ConfigError without faiss."""
        if not len(stored) or not len(asked):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
        index, wanted = self.index(stored), min(self.wanted, len(stored))
        near, cosine = list[Indices](), list[Floats]()
        for start in range(0, len(asked), AT_ONCE):
            values, rows = index.search(asked[start : start + AT_ONCE], wanted)
            near.append(rows.astype(np.int64))
            cosine.append(values.astype(np.float64))
            progress("neighbours found", min(start + AT_ONCE, len(asked)), len(asked))
        a, b = np.repeat(np.arange(len(asked)), wanted), np.concatenate(near).reshape(-1)
        there = b >= 0
        return a[there], b[there], np.concatenate(cosine).reshape(-1)[there]

    def index(self, stored: Vectors) -> Any:
        """The index that suits the number of vectors."""
        faiss, size = optional("faiss", EXTRA), stored.shape[1]
        if len(stored) <= FEW:
            index = faiss.IndexFlatIP(size)
        elif self.search == "hnsw":
            index = faiss.IndexHNSWFlat(size, LINKS, faiss.METRIC_INNER_PRODUCT)
            index.hnsw.efConstruction = index.hnsw.efSearch = max(BREADTH, 2 * self.wanted)
        else:
            lists = min(round(4 * sqrt(len(stored))), len(stored) // POINTS_A_LIST)
            index = faiss.IndexIVFFlat(
                faiss.IndexFlatIP(size), size, lists, faiss.METRIC_INNER_PRODUCT
            )
            index.nprobe = PROBES
            index.train(stored)
        index.add(stored)
        return index
