"""Look-up of many values at once in a sorted array."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Bools, Ints


def look_up_sorted(sorted_values: NDArray[Any], values: NDArray[Any]) -> tuple[Ints, Bools]:
    """Return the place of each value among different sorted ones, and if it is there.

    The place of a value that is not there means nothing, but is within the array unless that is
    empty.

    >>> places, is_there = look_up_sorted(np.array([2, 5]), np.array([5, 4, 9]))
    >>> places.tolist(), is_there.tolist()
    ([1, 1, 1], [True, False, False])
    """
    if not len(sorted_values):
        return np.zeros(len(values), np.int64), np.zeros(len(values), np.bool_)
    places = np.minimum(np.searchsorted(sorted_values, values), len(sorted_values) - 1)
    return places, sorted_values[places] == values
