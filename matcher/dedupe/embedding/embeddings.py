"""Pairs of texts with similar meaning: the cosine similarity of their embeddings.

Vectors see synonyms (`sofa`, `couch`) and miss spelling (A12 is not A12s). They find candidates in
long descriptions well, and are poor as the last word on offers. So this join either searches each
text's nearest neighbours, or scores the pairs of a cheaper method.
"""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from catalog.runtime.progress import Progress, no_progress
from matcher.array_types import Bools, Doubles, Ints
from matcher.dedupe.base.join import JoinMethod, JoinResult, PairBatch, build_result
from matcher.dedupe.base.pair_codes import pack_pairs, unpack_pairs
from matcher.dedupe.base.records import Records
from matcher.dedupe.base.text_columns import (
    equal_pairs,
    expand_to_rows,
    group_equal_texts,
    slice_chunks,
    sort_unique,
)
from matcher.dedupe.embedding.encoders import Encode, Vectors
from matcher.dedupe.embedding.neighbour_search import Neighbours, NeighbourSearch

NUMBERS_PER_CHUNK = 4_000_000  # vector components multiplied at once; cap on memory
ROUNDING_ERROR = 1e-6  # error of a cosine in 32-bit arithmetic


@dataclass(frozen=True)
class Embeddings:
    """The embedding join: pairs whose vectors have at least some cosine similarity.

    Candidates are nearest neighbours, or the pairs of the method `candidates` if it is given.
    """

    threshold: Fraction
    encode: Encode
    neighbours: NeighbourSearch = field(default_factory=NeighbourSearch)
    candidates: JoinMethod | None = None

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = no_progress
    ) -> JoinResult:
        """Join two sets of records, or one with itself. Raises ConfigError if faiss is missing."""
        if self.candidates is not None:
            return self._score(self.candidates(left, right, progress), left, right, progress)
        columns = [group_equal_texts(side.texts) for side in (left, right) if side is not None]
        vectors = [self.encode(column.texts, progress) for column in columns]
        pairs = self._find_neighbours(vectors, progress)
        is_similar = self._is_similar(pairs.cosine)
        left_rows, right_rows, source = expand_to_rows(
            pairs.queries[is_similar], pairs.stored[is_similar], columns[0], columns[-1]
        )
        if right is None:
            left_rows, right_rows = (
                np.minimum(left_rows, right_rows),
                np.maximum(left_rows, right_rows),
            )
        cosine = pairs.cosine[is_similar][source]
        batches = [
            PairBatch(left_rows, right_rows, cosine, np.ones(len(left_rows), dtype=np.int64))
        ]
        if right is None:
            batches.append(equal_pairs(columns[0]))
        count = len(pairs.cosine)
        reasons = ("equal text", "cosine of vectors")
        return build_result(batches, reasons, candidates=count, comparisons=count)

    def _find_neighbours(self, vectors: list[Vectors], progress: Progress) -> Neighbours:
        """Find the left texts' neighbours among the right; in a self-join each pair once."""
        neighbours = self.neighbours(vectors[-1], vectors[0], progress)
        if len(vectors) == 2:
            return neighbours
        is_other = neighbours.queries != neighbours.stored
        queries, stored = neighbours.queries[is_other], neighbours.stored[is_other]
        codes = sort_unique(pack_pairs(np.minimum(queries, stored), np.maximum(queries, stored)))
        left, right = unpack_pairs(codes)
        return Neighbours(left, right, compute_cosines(vectors[0], vectors[0], left, right))

    def _score(
        self, pairs: JoinResult, left: Records, right: Records | None, progress: Progress
    ) -> JoinResult:
        """Return the pairs of another method whose vectors are similar."""
        vectors = [self.encode(side.texts, progress) for side in (left, right) if side is not None]
        cosine = compute_cosines(vectors[0], vectors[-1], pairs.left, pairs.right)
        is_similar = self._is_similar(cosine)
        batch = PairBatch(
            pairs.left[is_similar],
            pairs.right[is_similar],
            cosine[is_similar],
            np.zeros(int(is_similar.sum()), dtype=np.int64),
        )
        return build_result(
            [batch], ("cosine of vectors",), candidates=len(pairs), comparisons=len(pairs)
        )

    def _is_similar(self, cosine: Doubles) -> Bools:
        return cosine >= float(self.threshold) - ROUNDING_ERROR


def compute_cosines(left: Vectors, right: Vectors, left_rows: Ints, right_rows: Ints) -> Doubles:
    """Return the cosine similarity of each pair of unit vectors."""
    cosines = np.zeros(len(left_rows))
    dimension = max(1, left.shape[1])
    for chunk in slice_chunks(np.full(len(left_rows), dimension), NUMBERS_PER_CHUNK):
        cosines[chunk] = np.einsum("ij,ij->i", left[left_rows[chunk]], right[right_rows[chunk]])
    return cosines
