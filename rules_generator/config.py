"""Settings of the learner in one frozen value, and the mechanisms that an evaluation can switch
off.

A mechanism is a rule of thumb beyond counting right and wrong values. Each has to gain on at least
three shops for which it was not designed, or to keep a demanded accuracy; `scout evaluate
extraction DATA --without NAME` repeats the measurement.
"""

from dataclasses import dataclass, field

from catalog.errors import UsageError
from catalog.models import Attribute

# Name of each mechanism -> its purpose, and the measured effect of switching it off (10 examples a
# shop, 23 shops).
MECHANISMS: dict[str, str] = {
    "empty_fields": "reads identifiers and categories of no example from fields that are empty on all"
    " (4 shops: 22 SKUs, 19 HANs, 6 EANs fewer)",
    "breadcrumbs": "puts categories together from the elements or data entries of a breadcrumb"
    " (69 categories of the demo shop fewer)",
    "placeholder_skus": "reads a dash as SKU where the catalog lists dashes (1 shop: 34 SKUs fewer)",
    "heading_titles": "reads a heading that holds the title where no other rule finds one"
    " (1 shop: 17 of 100 titles fewer)",
    "fallback_rules": "adds a rule from another element where one rule alone was chosen"
    " (2 shops without scripts: 8 SKUs fewer)",
    "confirming_rules": "adds rules that only confirm the chosen ones from another source"
    " (1 shop: 4 titles wrong)",
    "site_defaults": "blocks the picture and slogan of the home page"
    " (not measured: the labelled shops have no home pages)",
    "fillers": "blocks values that stand on several examples and are right on none"
    " (1 shop: 34 SKUs where there are none)",
}


@dataclass(frozen=True)
class RankingTerm:
    """A term of a candidate's score: feature, weight, measured effect of leaving it out."""

    feature: str
    weight: float
    effect: str


# The score is the candidate's agreement with the known values, relative to the best candidate's,
# plus these terms: weight times a feature between 0 and 1. They only decide between candidates that
# agree about equally well. Effects are those on the 23 labelled shops without scripts, 10 examples
# a shop (`--view html --train 10 --without NAME`).
RANKING_TERMS: dict[str, RankingTerm] = {
    "unexpected": RankingTerm(
        "share of values where the catalog knows none, in these and the right ones",
        -0.1,
        "2 shops: 8 categories, on full pages 39 HANs where there are none",
    ),
    "named": RankingTerm(
        "a word of the selector names the attribute",
        0.01,
        "3 shops: 109 values differ, most of them in the size of pictures",
    ),
    "misleading": RankingTerm(
        "a word of the selector names something else than the page's offer",
        -0.016,
        "2 shops: 100 brands in another spelling, 35 other pictures",
    ),
    "product_data": RankingTerm(
        "an attribute or data of a product, by its selector",
        0.004,
        "8 shops: 473 pictures of another size",
    ),
    "data": RankingTerm("a value in a block of data", 0.002, "7 shops: pictures of a smaller size"),
    "matches": RankingTerm(
        "doublings of the elements that the selector matches, of four",
        -0.004,
        "4 shops: 98 brands in another spelling, 11 descriptions missed",
    ),
    "trimmed": RankingTerm(
        "the value is trimmed out of a longer text",
        -0.012,
        "2 shops: 4 SKUs wrong",
    ),
    "spelling": RankingTerm(
        "distance of right values from the catalog's spelling",
        -0.02,
        "2 shops: 144 descriptions with the names of tabs",
    ),
    "length": RankingTerm(
        "length of the selector, in 300 characters",
        -0.002,
        "12 shops: 914 other pictures, 5 of them wrong; 10 descriptions wrong, 8 where there are none",
    ),
}


def _min_shares() -> dict[Attribute, float]:
    return {
        Attribute.TITLE: 0.2,
        Attribute.PRICE: 0.35,
        Attribute.CATEGORY: 0.75,
        Attribute.DESCRIPTION: 0.65,
    }


@dataclass(frozen=True)
class LearnerConfig:
    """Decision thresholds of the learner, and the mechanisms that are switched off.

    Wilson bounds are given by the count that reaches them: n right of n have the bound n / (n + 1).
    """

    # Mechanisms that are switched off; empty in production.
    without: frozenset[str] = frozenset()
    # Score, relative to the best candidate's, below which no rule is kept (the thesis's threshold
    # F).
    score_threshold: float = 0.5
    # Scores that miss the threshold by less count: a rule that abstained once is not worse.
    tie_margin: float = 0.02
    # Share of values found that have to be right: known titles and prices may be stale in many
    # offers at once.
    min_shares: dict[Attribute, float] = field(default_factory=_min_shares, hash=False)
    min_share: float = 0.55
    # Least Wilson bound of a candidate that guesses: five right of five.
    guess_bound: float = 0.83
    # Least Wilson bound of an unnamed place that holds brands or categories: four right of four.
    unnamed_bound: float = 0.76
    # Least Wilson bound of a single constant, or of the first of several products' values: nine
    # right of nine.
    constant_bound: float = 0.9
    # Weight of a guess's vote, times its score.
    guess_weight: float = 0.85
    # Caps on the rules of one attribute, and on the candidates tried for them.
    max_rules: int = 6
    max_candidates_tried: int = 40
    # With more examples than this, candidates run in rounds of successive halving first.
    halving_from: int = 16

    def __post_init__(self) -> None:
        known = [*MECHANISMS, *RANKING_TERMS]
        unknown = sorted(self.without.difference(known))
        if unknown:
            raise UsageError(f"no such mechanism: {', '.join(unknown)}; known: {', '.join(known)}")

    def uses(self, mechanism: str) -> bool:
        """Return True unless the mechanism is switched off."""
        return mechanism not in self.without


DEFAULT_CONFIG = LearnerConfig()
