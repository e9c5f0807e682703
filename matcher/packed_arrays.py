"""Arrays as bytes: parts of an index, and items of work on other machines."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from matcher.array_types import Matrix

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
