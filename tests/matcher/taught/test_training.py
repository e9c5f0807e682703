"""Training on labels: candidates that agreement is sure about stand in for labels, where it is right."""

import numpy as np
import pytest

from matcher.model.calibration import log_odds
from matcher.taught.features.feature import ALL_COLUMNS, NEVER_LOWERS, Feature
from matcher.taught.model.partners import Partners
from matcher.taught.model.taught_model import AGREEMENT_FEATURES, ScoringTable
from matcher.taught.model.training import train

FEATURES = (Feature(ALL_COLUMNS, "3-grams", NEVER_LOWERS), *AGREEMENT_FEATURES)
CANDIDATES = 2_000


@pytest.mark.parametrize(
    ("true_from", "sure_from", "labels", "floor"), [(0.2, 0.5, 25, 0.86), (0.1, 0.3, 40, 0.91)]
)
def test_agreement_that_misses_duplicates(
    true_from: float, sure_from: float, labels: int, floor: float
) -> None:
    """Where labels show that agreement misses duplicates, the pairs that it refutes teach little."""
    generator = np.random.default_rng(3)
    pairs = np.column_stack([np.arange(CANDIDATES)] * 2)
    shares_right = []
    for _ in range(3):
        similarity = generator.random(CANDIDATES)
        measured = similarity + generator.normal(0, 0.05, CANDIDATES)
        shared = np.where(similarity > sure_from, 0.999, 0.001)
        agreement = log_odds(shared)
        table = np.column_stack([measured, agreement, agreement]).astype(np.float32)
        rows = generator.permutation(CANDIDATES)[:labels]
        is_duplicate = similarity > true_from
        scored = ScoringTable(pairs, table, shared, Partners(False, False))
        trained = train(scored, FEATURES, rows, is_duplicate[rows], rows)
        assert trained is not None
        probability = 1 / (1 + np.exp(-trained.classifier.log_odds(table)))
        shares_right.append(((probability >= trained.threshold) == is_duplicate).mean())
    assert np.mean(shares_right) > floor
