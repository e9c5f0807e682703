"""What the joins must find, the slow way: every pair compared, with fractions."""

from fractions import Fraction
from itertools import combinations, product

from rapidfuzz.distance import Levenshtein

from matcher.dedupe.base.join import Joined
from matcher.dedupe.base.measures import words

Pairs = dict[tuple[int, int], float]


def brute(left: list[str], right: list[str] | None, similarity: str, threshold: Fraction) -> Pairs:
    """All pairs of rows that are similar enough, with their similarity."""
    rows = (
        combinations(range(len(left)), 2)
        if right is None
        else product(range(len(left)), range(len(right)))
    )
    other = left if right is None else right
    found = ((a, b, _enough(left[a], other[b], similarity, threshold)) for a, b in rows)
    return {(a, b): value for a, b, value in found if value is not None}


def _enough(a: str, b: str, similarity: str, threshold: Fraction) -> float | None:
    if similarity == "edit":
        longer = max(len(a), len(b))
        distance = Levenshtein.distance(a, b)
        return 1 - distance / max(1, longer) if distance <= (1 - threshold) * longer else None
    one, two = set(words(a)), set(words(b))
    shared = len(one & two)
    if not one or not two:
        return 1.0 if one == two else None
    if similarity == "jaccard":
        together = len(one | two)
        return shared / together if shared >= threshold * together else None
    product_of = len(one) * len(two)
    return shared / product_of**0.5 if shared**2 >= threshold**2 * product_of else None


def pairs_of(found: Joined) -> Pairs:
    """The pairs of a join."""
    return {
        (int(a), int(b)): float(s)
        for a, b, s in zip(found.left, found.right, found.similarity, strict=True)
    }
