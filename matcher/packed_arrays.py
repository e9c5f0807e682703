"""Arrays as bytes: parts of an index, and items of work on other machines."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]


def pack_arrays(**arrays: NDArray[Any]) -> bytes:
    """Return arrays as bytes; plain ones only, no pickle."""
    buffer = BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def unpack_arrays(content: bytes) -> Arrays:
    """Return the arrays that were packed. Raises ValueError if the bytes are none."""
    try:
        with np.load(BytesIO(content), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (BadZipFile, OSError, EOFError, KeyError) as error:
        raise ValueError("not packed arrays") from error
