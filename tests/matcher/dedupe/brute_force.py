"""The reference for the joins: every pair compared one by one, with fractions."""

from fractions import Fraction
from itertools import combinations, product

from rapidfuzz.distance import Levenshtein

from matcher.dedupe.base.join import JoinResult
from matcher.dedupe.base.similarity_measures import distinct_words

Pairs = dict[tuple[int, int], float]


def brute_force_pairs(
    left: list[str], right: list[str] | None, similarity: str, threshold: Fraction
) -> Pairs:
    """Return all pairs of rows that are similar enough, with their similarity."""
    if right is None:
        right = left
        rows = [*combinations(range(len(left)), 2)]
    else:
        rows = [*product(range(len(left)), range(len(right)))]
    pairs: Pairs = {}
    for left_row, right_row in rows:
        value = _similarity(left[left_row], right[right_row], similarity, threshold)
        if value is not None:
            pairs[left_row, right_row] = value
    return pairs


def _similarity(left: str, right: str, similarity: str, threshold: Fraction) -> float | None:
    """Return the similarity of two texts; None if it is below the threshold."""
    if similarity == "edit":
        return _edit_similarity(left, right, threshold)
    left_words, right_words = set(distinct_words(left)), set(distinct_words(right))
    shared = len(left_words & right_words)
    if not left_words or not right_words:
        return 1.0 if left_words == right_words else None
    if similarity == "jaccard":
        union = len(left_words | right_words)
        return shared / union if shared >= threshold * union else None
    size_product = len(left_words) * len(right_words)
    if shared**2 < threshold**2 * size_product:
        return None
    return shared / size_product**0.5


def _edit_similarity(left: str, right: str, threshold: Fraction) -> float | None:
    longer = max(len(left), len(right))
    distance = Levenshtein.distance(left, right)
    if distance > (1 - threshold) * longer:
        return None
    return 1 - distance / max(1, longer)


def pairs_of(result: JoinResult) -> Pairs:
    """Return the pairs of a join with their similarity."""
    rows = zip(result.left.tolist(), result.right.tolist(), strict=True)
    return dict(zip(rows, result.similarity.tolist(), strict=True))
