"""Keys of the index: hashes of 48 bits of tokens and identifiers, as those of n-grams.

A collision lets a few offers be compared in vain, as candidates are compared by their texts.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Keys
from matcher.blocking.grams import KEY_BITS, ROW_BITS
from matcher.mixed_bits import mix_bits

KEY_BYTES = KEY_BITS // 8
# Keeps tokens apart from n-grams.
_TOKEN_SALT = np.uint64(1 << 40)


def token_keys(columns: NDArray[np.integer[Any]]) -> Keys:
    """Return the keys of tokens, given by their hashed columns (`TOKEN_WIDTH`)."""
    return mix_bits(columns.astype(np.uint64) | _TOKEN_SALT) >> np.uint64(ROW_BITS)


def text_key(kind: str, text: str) -> int:
    """Return the key of an identifier, a link or another text of some kind."""
    encoded = f"{kind}\n{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(encoded, digest_size=KEY_BYTES).digest(), "big")


def text_keys(kind: str, texts: Iterable[str]) -> Keys:
    """Return the keys of some texts of one kind."""
    return np.array([text_key(kind, text) for text in texts], np.uint64)
