"""Content keys: a digest of the fields by which a known offer is found.

An import writes every row of a shop, although most offers stay as they were. The keys tell which
ones have changed, so that an index over a million offers is not made again.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

# Fields of a known offer that an index or a sample depends on: not price, stock or category.
CONTENT_FIELDS = ("url", "title", "brand", "ean", "han", "sku", "product")
KEY_BYTES = 8


def content_key(offer: Mapping[str, Any]) -> int:
    """Return the digest of an offer, given by field, as a signed integer of 64 bits.

    The description counts where it stands for a title.
    """
    texts = [offer[name] or "" for name in CONTENT_FIELDS]
    texts.append("" if offer["title"] else offer["description"] or "")
    # The separators stand in no normalised text.
    texts += offer["images"] or ()
    encoded = "\x1f".join(texts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(encoded, digest_size=KEY_BYTES).digest(), "big", signed=True)
