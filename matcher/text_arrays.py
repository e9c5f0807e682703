"""Texts as arrays of their characters."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

CodePoints = NDArray[np.uint32]


def code_points(texts: Sequence[str]) -> CodePoints:
    """Return the code points of all texts, end to end."""
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
