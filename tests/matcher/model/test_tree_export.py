"""Trees as arrays: they score like scikit-learn's, and broken ones are refused."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from matcher.model.calibration import Sigmoid
from matcher.model.tree_export import CalibratedTrees, FittedTrees, export_trees, load_model


def test_exported_trees_score_alike() -> None:
    """Trees as arrays give scikit-learn's probabilities, unknown values included."""
    generator = np.random.default_rng(0)
    table = generator.random((600, 5)).astype(np.float32)
    table[generator.random(table.shape) < 0.2] = np.nan
    model = HistGradientBoostingClassifier(max_iter=20).fit(
        table, np.nan_to_num(table[:, 0]) > table[:, 1]
    )
    calibrated = CalibratedTrees(FittedTrees(model), Sigmoid(0.7, 0.1))
    assert export_trees(model)(table) == pytest.approx(FittedTrees(model)(table))
    assert load_model(calibrated.arrays(), 5, {})(table) == pytest.approx(calibrated(table))
    with pytest.raises(ValueError, match="features that do not exist"):
        load_model(calibrated.arrays(), 4, {})
    with pytest.raises(ValueError, match="has no trees"):
        load_model(calibrated.arrays() | {"roots": np.empty(0)}, 5, {})
