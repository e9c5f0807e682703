"""Terms of known offers: the keys under which the index finds them, and the numbers that it counts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Ints, Keys
from matcher.blocking.candidates import blocking_keys
from matcher.blocking.grams import NGRAM_RANGE, gram_keys, unique_per_row
from matcher.blocking.vectors import MAX_WIDTH_BITS, hash_tokens
from matcher.known_index.keys import text_key, token_keys
from matcher.records.record import Record

# Hashed columns of tokens; those of a smaller matrix are found by their remainder.
TOKEN_WIDTH = 1 << MAX_WIDTH_BITS
# Length of the n-grams that candidates are searched with; all lengths are compared.
SEARCHED_LENGTH = 4


@dataclass(frozen=True)
class Terms:
    """The terms of some offers, each once per offer.

    `postings` and `posting_rows` are all keys with the rows that have them; `grams` the n-grams of
    all lengths, `tokens` the hashed columns of tokens, one entry per offer that has them.
    `gram_counts` and `token_counts` are the numbers of searched terms per offer.
    """

    postings: Keys
    posting_rows: Ints
    grams: Keys
    tokens: Keys
    gram_counts: NDArray[np.uint16]
    token_counts: NDArray[np.uint16]


def extract_terms(records: Sequence[Record]) -> Terms:
    """Extract the terms of at most MAX_ROWS records."""
    rows: list[NDArray[np.integer[Any]]] = []
    keys: list[Keys] = []
    grams: list[Keys] = []
    gram_counts = np.zeros(len(records), np.int64)
    texts = [record.search_text for record in records]
    for length in range(NGRAM_RANGE[0], NGRAM_RANGE[1] + 1):
        gram_rows, unique = unique_per_row(*gram_keys(texts, length))
        grams.append(unique)
        if length == SEARCHED_LENGTH:
            rows.append(gram_rows)
            keys.append(unique)
            gram_counts = np.bincount(gram_rows, minlength=len(records))
    tokens = hash_tokens((record.spellings for record in records), TOKEN_WIDTH)
    token_counts = np.diff(tokens.indptr)
    rows.append(np.repeat(np.arange(len(records)), token_counts))
    keys.append(token_keys(tokens.indices))
    identifier_rows: list[int] = []
    identifiers: list[int] = []
    for row, record in enumerate(records):
        for kind, value in index_keys(record):
            identifier_rows.append(row)
            identifiers.append(text_key(kind, value))
    rows.append(np.array(identifier_rows, np.int64))
    keys.append(np.array(identifiers, np.uint64))
    return Terms(
        np.concatenate(keys),
        np.concatenate(rows),
        np.concatenate(grams),
        tokens.indices.astype(np.uint64),
        np.minimum(gram_counts, np.iinfo(np.uint16).max).astype(np.uint16),
        np.minimum(token_counts, np.iinfo(np.uint16).max).astype(np.uint16),
    )


def hash_title_words(records: Sequence[Record]) -> Keys:
    """Return the hashed columns of the words of titles, one entry per offer that has them."""
    words = hash_tokens((record.words for record in records), TOKEN_WIDTH)
    return np.asarray(words.indices.astype(np.uint64))


def index_keys(record: Record) -> Iterator[tuple[str, str]]:
    """Yield (kind, value) of everything that may identify an offer, each once.

    Part numbers stand without their brand, whose name may be written in other ways.
    """
    yield from dict.fromkeys(
        ("han", record.han) if kind == "han" else (kind, value)
        for kind, value in blocking_keys(record)
    )
