"""Scored candidate pairs: features, identifier evidence, and the probability of the same offer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

import numpy as np

from catalog.models import ReviewDecision
from catalog.runtime.spark.session import SparkJobs
from matcher.array_types import Floats, Ints, Pairs
from matcher.blocking.candidate_vectors import build_candidate_space
from matcher.blocking.candidates import find_candidates
from matcher.blocking.distributed_rows import find_nearest_distributed
from matcher.blocking.nearest_rows import find_nearest
from matcher.blocking.vectors import build_vector_space
from matcher.catalog_statistics import CatalogStatistics
from matcher.config import DEFAULT_CONFIG, MatcherConfig
from matcher.features.cache import MatchCache, digest_records, digest_training_data
from matcher.features.pair_features import compute_features
from matcher.features.table import COLUMN, FEATURES
from matcher.features.variant_words import VariantWords, learn_variant_words
from matcher.records.record import Record
from matcher.scoring.identifier_evidence import (
    SAME_LINK_KINDS,
    IdentifierEvidence,
    apply_identifier_evidence,
    find_identifier_evidence,
)
from matcher.scoring.leftover_boost import boost_leftover_pairs
from matcher.training.classifier import (
    ALL_ROWS,
    Classifier,
    TrainingRows,
    apply_formula,
    train_classifier,
)
from matcher.training.feedback import FeedbackExamples, collect_feedback
from matcher.training.synthetic_pairs import draw_rounds


@dataclass(frozen=True)
class LargeCatalog:
    """A catalog of which some offers stand for others.

    `keys` are the content keys of the offers at hand, by which they are drawn
    (`catalog.values.content_keys`). `statistics` stand for the offers not at hand; None if all are.
    `training` are then the records to train on, `rounds` their rows in each round.
    """

    keys: Ints
    statistics: CatalogStatistics | None = None
    training: Sequence[Record] = ()
    rounds: Sequence[Sequence[int]] = ()


@dataclass(frozen=True)
class ScoredPairs:
    """Both sides, their candidate pairs, and per pair its features, evidence and probability.

    `classifier` gave the probabilities before identifier evidence and leftover boost.
    `catalog_size` is the number of the catalog's offers, of which `catalog` may have some only.
    """

    shop: Sequence[Record]
    catalog: Sequence[Record]
    pairs: Pairs
    table: Floats
    evidence: IdentifierEvidence
    probability: Floats
    variant_words: VariantWords
    catalog_size: int
    classifier: Classifier = apply_formula

    def value(self, pair: int, feature: str) -> float:
        """Return one feature of one pair; NaN if it is unknown."""
        return float(self.column(feature)[pair])

    def column(self, feature: str) -> Floats:
        """Return one feature of all pairs; NaN where it is unknown."""
        return self.table[:, COLUMN[feature]]


def score_pairs(
    shop: Sequence[Record],
    catalog: Sequence[Record],
    reviews: Sequence[ReviewDecision | None] = (),
    config: MatcherConfig = DEFAULT_CONFIG,
    cache: MatchCache | None = None,
    large: LargeCatalog | None = None,
    jobs: SparkJobs | None = None,
) -> ScoredPairs:
    """Find and score the candidate pairs of both sides.

    `reviews` holds the review of each shop record, or None. The classifier is trained on the
    catalog, on pages with a known link, and on the reviews. Results of an earlier run are reused
    from `cache`. `large` has what is known of a large catalog, of which `catalog` may have some
    offers only. With `jobs`, candidates are searched and compared on Spark.
    """
    statistics = large.statistics if large else None
    catalog_size = statistics.size if statistics else len(catalog)
    if statistics:
        variant_words = VariantWords(statistics.variant_words)
    else:
        variant_words = learn_variant_words(catalog)
    if not shop or not catalog:
        return _without_pairs(shop, catalog, variant_words, catalog_size)
    if statistics:
        space = build_candidate_space(shop, catalog, statistics)
    else:
        space = build_vector_space(shop, catalog)
    nearest = partial(find_nearest_distributed, jobs) if jobs else find_nearest
    pairs = find_candidates(shop, catalog, space, catalog_size=catalog_size, nearest=nearest)
    table = compute_features(shop, catalog, space, pairs, cache, variant_words, jobs)
    evidence = find_identifier_evidence(
        shop, catalog, pairs, statistics.linked if statistics else None
    )
    # The formula ranks candidates for the feedback, as no classifier is trained yet.
    feedback = collect_feedback(pairs, table, apply_formula(table), reviews, config)
    pages = _pages_with_known_link(shop, pairs, evidence)
    classifier = _train_or_reuse(catalog, pages, feedback, config, cache, large)
    weighed = apply_identifier_evidence(classifier(table), evidence, table, config)
    probability = boost_leftover_pairs(pairs, weighed, catalog_size, config)
    return ScoredPairs(
        shop,
        catalog,
        pairs,
        table,
        evidence,
        probability,
        variant_words,
        catalog_size,
        classifier,
    )


def _without_pairs(
    shop: Sequence[Record],
    catalog: Sequence[Record],
    variant_words: VariantWords,
    catalog_size: int,
) -> ScoredPairs:
    return ScoredPairs(
        shop,
        catalog,
        pairs=np.empty((0, 2), np.int64),
        table=np.empty((0, len(FEATURES)), np.float32),
        evidence=IdentifierEvidence([], [], 0.0),
        probability=np.empty(0, np.float32),
        variant_words=variant_words,
        catalog_size=catalog_size,
    )


def _train_or_reuse(
    catalog: Sequence[Record],
    pages: Mapping[int, Record],
    feedback: FeedbackExamples,
    config: MatcherConfig,
    cache: MatchCache | None,
    large: LargeCatalog | None,
) -> Classifier:
    """Return a classifier for this catalog, from the cache if its training data is the same."""

    def train() -> Classifier:
        rows = ALL_ROWS
        if large and large.statistics:
            rows = TrainingRows(large.rounds, large.statistics.size)
        elif large:
            rows = TrainingRows(draw_rounds(catalog, large.keys))
        return train_classifier(catalog, pages, feedback, config, rows)

    if large and large.statistics:
        pages = _pages_of_copies(pages, catalog, large.training)
        catalog = large.training

    if cache is None:
        return train()
    page_rows = [*pages]
    arrays = (
        digest_records(catalog),
        np.array(page_rows, dtype=np.int64),
        digest_records([pages[row] for row in page_rows]),
        feedback.table,
        feedback.labels,
        feedback.weight,
        np.array([config.min_training_offers, config.min_tree_offers], dtype=np.int64),
    )
    # Another version of scikit-learn may grow other trees.
    library = version("scikit-learn").encode()
    training_digest = digest_training_data(library, *(array.tobytes() for array in arrays))
    classifier: Classifier = cache.classifier(training_digest, train)
    return classifier


def _pages_of_copies(
    pages: Mapping[int, Record], catalog: Sequence[Record], copies: Sequence[Record]
) -> dict[int, Record]:
    """Return the pages of the catalog's offers by the rows of copies with the same links."""
    page_of = {catalog[row].link.address: page for row, page in pages.items()}
    found = {}
    for row, copy in enumerate(copies):
        if copy.link.address in page_of:
            found[row] = page_of[copy.link.address]
    return found


def _pages_with_known_link(
    shop: Sequence[Record], pairs: Pairs, evidence: IdentifierEvidence
) -> dict[int, Record]:
    """Return {catalog row: the shop's record} of the offers whose links agree."""
    pages: dict[int, Record] = {}
    linked = [pair for pair, link in enumerate(evidence.links) if link in SAME_LINK_KINDS]
    # From the back, so that the first pair of a catalog row stands; the order of rows counts, too.
    for pair in reversed(linked):
        pages[int(pairs[pair, 1])] = shop[int(pairs[pair, 0])]
    return pages
