"""Reviewer feedback: reviews become training examples, and change the scores of similar offers."""

import numpy as np
import pytest

from catalog.models import OfferFields, ReviewDecision
from matcher.config import DEFAULT_CONFIG
from matcher.match import match_offers
from matcher.training.feedback import collect_feedback

PAIRS = np.array([[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [2, 3]])
TABLE = np.arange(6, dtype=np.float32).reshape(-1, 1)
SIMILARITY = np.array([0.1, 0.9, 0.3, 0.2, 0.5, 0.5], dtype=np.float32)


@pytest.mark.parametrize(
    ("reviews", "rows", "labels"),
    [
        ([None, None, None], [], []),
        (
            [ReviewDecision.ACCEPT, None, None],
            [1, 2, 3],
            [False] * DEFAULT_CONFIG.feedback_candidates,
        ),
        ([ReviewDecision.REJECT, ReviewDecision.IGNORE, None], [1], [True]),
        ([None, ReviewDecision.REJECT, ReviewDecision.ACCEPT], [4, 5], [True, False]),
    ],
)
def test_examples(
    reviews: list[ReviewDecision | None], rows: list[int], labels: list[bool]
) -> None:
    """Confirmed: the nearest candidates are different offers. Rejected: the nearest is the same."""
    feedback = collect_feedback(PAIRS, TABLE, SIMILARITY, reviews)
    assert feedback.table.ravel().tolist() == rows
    assert feedback.labels.tolist() == labels
    assert feedback.weight.tolist() == [DEFAULT_CONFIG.feedback_weight] * len(rows)


@pytest.mark.parametrize(
    ("review", "sign"), [(ReviewDecision.REJECT, 1), (ReviewDecision.ACCEPT, -1)]
)
def test_reviews_of_some_offers_move_the_others(
    lamps: list[OfferFields], review: ReviewDecision, sign: int
) -> None:
    """If findings are rejected (confirmed), similar offers become likelier listed (missing)."""
    bare = {"url": None, "sku": None, "images": [], "description": None, "price": None}
    catalog = list(lamps)
    for n, lamp in enumerate(lamps):
        if n % 2 == 0:
            title = " ".join((lamp.title or "").split()[:3]) + f" lot {n}"
            catalog[n] = lamp.model_copy(update=bare | {"title": title})
    reviews = {lamp.url or "": review for lamp in lamps[0::4]}

    def total_score(given_reviews: dict[str, ReviewDecision]) -> float:
        results = match_offers(lamps, catalog, reviews=given_reviews)
        return sum(result.score for result in results if result.offer % 4 == 2)

    assert sign * (total_score(reviews) - total_score({})) > 0
