"""Both sides' texts as sparse vectors of one vocabulary: character grams to find, words with their rarity to weigh.

A token's weight (IDF) is counted over both sides together, which needs no labels: what is rare in this shop tells its
offers apart, be it a model number or a colour.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from matcher.records.record import Record
from matcher.records.text import tokens

Matrix = Any  # scipy's sparse arrays are not typed
MOST_FEATURES = 400_000
COLUMNS_EACH = 128


@dataclass(frozen=True)
class Side:
    """One side's records as rows: TF-IDF of character grams, words and description; weights of tokens.

    `weights` has the title's tokens, `spellings` their joined spellings too, `everything` those of the description too.
    """

    grams: Matrix
    words: Matrix
    weights: Matrix
    spellings: Matrix
    everything: Matrix
    description: Matrix


@dataclass(frozen=True)
class Space:
    """The shop's offers and the catalog's in the same space."""

    shop: Side
    known: Side
    top: float


def space(shop: Sequence[Record], known: Sequence[Record]) -> Space:
    """Both sides' vectors. Weights are fitted on both together."""
    both, cut = [*shop, *known], len(shop)
    grams = _fitted(
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True),
        [r.text for r in both],
    )
    weights, spellings, everything = _words(both)
    words = _unit(weights)
    description = _unit(_weighted(both, lambda record: tokens(record.description), MOST_FEATURES))
    columns = (grams, words, weights, spellings, everything, description)
    top = float(weights.max()) if weights.nnz else 1.0
    return Space(Side(*(m[:cut] for m in columns)), Side(*(m[cut:] for m in columns)), top)


def _words(both: Sequence[Record]) -> tuple[Matrix, Matrix, Matrix]:
    """Token weights of the titles, of all their spellings, and of title and description.

    Columns are hashes, so many that hardly two tokens share one: a dictionary of every spelling of a million titles
    would be the greatest thing in memory.
    """
    width = _width(both)
    spellings = hashed((record.spellings for record in both), width)
    idf = sparse.diags_array(_idf(spellings))
    weights = hashed((record.words for record in both), width) @ idf
    everything = hashed((record.told for record in both), width) @ idf
    return weights.tocsr(), (spellings @ idf).tocsr(), everything.tocsr()


def title_words(items: Sequence[Record]) -> Matrix:
    """The words of the records' titles as unit vectors, each word weighed by its rarity among them."""
    found = hashed((item.words for item in items), _width(items))
    return _unit(found @ sparse.diags_array(_idf(found)))


def _width(items: Sequence[Record]) -> int:
    return 2 ** min(24, max(16, (len(items) * COLUMNS_EACH).bit_length()))  # type: ignore[no-any-return]


def hashed(documents: Iterable[Iterable[str]], width: int) -> Matrix:
    """Which of the hashed columns each document has."""
    hasher = FeatureHasher(width, input_type="string", alternate_sign=False, dtype=np.float32)
    rows = iter(documents)
    if (first := next(rows, None)) is None:  # the hasher cannot be given nothing
        return sparse.csr_array((0, width), dtype=np.float32)
    found = sparse.csr_array(hasher.transform(chain((first,), rows)))
    found.data[:] = 1
    return found


def _weighted(
    both: Sequence[Record], words: Callable[[Record], Iterable[str]], most: int
) -> Matrix:
    counts = _fitted(
        CountVectorizer(analyzer=words, binary=True, dtype=np.float32, max_features=most), both
    )
    return (counts @ sparse.diags_array(_idf(counts))).tocsr()


def _fitted(vectorizer: Any, documents: Sequence[Any]) -> Matrix:
    """The documents' rows; an empty vocabulary gives one empty column instead of scikit-learn's error."""
    vectorizer.dtype = np.float32
    try:
        return vectorizer.fit_transform(documents).tocsr()
    except ValueError:
        return sparse.csr_array((len(documents), 1), dtype=np.float32)


def _idf(counts: Matrix) -> Any:
    present = np.asarray((counts > 0).sum(axis=0)).ravel()
    return (np.log((1 + counts.shape[0]) / (1 + present)) + 1).astype(np.float32)


def _unit(matrix: Matrix) -> Matrix:
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return (sparse.diags_array(1 / np.maximum(norms, 1e-9).astype(np.float32)) @ matrix).tocsr()
