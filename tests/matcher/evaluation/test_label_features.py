"""Label features: no pair sees its own label."""

import numpy as np
import pytest

from matcher.evaluation.label_features import compute_label_features


def test_no_label_sees_itself() -> None:
    """The features of a labelled pair do not depend on its own label."""
    generator = np.random.default_rng(0)
    pairs = np.unique(generator.integers(0, 6, (20, 2)), axis=0)
    score = generator.random(len(pairs)).astype(np.float32)
    labelled = np.arange(0, len(pairs), 2)
    labels = generator.random(len(labelled)) < 0.4
    columns = compute_label_features(pairs, score, labelled, labels)
    for n, row in enumerate(labelled):
        flipped = labels.copy()
        flipped[n] = not labels[n]
        changed = compute_label_features(pairs, score, labelled, flipped)
        assert changed[row] == pytest.approx(columns[row])
