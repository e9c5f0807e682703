"""Trees as plain arrays, since scikit-learn stores its models by pickle."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from matcher.array_types import Doubles, Floats, Ints

# Node fields of scikit-learn's TreePredictor that scoring needs.
_NODE_FIELDS = (
    "feature_idx",
    "num_threshold",
    "missing_go_to_left",
    "left",
    "right",
    "is_leaf",
    "value",
)
_WHOLE_NUMBERS = ("feature_idx", "left", "right")


def on_one_thread() -> AbstractContextManager[Any]:
    """Let scikit-learn's trees use one thread within the block.

    For few rows, waiting for other threads costs most of the time.
    """
    limited: AbstractContextManager[Any] = _threadpools().limit(limits=1)
    return limited


@cache
def _threadpools() -> ThreadpoolController:
    """Find the thread pools of this process: takes 2 ms."""
    # Imported late, and before the search: its pool is the one that is limited.
    import sklearn.ensemble  # noqa: F401

    return ThreadpoolController()


@dataclass(frozen=True)
class TreeArrays:
    """Boosted trees as arrays.

    `nodes` is {node field: values of all nodes}, `roots` the first node of each tree, `base` the
    log-odds before the first tree.
    """

    nodes: Mapping[str, Doubles]
    roots: Ints
    base: float

    def __call__(self, table: Floats) -> Floats:
        """Return the probability of each row of features."""
        rows = table.astype(np.float64)
        all_rows = np.arange(len(rows))
        odds = np.full(len(rows), self.base)
        is_leaf = self.nodes["is_leaf"] != 0
        left = self.nodes["left"].astype(np.int64)
        right = self.nodes["right"].astype(np.int64)
        feature = self.nodes["feature_idx"].astype(np.int64)
        threshold = self.nodes["num_threshold"]
        unknown_left = self.nodes["missing_go_to_left"] > 0
        for root in self.roots.tolist():
            # All rows descend one level at a time until they reach a leaf.
            node = np.full(len(rows), root)
            active = all_rows
            while len(active := active[~is_leaf[node[active]]]):
                inner = node[active]
                value = rows[active, feature[inner]]
                goes_left = np.where(
                    np.isnan(value), unknown_left[inner], value <= threshold[inner]
                )
                node[active] = root + np.where(goes_left, left[inner], right[inner])
            odds += self.nodes["value"][node]
        probability: Floats = (1 / (1 + np.exp(-odds))).astype(np.float32)
        return probability

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays from which `from_arrays` restores the trees."""
        arrays: dict[str, NDArray[Any]] = {"roots": self.roots}
        for name, values in self.nodes.items():
            arrays[f"node_{name}"] = values
        return arrays

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], base: float, width: int
    ) -> "TreeArrays":
        """Restore trees over `width` features.

        Raises KeyError or ValueError if the arrays are no trees, so that scoring always ends.
        """
        nodes = {
            name: np.asarray(arrays[f"node_{name}"], dtype=np.float64) for name in _NODE_FIELDS
        }
        roots = np.asarray(arrays["roots"], dtype=np.int64)
        size = len(nodes["left"])
        if not size or not len(roots) or roots[0] != 0:
            raise ValueError("the stored classifier has no trees")
        if any(values.shape != (size,) for values in nodes.values()):
            raise ValueError("the arrays of the stored classifier have different lengths")
        if np.any(np.diff(roots) <= 0) or roots[-1] >= size:
            raise ValueError("the roots of the stored classifier do not increase within its nodes")
        for name in _WHOLE_NUMBERS:
            # Scoring cuts fractions off, and a child could then be its own parent. NaN is refused too.
            if not np.array_equal(nodes[name], np.trunc(nodes[name])):
                raise ValueError(f"{name} of the stored classifier has values that are no integers")
        if np.any((nodes["feature_idx"] < 0) | (nodes["feature_idx"] >= width)):
            raise ValueError("the stored classifier uses features that do not exist")
        is_inner = nodes["is_leaf"] == 0
        tree = np.searchsorted(roots, np.arange(size), "right") - 1
        start = roots[tree]
        end = np.append(roots[1:], size)[tree]
        for side in ("left", "right"):
            child = start + nodes[side]
            # A child that stands after its parent, within its tree, makes loops impossible.
            if np.any(is_inner & ((child <= np.arange(size)) | (child >= end))):
                raise ValueError("a tree of the stored classifier does not end")
        return cls(nodes, roots, base)


@dataclass(frozen=True)
class FittedTrees:
    """Trees as fitted by scikit-learn, which scores faster than `TreeArrays`."""

    model: Any

    def __call__(self, table: Floats) -> Floats:
        """Return the probability of each row of features."""
        if not len(table):
            return np.empty(0, np.float32)
        with on_one_thread():
            return np.asarray(self.model.predict_proba(table)[:, 1], dtype=np.float32)


def export_trees(model: Any) -> TreeArrays:
    """Export the trees of a fitted binary HistGradientBoostingClassifier."""
    # Private attributes: scikit-learn has no public access to the nodes.
    trees = [stage[0].nodes for stage in model._predictors]
    sizes = np.array([len(nodes) for nodes in trees], dtype=np.int64)
    all_nodes = np.concatenate(trees)
    fields: dict[str, Doubles] = {}
    for name in _NODE_FIELDS:
        fields[name] = all_nodes[name].astype(np.float64)
    base = float(np.ravel(model._baseline_prediction)[0])
    return TreeArrays(fields, np.cumsum(sizes) - sizes, base)
