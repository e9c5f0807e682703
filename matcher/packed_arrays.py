"""Arrays as bytes: parts of an index, and items of work on other machines."""

import zlib
from collections.abc import Mapping
from io import BytesIO
from tokenize import TokenError
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from matcher.array_types import Matrix

Arrays = Mapping[str, NDArray[Any]]

# Errors of np.load, and of reading the loaded arrays, on damaged bytes. RuntimeError: encryption, or
# a method of compression that zipfile does not know. SyntaxError and TokenError: the header of an
# array. TypeError: a file of a single array, which is no context manager.
DAMAGED_ARRAYS = (
    BadZipFile,
    EOFError,
    KeyError,
    OSError,
    RuntimeError,
    SyntaxError,
    TokenError,
    TypeError,
    ValueError,
    zlib.error,
)


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
    except DAMAGED_ARRAYS as error:
        raise ValueError("not packed arrays") from error


def matrix_arrays(name: str, matrix: Matrix) -> dict[str, NDArray[Any]]:
    """Return the arrays of a sparse matrix of rows, under names that start with `name`."""
    rows = matrix.tocsr()
    return {
        f"{name}_data": rows.data,
        f"{name}_indices": rows.indices,
        f"{name}_starts": rows.indptr,
        f"{name}_shape": np.array(rows.shape, np.int64),
    }


def unpack_matrix(name: str, arrays: Arrays) -> Matrix:
    """Return the sparse matrix of `matrix_arrays`."""
    parts = (arrays[f"{name}_data"], arrays[f"{name}_indices"], arrays[f"{name}_starts"])
    return sparse.csr_array(parts, shape=tuple(arrays[f"{name}_shape"].tolist()))
