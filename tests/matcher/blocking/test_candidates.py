"""Blocking: candidate pairs hold the true pairs."""

import numpy as np

from catalog.models import OfferFields
from matcher.blocking.candidates import find_candidates
from matcher.blocking.vectors import build_vector_space
from matcher.features.pair_features import compute_features
from matcher.features.table import FEATURES
from matcher.records.record import build_records


def test_candidates_hold_every_twin(lamps: list[OfferFields]) -> None:
    """Every offer's own copy is among its candidates, and all features are finite."""
    records = build_records(lamps)
    space = build_vector_space(records, records)
    pairs = find_candidates(records, records, space)
    assert {(n, n) for n in range(len(records))} <= {tuple(pair) for pair in pairs.tolist()}
    table = compute_features(records, records, space, pairs)
    assert table.shape == (len(pairs), len(FEATURES))
    assert not np.isinf(table).any()
