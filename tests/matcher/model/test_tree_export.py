"""Trees as arrays: they score like scikit-learn's, and broken ones are refused."""

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from matcher.model.calibrated_model import CalibratedModel, load_model
from matcher.model.calibration import Sigmoid
from matcher.model.tree_export import FittedTrees, export_trees


def test_exported_trees_score_alike() -> None:
    """Trees as arrays give scikit-learn's probabilities, unknown values included."""
    generator = np.random.default_rng(0)
    table = generator.random((600, 5)).astype(np.float32)
    table[generator.random(table.shape) < 0.2] = np.nan
    model = HistGradientBoostingClassifier(max_iter=20).fit(
        table, np.nan_to_num(table[:, 0]) > table[:, 1]
    )
    calibrated = CalibratedModel(FittedTrees(model), Sigmoid(0.7, 0.1))
    assert export_trees(model)(table) == pytest.approx(FittedTrees(model)(table))
    assert load_model(calibrated.arrays(), 5, {})(table) == pytest.approx(calibrated(table))
    with pytest.raises(ValueError, match="features that do not exist"):
        load_model(calibrated.arrays(), 4, {})
    with pytest.raises(ValueError, match="has no trees"):
        load_model(calibrated.arrays() | {"roots": np.empty(0)}, 5, {})


BROKEN = [
    ("child that is cut off to its parent", "node_left", 0.5, "no integers"),
    ("child that is no number", "node_right", np.nan, "no integers"),
    ("child before its parent", "node_left", 0.0, "does not end"),
    ("feature that is no number", "node_feature_idx", np.nan, "no integers"),
]


@pytest.mark.parametrize(
    ("name", "array", "value", "message"), BROKEN, ids=[case[0] for case in BROKEN]
)
def test_broken_nodes(name: str, array: str, value: float, message: str) -> None:
    """A stored tree whose scoring would not end, or would fail, is refused when it is loaded."""
    arrays = fitted_arrays()
    arrays[array] = arrays[array].copy()
    arrays[array][0] = value
    with pytest.raises(ValueError, match=message):
        load_model(arrays, 2, {})


def test_broken_lengths() -> None:
    """Arrays of different lengths, and roots outside of the nodes, are refused."""
    arrays = fitted_arrays()
    with pytest.raises(ValueError, match="different lengths"):
        load_model(arrays | {"node_value": arrays["node_value"][:-1]}, 2, {})
    with pytest.raises(ValueError, match="do not increase within"):
        load_model(arrays | {"roots": np.array([0, 9_999])}, 2, {})


def fitted_arrays() -> dict[str, Any]:
    """Return the arrays of a classifier of two features."""
    table = np.random.default_rng(0).random((100, 2)).astype(np.float32)
    model = HistGradientBoostingClassifier(max_iter=2).fit(table, table[:, 0] > table[:, 1])
    return CalibratedModel(FittedTrees(model), Sigmoid(1.0, 0.0)).arrays()
