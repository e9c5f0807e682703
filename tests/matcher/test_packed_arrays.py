"""Arrays as bytes: unpacked as they were, and refused where the bytes are damaged."""

from io import BytesIO

import numpy as np
import pytest

from matcher.packed_arrays import pack_arrays, unpack_arrays

PACKED = pack_arrays(rows=np.arange(50), flags=np.zeros(3, bool))
# Of the first entry of a ZIP file's directory (PKWARE's APPNOTE, 4.3.12).
_ENTRY = PACKED.find(b"PK\x01\x02")
_VERSION, _FLAGS, _METHOD = _ENTRY + 6, _ENTRY + 8, _ENTRY + 10


def test_packed_arrays_are_unpacked() -> None:
    """Names, values and types survive."""
    arrays = unpack_arrays(PACKED)
    assert list(arrays) == ["rows", "flags"]
    assert arrays["rows"].tolist() == list(range(50))
    assert arrays["flags"].dtype == bool


def change_byte(place: int, value: int) -> bytes:
    return PACKED[:place] + bytes([value]) + PACKED[place + 1 :]


def save_single_array() -> bytes:
    buffer = BytesIO()
    np.save(buffer, np.arange(3))
    return buffer.getvalue()


DAMAGED = {
    "empty": b"",
    "no archive": b"damaged",
    "cut": PACKED[:-20],
    "later version of the format": change_byte(_VERSION, 99),
    "encrypted": change_byte(_FLAGS, 1),
    "strongly encrypted": change_byte(_FLAGS, 64),
    "unknown compression": change_byte(_METHOD, 9),
    "not compressed as the directory says": change_byte(_METHOD, 8),
    "header of an array not closed": PACKED.replace(b"}", b"{", 1),
    "changed value": PACKED.replace(bytes([7, 0]), bytes([8, 0]), 1),
    "a single array": save_single_array(),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
def test_damaged_arrays_are_refused(content: bytes) -> None:
    """Damage of any kind raises ValueError, by which an index is known to be broken."""
    with pytest.raises(ValueError, match="not packed arrays"):
        unpack_arrays(content)
