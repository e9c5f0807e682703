"""Reviewer feedback as training examples: a confirmed or rejected finding labels its nearest pairs.

Confirming a finding says that no catalog offer is this offer: its nearest candidates become
examples of different offers. Rejecting it says that the catalog lists the offer, most likely as its
nearest candidate. Reviewers look at doubtful findings, which synthetic pairs have few of, so each
example weighs as much as several synthetic pairs (`MatcherConfig.feedback_weight`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from catalog.models import ReviewDecision
from matcher.array_types import Bools, Floats, Pairs
from matcher.config import DEFAULT_CONFIG, MatcherConfig


@dataclass(frozen=True)
class FeedbackExamples:
    """Rows of features with reviewers' labels; `weight` counts each in synthetic pairs."""

    table: Floats
    labels: Bools
    weight: Floats


def no_feedback(table: Floats) -> FeedbackExamples:
    """Return no examples, with the columns of `table`."""
    return FeedbackExamples(table[:0], np.empty(0, bool), np.empty(0, np.float32))


def collect_feedback(
    pairs: Pairs,
    table: Floats,
    similarity: Floats,
    reviews: Sequence[ReviewDecision | None],
    config: MatcherConfig = DEFAULT_CONFIG,
) -> FeedbackExamples:
    """Collect the examples in reviews, one review or None per shop offer.

    `similarity` ranks the candidates of each offer.
    """
    rows: list[int] = []
    labels: list[bool] = []
    for offer, review in enumerate(reviews):
        if review is None or review is ReviewDecision.IGNORE:
            continue
        is_listed = review is ReviewDecision.REJECT
        count = 1 if is_listed else config.feedback_candidates
        candidates = np.flatnonzero(pairs[:, 0] == offer)
        by_similarity = np.argsort(-similarity[candidates], kind="stable")
        nearest = candidates[by_similarity][:count]
        rows += nearest.tolist()
        labels += [is_listed] * len(nearest)
    weight = np.full(len(labels), config.feedback_weight, np.float32)
    return FeedbackExamples(table[rows], np.array(labels, dtype=bool), weight)
