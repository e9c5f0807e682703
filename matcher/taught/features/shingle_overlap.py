"""Compare long texts by their shingles: containment both ways, so that a shortened copy is seen.

A re-posting that keeps 40 % of a text has a Jaccard similarity of 0.4 at best, but all of its
shingles stand in the original. Rare shingles weigh more: phrases that many records share are no
evidence (see also `matcher.taught.pages` for boilerplate).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from catalog.runtime.batches import iterate_batches
from matcher.array_types import Doubles, Floats, Ints, Matrix
from matcher.blocking.vectors import (
    inverse_frequency,
    normalise_rows,
    row_sums,
    rows_per_column,
)
from matcher.dedupe.minhash.shingles import Shingling
from matcher.taught.features.feature import NEVER_LOWERS, Feature
from matcher.taught.features.shingle_counts import TEXTS_PER_CHUNK, count_shingles

# Words of a shingle of a long text (Jobs Data).
DEFAULT_SIZE = 6
# Words of the short shingles, which survive small changes of wording.
SHORT_SIZE = 2
# Hashed columns, as a power of two.
SHINGLE_BITS = 24
_FEATURES = (
    "shingles shared",
    "shingles contained, less",
    "shingles contained, more",
    "rare shingles contained, less",
    "rare shingles contained, more",
    "short shingles contained, less",
    "short shingles contained, more",
    "length ratio",
)


@dataclass(frozen=True)
class ShingleSpace:
    """The shingles of both sides of a column, long and short, and the weight of each long one."""

    left: tuple[Matrix, Matrix]
    right: tuple[Matrix, Matrix]
    weight: Floats

    def unit_vectors(self) -> tuple[Matrix, Matrix]:
        """Return the long shingles of both sides, weighed by rarity, as unit vectors."""
        left = normalise_rows(_weigh(self.left[0], self.weight))
        if self.right is self.left:
            return left, left
        return left, normalise_rows(_weigh(self.right[0], self.weight))


def shingle_features(group: str) -> list[Feature]:
    """Return the features of `compare_shingles`."""
    features = [Feature(group, name, NEVER_LOWERS) for name in _FEATURES[:-1]]
    return [*features, Feature(group, _FEATURES[-1], 0)]


def weigh_shingles(texts: Iterable[str], size: int) -> Floats:
    """Weigh the shingles of a column by rarity, by a pass over all of its texts."""
    total = 0
    counts = np.zeros(1 << SHINGLE_BITS, np.int64)
    for chunk in iterate_batches(texts, TEXTS_PER_CHUNK):
        total += len(chunk)
        counts += rows_per_column(_hash_shingles(chunk, size))
    return inverse_frequency(total, counts)


def build_shingle_space(
    left: Sequence[str],
    right: Sequence[str] | None,
    size: int = DEFAULT_SIZE,
    weight: Floats | None = None,
) -> ShingleSpace:
    """Hash the shingles of `size` words of one table (`right` is None) or of two.

    `weight` is that of a larger column; by default it is counted in these texts.
    """
    texts = [*left, *(right or ())]
    long, short = _hash_shingles(texts, size), _hash_shingles(texts, SHORT_SIZE)
    count = len(left)
    left_side = long[:count], short[:count]
    right_side = left_side if right is None else (long[count:], short[count:])
    if weight is None:
        weight = inverse_frequency(long.shape[0], rows_per_column(long))
    return ShingleSpace(left_side, right_side, weight)


def compare_shingles(space: ShingleSpace, left_rows: Ints, right_rows: Ints) -> Floats:
    """Compare pairs of texts; returns (pairs, features), NaN where a text has no shingle."""
    columns = list[Floats | Doubles]()
    first_left, first_right = space.left[0][left_rows], space.right[0][right_rows]
    common = first_left.multiply(first_right).tocsr()
    left_size, right_size = row_sums(first_left), row_sums(first_right)
    shared = row_sums(common)
    columns.append(shared / np.maximum(left_size + right_size - shared, 1))
    columns += _contained(shared, left_size, right_size)
    rare_shared, rare_left, rare_right = (
        row_sums(_weigh(shingles, space.weight)) for shingles in (common, first_left, first_right)
    )
    columns += _contained(rare_shared, rare_left, rare_right)
    short_left, short_right = space.left[1][left_rows], space.right[1][right_rows]
    columns += _contained(
        row_sums(short_left.multiply(short_right)), row_sums(short_left), row_sums(short_right)
    )
    fewer, more = np.minimum(left_size, right_size), np.maximum(left_size, right_size)
    columns.append(fewer / np.maximum(more, 1))
    is_known = fewer > 0
    return np.where(is_known[:, None], np.column_stack(columns), np.nan).astype(np.float32)


def _weigh(shingles: Matrix, weight: Floats) -> Matrix:
    """Multiply each column of a matrix by its weight.

    The product with a diagonal matrix would go through all hashed columns. As in that product, the
    entries of a row are listed from the last to the first: their sums are the same to the last bit.
    """
    starts, ends = shingles.indptr[:-1], shingles.indptr[1:]
    mirrored = np.repeat(starts + ends - 1, ends - starts) - np.arange(shingles.nnz)
    columns = shingles.indices[mirrored]
    values = shingles.data[mirrored] * weight[columns]
    return sparse.csr_array((values, columns, shingles.indptr), shape=shingles.shape)


def _contained(shared: Floats, left_size: Floats, right_size: Floats) -> list[Floats | Doubles]:
    """Return the shares of both texts that the other one has, the smaller one first."""
    smaller, larger = np.minimum(left_size, right_size), np.maximum(left_size, right_size)
    return [shared / np.maximum(larger, 1e-6), shared / np.maximum(smaller, 1e-6)]


def _hash_shingles(texts: Sequence[str], size: int) -> Matrix:
    """Return a matrix of ones: the hashed columns of the distinct shingles of each text."""
    shingles = count_shingles(texts, Shingling("words", size), SHINGLE_BITS)
    shingles.data[:] = 1
    return shingles
