"""Pairs of texts that mean alike, as a model sees it: by the cosine of their vectors.

Vectors see what letters do not (`sofa`, `couch`) and miss what letters show (A12 is not A12s): good for finding
candidates in long descriptions, poor as the last word on offers. So this rung either looks for each text's nearest
neighbours itself, or judges the pairs of a cheaper rung.
"""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from catalog.runtime.progress import Progress, silent
from matcher.dedupe.base.join import Floats, Indices, Joined, Part, Rung, joined
from matcher.dedupe.base.records import Records
from matcher.dedupe.base.text_columns import chunks, distinct, equal, once, rows_of
from matcher.dedupe.embedding.encoders import Encode, Vectors
from matcher.dedupe.embedding.neighbours import Neighbours

MOST_NUMBERS = 4_000_000
NOISE = 1e-6


@dataclass(frozen=True)
class Embeddings:
    """The rung: pairs whose vectors have at least some cosine, among neighbours or among a cheaper rung's pairs."""

    threshold: Fraction
    encode: Encode
    neighbours: Neighbours = field(default_factory=Neighbours)
    among: Rung | None = None

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = silent
    ) -> Joined:
        if self.among is not None:
            return self._judged(self.among(left, right, progress), left, right, progress)
        columns = [distinct(side.texts) for side in (left, right) if side is not None]
        vectors = [self.encode(column.texts, progress) for column in columns]
        a, b, cosine = self._near(vectors, progress)
        kept = self._enough(cosine)
        rows, others, of = rows_of(a[kept], b[kept], columns[0], columns[-1])
        if right is None:
            rows, others = np.minimum(rows, others), np.maximum(rows, others)
        found: list[Part] = [(rows, others, cosine[kept][of], np.ones(len(rows), dtype=np.int64))]
        found += [equal(columns[0])] if right is None else []
        return joined(
            found, ("equal text", "cosine of vectors"), candidates=len(a), comparisons=len(a)
        )

    def _near(self, vectors: list[Vectors], progress: Progress) -> tuple[Indices, Indices, Floats]:
        """Neighbours of the one side in the other; within one side each pair once, and nobody with itself."""
        a, b, cosine = self.neighbours(vectors[-1], vectors[0], progress)
        if len(vectors) == 2:
            return a, b, cosine
        codes = once(np.minimum(a, b)[a != b] << 32 | np.maximum(a, b)[a != b])
        a, b = codes >> 32, codes & 0xFFFFFFFF
        return a, b, cosines(vectors[0], vectors[0], a, b)

    def _judged(
        self, given: Joined, left: Records, right: Records | None, progress: Progress
    ) -> Joined:
        vectors = [self.encode(side.texts, progress) for side in (left, right) if side is not None]
        cosine = cosines(vectors[0], vectors[-1], given.left, given.right)
        kept = self._enough(cosine)
        part = (
            given.left[kept],
            given.right[kept],
            cosine[kept],
            np.zeros(int(kept.sum()), dtype=np.int64),
        )
        return joined([part], ("cosine of vectors",), candidates=len(given), comparisons=len(given))

    def _enough(self, cosine: Floats) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        return cosine >= float(self.threshold) - NOISE


def cosines(left: Vectors, right: Vectors, a: Indices, b: Indices) -> Floats:
    """The cosine of each pair of vectors of length 1."""
    found, width = np.zeros(len(a)), max(1, left.shape[1])
    for part in chunks(np.full(len(a), width), MOST_NUMBERS):
        found[part] = np.einsum("ij,ij->i", left[a[part]], right[b[part]])
    return found
