"""Keys of the index: hashes of 48 bits of n-grams, tokens and identifiers.

A collision lets a few offers be compared in vain, as candidates are compared by their texts.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Ints, Keys
from matcher.mixed_bits import mix_bits
from matcher.text_arrays import code_points

# Bits of a key; the others of 64 hold a row while keys are counted.
KEY_BITS = 48
KEY_BYTES = KEY_BITS // 8
_ROW_BITS = 64 - KEY_BITS
# Rows of one chunk.
MAX_ROWS = 1 << _ROW_BITS
_SPACE = ord(" ")
# Odd factor of the polynomial hash: 2**64 / golden ratio.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
# Keeps tokens apart from n-grams.
_TOKEN_SALT = np.uint64(1 << 40)


def gram_keys(texts: Sequence[str], length: int) -> tuple[Ints, Keys]:
    """Return row and key of each character n-gram of some texts, with repetitions.

    N-grams are those of scikit-learn's analyzer `char_wb`: within words, which have a space on
    either side.
    """
    padded = [f" {' '.join(text.lower().split())} " for text in texts]
    points = code_points(padded)
    rows = np.repeat(np.arange(len(padded)), [len(text) for text in padded])
    count = max(0, len(points) - length + 1)
    is_space = points == _SPACE
    is_gram = np.ones(count, bool)
    if length == 2:
        # Between two texts stand two spaces.
        is_gram = ~(is_space[:count] & is_space[1 : 1 + count])
    for place in range(1, length - 1):
        is_gram &= ~is_space[place : place + count]
    starts = np.flatnonzero(is_gram)
    letters = np.stack([points[starts + place] for place in range(length)])
    return rows[starts], _hash_letters(letters)


def keys_of_grams(grams: Sequence[str]) -> Keys:
    """Return the keys of n-grams of any lengths."""
    keys = np.empty(len(grams), np.uint64)
    lengths = np.array([len(gram) for gram in grams])
    for length in np.unique(lengths).tolist():
        places = np.flatnonzero(lengths == length)
        points = code_points([grams[place] for place in places.tolist()])
        keys[places] = _hash_letters(points.reshape(-1, length).T)
    return keys


def token_keys(columns: NDArray[np.integer[Any]]) -> Keys:
    """Return the keys of tokens, given by their hashed columns (`TOKEN_WIDTH`)."""
    return mix_bits(columns.astype(np.uint64) | _TOKEN_SALT) >> np.uint64(_ROW_BITS)


def text_key(kind: str, text: str) -> int:
    """Return the key of an identifier, a link or another text of some kind."""
    encoded = f"{kind}\n{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(encoded, digest_size=KEY_BYTES).digest(), "big")


def text_keys(kind: str, texts: Iterable[str]) -> Keys:
    """Return the keys of some texts of one kind."""
    return np.array([text_key(kind, text) for text in texts], np.uint64)


def unique_per_row(rows: Ints, keys: Keys) -> tuple[Ints, Keys]:
    """Return each pair of row and key once, sorted by key. Rows are below MAX_ROWS."""
    return _unpack_pairs(np.unique(_pack_pairs(rows, keys)))


def count_per_row(rows: Ints, keys: Keys) -> tuple[Ints, Keys, Ints]:
    """Return each pair of row and key once, sorted by key, and how often it occurs.

    Rows are below MAX_ROWS.
    """
    packed, counts = np.unique(_pack_pairs(rows, keys), return_counts=True)
    return *_unpack_pairs(packed), counts


def _pack_pairs(rows: Ints, keys: Keys) -> Keys:
    return (keys << np.uint64(_ROW_BITS)) | rows.astype(np.uint64)


def _unpack_pairs(packed: Keys) -> tuple[Ints, Keys]:
    return (packed & np.uint64(MAX_ROWS - 1)).astype(np.int64), packed >> np.uint64(_ROW_BITS)


def _hash_letters(letters: NDArray[np.integer[Any]]) -> Keys:
    """Return the keys of n-grams; `letters` has a row for each place."""
    hashed = np.full(letters.shape[1], len(letters), np.uint64)
    for row in letters:
        hashed = hashed * _FACTOR + row.astype(np.uint64)
    return mix_bits(hashed) >> np.uint64(_ROW_BITS)
