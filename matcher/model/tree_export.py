"""A taught judge that can be kept: its trees as plain arrays, its calibration, what it saw and how well it did.

scikit-learn keeps models by pickle, which runs whatever a tampered file says. Arrays of numbers cannot. A kept judge
says what it has learnt from, and how it did on rehearsals that it had not learnt from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from matcher.model.calibration import Sigmoid

Floats = NDArray[np.float32]
_COLUMNS = (
    "feature_idx",
    "num_threshold",
    "missing_go_to_left",
    "left",
    "right",
    "is_leaf",
    "value",
)


@dataclass(frozen=True)
class Forest:
    """Boosted trees: the nodes of all of them, where each begins, and the log-odds before the first."""

    nodes: Mapping[str, NDArray[np.float64]]
    roots: NDArray[np.int64]
    base: float

    def __call__(self, table: Floats) -> Floats:
        """The probability of each row of features."""
        rows = table.astype(np.float64)
        everyone = np.arange(len(rows))
        odds = np.full(len(rows), self.base)
        leaf, left, right = (
            self.nodes[name].astype(np.int64) for name in ("is_leaf", "left", "right")
        )
        feature, threshold = self.nodes["feature_idx"].astype(np.int64), self.nodes["num_threshold"]
        unknown_left = self.nodes["missing_go_to_left"] > 0
        for root in self.roots.tolist():
            at, active = np.full(len(rows), root), everyone
            while len(active := active[leaf[at[active]] == 0]):
                here = at[active]
                value = rows[active, feature[here]]
                goes_left = np.where(np.isnan(value), unknown_left[here], value <= threshold[here])
                at[active] = root + np.where(goes_left, left[here], right[here])
            odds += self.nodes["value"][at]
        found: Floats = (1 / (1 + np.exp(-odds))).astype(np.float32)
        return found


@dataclass(frozen=True)
class Grown:
    """Trees just fitted by scikit-learn, which asks them faster than arrays can be asked."""

    model: Any

    def __call__(self, table: Floats) -> Floats:
        """The probability of each row. One thread: for few rows, threads that wait for each other cost most."""
        if not len(table):
            return np.empty(0, np.float32)
        with threadpool_limits(1):
            return np.asarray(self.model.predict_proba(table)[:, 1], dtype=np.float32)


@dataclass(frozen=True)
class Taught:
    """Calibrated trees with their story: the data they saw, and their scores."""

    forest: Forest | Grown
    sigmoid: Sigmoid
    story: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, table: Floats) -> Floats:
        """The calibrated probability of each row of features."""
        return self.sigmoid(self.forest(table))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that is needed to judge again."""
        forest = forest_of(self.forest.model) if isinstance(self.forest, Grown) else self.forest
        found: dict[str, NDArray[Any]] = {
            f"node_{name}": values for name, values in forest.nodes.items()
        }
        numbers = np.array([forest.base, self.sigmoid.slope, self.sigmoid.shift])
        return found | {"roots": forest.roots, "numbers": numbers}


def forest_of(model: Any) -> Forest:
    """The trees of a fitted HistGradientBoostingClassifier of two classes."""
    trees = [stage[0].nodes for stage in model._predictors]
    sizes = np.array([len(nodes) for nodes in trees], dtype=np.int64)
    columns = {
        name: np.concatenate([nodes[name] for nodes in trees]).astype(np.float64)
        for name in _COLUMNS
    }
    return Forest(columns, np.cumsum(sizes) - sizes, float(np.ravel(model._baseline_prediction)[0]))


def taught_from(arrays: Mapping[str, NDArray[Any]], width: int, story: Mapping[str, Any]) -> Taught:
    """The judge of these arrays, for so many features. Raises KeyError or ValueError where they are none."""
    nodes = {name: np.asarray(arrays[f"node_{name}"], dtype=np.float64) for name in _COLUMNS}
    roots = np.asarray(arrays["roots"], dtype=np.int64)
    base, slope, shift = (float(number) for number in arrays["numbers"])
    size = len(nodes["left"])
    inner = nodes["is_leaf"] == 0
    if (
        not size
        or roots[0] != 0
        or np.any((nodes["feature_idx"] < 0) | (nodes["feature_idx"] >= width))
    ):
        raise ValueError("the kept judge asks for features that there are not")
    tree = np.searchsorted(roots, np.arange(size), "right") - 1
    start, ends = roots[tree], np.append(roots[1:], size)[tree]
    for side in ("left", "right"):
        step = start + nodes[side]
        if np.any(inner & ((step <= np.arange(size)) | (step >= ends))):
            raise ValueError("a tree of the kept judge leads nowhere")
    return Taught(Forest(nodes, roots, base), Sigmoid(slope, shift), story)
