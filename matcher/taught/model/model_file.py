"""Stored models: JSON with numbers and names only, so that opening a stranger's file runs no code.

A model of 5,000 labels takes about 100 KB. Everything is checked when it is read: a model that was
changed by hand gives wrong answers at worst.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from catalog.errors import UsageError
from catalog.runtime.complete_file import complete_file
from matcher.model.calibrated_model import load_model as load_trees
from matcher.model.calibration import Sigmoid
from matcher.taught.columns.kinds import LONG_KINDS, ColumnKind
from matcher.taught.features.feature import Feature
from matcher.taught.features.swapped_values import swappable_columns
from matcher.taught.model.agreement import AgreementModel
from matcher.taught.model.regression import Regression
from matcher.taught.model.taught_model import Classifier, TaughtModel

FORMAT = "scout-dedupe-model"
VERSION = 4
# Earlier versions, with the kinds of columns that are compared otherwise since.
CHANGED_KINDS = {
    1: (*LONG_KINDS, ColumnKind.IDENTIFIER),
    2: (ColumnKind.IDENTIFIER,),
    3: (),
}
# Bytes of a model file; cap against hostile input.
MAX_BYTES = 64_000_000


def save_model(model: TaughtModel, path: Path) -> None:
    """Write a model; the file takes its name when complete. Raises ScoutError."""
    with complete_file(path) as file:
        file.write(json.dumps(to_json(model)))


def load_model(path: Path) -> TaughtModel:
    """Read a model. Raises UsageError if the file is absent or holds no model."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(
                f"{path} is no model of 'scout dedupe': larger than {MAX_BYTES:,} bytes"
            )
        value = json.loads(path.read_text(encoding="utf-8"))
        if value["format"] != FORMAT:
            raise ValueError("another format")
        version = value["version"]
        if version != VERSION and version not in CHANGED_KINDS:
            raise UsageError(_other_version(path, version))
        model = from_json(value)
        is_changed = not set(model.kinds).isdisjoint(CHANGED_KINDS.get(version, ()))
        # Since version 4 values of two names or addresses are also compared crosswise.
        if is_changed or (version != VERSION and swappable_columns(model.kinds)):
            raise UsageError(_other_version(path, version))
        return model
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path} is no model of 'scout dedupe': {error}") from error


def _other_version(path: Path, version: object) -> str:
    return (
        f"{path} is a model of version {version}, this is version {VERSION}: "
        "train it again from its labels"
    )


def to_json(model: TaughtModel) -> dict[str, Any]:
    """Return a model as plain values."""
    value: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "columns": dict(zip(model.names, map(str, model.kinds), strict=True)),
        "features": [[feature.group, feature.name, feature.trend] for feature in model.features],
        "agreement": model.agreement.as_json(),
        "threshold": model.threshold,
        "summary": model.summary,
        "classifier": None,
    }
    if model.classifier is not None:
        arrays = model.classifier.trees.arrays()
        value["classifier"] = {
            "trees": {name: array.tolist() for name, array in arrays.items()},
            "regression": model.classifier.regression.as_json(),
            "calibration": [model.classifier.sigmoid.slope, model.classifier.sigmoid.shift],
        }
    return value


def from_json(value: Mapping[str, Any]) -> TaughtModel:
    """Restore a model. Raises KeyError, TypeError or ValueError for other values."""
    columns = value["columns"]
    features = tuple(
        Feature(str(group), str(name), int(trend)) for group, name, trend in value["features"]
    )
    classifier = None
    if value["classifier"] is not None:
        stored = value["classifier"]
        arrays = {str(name): np.array(numbers) for name, numbers in stored["trees"].items()}
        slope, shift = map(float, stored["calibration"])
        classifier = Classifier(
            load_trees(arrays, len(features), {}),
            Regression.from_json(stored["regression"], len(features)),
            Sigmoid(slope, shift),
        )
    return TaughtModel(
        tuple(map(str, columns)),
        tuple(map(ColumnKind, columns.values())),
        features,
        AgreementModel.from_json(value["agreement"]),
        classifier,
        float(value["threshold"]),
        dict(value["summary"]),
    )
