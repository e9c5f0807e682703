"""The match cache of a shop: cached features per pair, and the trained classifier.

A shop changes little between two runs. Cached features depend on the two records only, and a
classifier on its training data only. Both are stored under a digest of their inputs, so only new
and changed offers are compared again. Rarity, rivals and the assignment depend on all offers and
are always computed anew: the result is that of a run without a cache.

The file holds plain arrays and JSON, no pickle, which could run code. A file that cannot be read,
or of which a sample cannot be reproduced, is ignored.
"""

import json
from collections.abc import Callable, Sequence
from hashlib import blake2b
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcher.array_types import Floats, Ints, Keys, Pairs
from matcher.features.table import CACHED_NAMES, FEATURE_NAMES
from matcher.mixed_bits import GOLDEN_RATIO_64
from matcher.model.calibrated_model import CalibratedModel, load_model
from matcher.packed_arrays import DAMAGED_ARRAYS
from matcher.records.record import Record, record_fields
from matcher.sorted_values import look_up_sorted

# Version of the file's layout; files of other versions are ignored.
FORMAT = 4
# Pairs that are computed again to verify the file, at most, at each use.
SAMPLE_SIZE = 64
# Bytes of the digest of a training set.
FINGERPRINT_BYTES = 16
# Odd multiplier of Fibonacci hashing (Knuth, TAOCP 3, 6.4).
_MULTIPLIER = np.uint64(GOLDEN_RATIO_64)
_SHIFT = np.uint64(29)


class MatchCache:
    """Cached features by pair, and a classifier by its training data.

    `computed` and `reused` count the pairs of the current run.
    """

    def __init__(self, path: Path) -> None:
        """Read the file at `path` if there is a valid one; `save` writes it."""
        self.path = path
        self.computed = 0
        self.reused = 0
        self._keys: Keys = np.empty(0, np.uint64)
        self._rows: Floats = np.empty((0, len(CACHED_NAMES)), np.float32)
        self._used: list[tuple[Keys, Floats]] = []
        self._model: tuple[str, CalibratedModel] | None = None
        if path.exists():
            self._read(path)

    def look_up(self, keys: Keys, compute: Callable[[Ints], Floats]) -> Floats:
        """Return one row of cached features per key; `compute` fills the given positions."""
        position, is_cached = look_up_sorted(self._keys, keys)
        if not self._can_reproduce(np.flatnonzero(is_cached), position, compute):
            is_cached[:] = False
        rows = np.empty((len(keys), len(CACHED_NAMES)), np.float32)
        rows[is_cached] = self._rows[position[is_cached]]
        lacking = np.flatnonzero(~is_cached)
        if len(lacking):
            rows[lacking] = compute(lacking)
        self.computed += len(lacking)
        self.reused += int(is_cached.sum())
        self._used.append((keys, rows))
        return rows

    def classifier(self, training_digest: str, train: Callable[[], Any]) -> Any:
        """Return the classifier that was trained on just this data, or train a new one."""
        if self._model is not None and self._model[0] == training_digest:
            return self._model[1]
        classifier = train()
        self._model = None
        # The fixed formula has no parameters to store.
        if isinstance(classifier, CalibratedModel):
            self._model = (training_digest, classifier)
        return classifier

    def save(self) -> None:
        """Write what this run used, in place of the file's former content. Raises OSError."""
        keys = np.concatenate([np.empty(0, np.uint64), *(keys for keys, _ in self._used)])
        no_rows = np.empty((0, len(CACHED_NAMES)), np.float32)
        rows = np.concatenate([no_rows, *(rows for _, rows in self._used)])
        keys, first = np.unique(keys, return_index=True)
        header: dict[str, Any] = {
            "format": FORMAT,
            "features": list(FEATURE_NAMES),
            "cached": list(CACHED_NAMES),
        }
        arrays: dict[str, NDArray[Any]] = {"keys": keys, "rows": rows[first]}
        if self._model is not None:
            training_digest, model = self._model
            header |= {"training_digest": training_digest, "training": dict(model.summary)}
            arrays |= model.arrays()
        encoded = np.frombuffer(json.dumps(header).encode(), np.uint8)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Written aside and moved, so that a killed run leaves the former file.
        part = self.path.with_suffix(".part")
        try:
            with part.open("wb") as file:
                np.savez(file, header=encoded, **arrays)  # type: ignore[arg-type]
        except OSError:
            # An incomplete file would keep the disk full.
            part.unlink(missing_ok=True)
            raise
        part.replace(self.path)

    def _read(self, path: Path) -> None:
        try:
            with np.load(path, allow_pickle=False) as file:
                header = json.loads(file["header"].tobytes())
                if header["format"] != FORMAT:
                    return
                # Another table of features: neither rows nor trees would fit.
                if header["features"] != list(FEATURE_NAMES):
                    return
                if header["cached"] != list(CACHED_NAMES):
                    return
                keys, rows = file["keys"], file["rows"]
                if keys.dtype != np.uint64 or rows.dtype != np.float32:
                    return
                if rows.shape != (len(keys), len(CACHED_NAMES)):
                    return
                self._keys, self._rows = keys, rows
                if "training_digest" in header:
                    model = load_model(file, len(FEATURE_NAMES), header["training"])
                    self._model = (header["training_digest"], model)
        except DAMAGED_ARRAYS:
            self._keys, self._rows, self._model = self._keys[:0], self._rows[:0], None

    def _can_reproduce(
        self, cached: Ints, position: Ints, compute: Callable[[Ints], Floats]
    ) -> bool:
        """Return True if a sample of the cached rows comes out again: the file is genuine."""
        sample = cached[:: max(1, ceil(len(cached) / SAMPLE_SIZE))]
        if not len(sample):
            return True
        return np.array_equal(compute(sample), self._rows[position[sample]], equal_nan=True)


def digest_records(records: Sequence[Record]) -> Keys:
    """Return a 64-bit digest per record that changes with any of its fields."""
    return np.fromiter((_digest(record) for record in records), np.uint64, len(records))


def combine_digests(shop: Keys, catalog: Keys, pairs: Pairs) -> Keys:
    """Return a 64-bit key per pair of records."""
    mixed = shop[pairs[:, 0]] * _MULTIPLIER
    keys: Keys = (mixed ^ (mixed >> _SHIFT)) + catalog[pairs[:, 1]]
    return keys


def digest_training_data(*parts: bytes) -> str:
    """Return a digest of everything that a classifier is trained on."""
    digest = blake2b(digest_size=FINGERPRINT_BYTES)
    for part in parts:
        # The length keeps apart parts that differ only in where they are split.
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _digest(record: Record) -> int:
    text = repr(sorted(record_fields(record).items())).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest())
