"""The feature table: one description per feature, shared by code, explanations and documents."""

import numpy as np

from catalog.models import OfferFields
from matcher.blocking.vectors import build_vector_space
from matcher.features import pair_features
from matcher.features.part_numbers import PART_NUMBER_FEATURES
from matcher.features.table import (
    CACHED_NAMES,
    FEATURE_NAMES,
    FEATURES,
    FeatureKind,
    columns_by_kind,
    markdown_table,
)
from matcher.records.record import build_records


def test_each_feature_is_described_in_one_line() -> None:
    """Names are unique, and each description is one short line of its own."""
    assert len(set(FEATURE_NAMES)) == len(FEATURES)
    descriptions = [feature.description for feature in FEATURES]
    assert len(set(descriptions)) == len(FEATURES)
    assert all(0 < len(text) <= 90 and "\n" not in text for text in descriptions)


def test_trends_are_monotonic_constraints() -> None:
    """Each feature has a direction: 1 never lowers the odds as it grows, -1 never raises them."""
    assert {feature.trend for feature in FEATURES} == {1, -1}


def test_the_table_names_just_the_computed_features(lamps: list[OfferFields]) -> None:
    """Exactly the features of the table are computed, the cached ones from two records alone."""
    records = build_records(lamps[:3])
    cacheable = pair_features.cacheable_columns(records, records)
    assert cacheable.keys() == set(CACHED_NAMES)
    assert set(PART_NUMBER_FEATURES) < set(CACHED_NAMES)
    space = build_vector_space(records, records)
    pairs = np.array([(0, 0), (1, 1), (2, 2)])
    corpus = pair_features.corpus_columns(
        space, pair_features.learn_variant_words(records), pairs, records, records
    )
    table = pair_features.compute_features(records, records, space, pairs)
    assert table.shape == (3, len(FEATURES))
    rivals = pair_features._rival_columns(pairs, table)
    assert (cacheable | corpus | rivals).keys() == set(FEATURE_NAMES)
    assert len(cacheable) + len(corpus) + len(rivals) == len(FEATURES)


def test_every_column_belongs_to_one_kind_of_evidence() -> None:
    """Explanations group all columns by kind, and no kind is empty."""
    groups = columns_by_kind()
    assert list(groups) == list(FeatureKind)
    assert all(groups.values())
    assert sorted(column for columns in groups.values() for column in columns) == [
        *range(len(FEATURES))
    ]


def test_markdown_table_has_a_row_per_feature() -> None:
    """The table for documents names every feature with its kind and description."""
    rows = markdown_table().splitlines()
    assert len(rows) == 2 + len(FEATURES)
    for row, feature in zip(rows[2:], FEATURES, strict=True):
        assert row == f"| `{feature.name}` | {feature.kind} | {feature.description} |"
