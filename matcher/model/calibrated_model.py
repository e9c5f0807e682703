"""A trained classifier that can be stored without pickle, which runs code from a tampered file.

Arrays of numbers cannot. A stored classifier carries a summary of its training data and its scores
on held-out pairs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Floats
from matcher.model.calibration import Sigmoid
from matcher.model.scorecard import Scorecard
from matcher.model.tree_export import FittedTrees, TreeArrays, export_trees


@dataclass(frozen=True)
class CalibratedModel:
    """A calibrated model with a summary of its training data and its held-out scores."""

    model: TreeArrays | FittedTrees | Scorecard
    sigmoid: Sigmoid
    summary: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, table: Floats) -> Floats:
        """Return the calibrated probability of each row of features."""
        return self.sigmoid(self.model(table))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays from which `load_model` restores the classifier."""
        model = self.model
        if isinstance(model, FittedTrees):
            model = export_trees(model.model)
        numbers = np.array([model.base, self.sigmoid.slope, self.sigmoid.shift])
        return model.arrays() | {"numbers": numbers}


def load_model(
    arrays: Mapping[str, NDArray[Any]], width: int, summary: Mapping[str, Any]
) -> CalibratedModel:
    """Restore a classifier for `width` features.

    Raises KeyError or ValueError if the arrays are neither trees nor a scorecard.
    """
    base, slope, shift = (float(number) for number in arrays["numbers"])
    restore = Scorecard.from_arrays if "cuts" in arrays else TreeArrays.from_arrays
    return CalibratedModel(restore(arrays, base, width), Sigmoid(slope, shift), summary)
