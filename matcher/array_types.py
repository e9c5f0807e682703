"""Types of the arrays that the matcher's modules pass to each other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# One row per candidate pair: row of the shop's offers, row of the catalog's offers.
Pairs = NDArray[np.int64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
UInts = NDArray[np.uint64]
# scipy's sparse arrays carry no type hints.
Matrix = Any
# Hashes of 64 bits.
Keys = NDArray[np.uint64]
