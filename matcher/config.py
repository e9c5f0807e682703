"""The thresholds that decide a match, as one frozen value that is passed down.

An evaluation can vary any of them: `match_offers(shop, catalog,
config=MatcherConfig(precision=0.99))`.
"""

from dataclasses import dataclass

# Offers above which a catalog is large: samples of it are drawn that no order decides, and an index
# may stand for it. Below, reading all of it costs less.
LARGE_CATALOG = 20_000


@dataclass(frozen=True)
class MatcherConfig:
    """Every threshold of the matcher that decides a verdict.

    Bounds against hostile or very large input are constants of the modules that need them.
    Probabilities are of both offers being the same; similarities of titles run from 0 to 100.
    """

    # Verdicts (matcher.decision)
    # Share of verdicts that have to be right; doubtful ones become unsure instead.
    precision: float = 0.98
    # A paired offer is listed from this probability on, at the least.
    listed_from: float = 0.55
    # An offer is missing below this probability, at the most.
    missing_below: float = 0.45
    # The lower threshold is never moved below this probability, the upper never above 1 minus it.
    lowest_threshold: float = 0.05
    # An improbable catalog offer counts as the nearest one from this token-sort ratio on, or ...
    nearest_token_sort: float = 60.0
    # ... if one title nearly contains the other (token-set ratio) ...
    nearest_token_set: float = 95.0
    # ... and their token-sort ratio reaches this value.
    nearest_contained_token_sort: float = 40.0

    # Links and identifiers (matcher.scoring.identifier_evidence)
    # Probability of a pair with the same link, whatever its texts.
    same_link: float = 0.998
    # The same path under different queries.
    same_path: float = 0.98
    # The same last segment of the path, in one offer of each side only.
    same_slug: float = 0.97
    # The same EAN, SKU or part number, in one offer of each side only.
    same_identifier: float = 0.96
    # The same link under offers that share neither word, image, price nor identifier.
    contradicted_link: float = 0.5
    # Log-odds that two different links take from a pair, times the share of catalog links that
    # the shop still answers on.
    different_link_penalty: float = 5.0

    # Leftover pairs (matcher.scoring.leftover_boost)
    # A pair is clear from this probability on.
    clear_pair: float = 0.6
    # Share of catalog offers with a clear partner from which on leftover pairs gain.
    usual_share: float = 0.85
    # Log-odds that a leftover pair gains if all other catalog offers have a partner.
    leftover_gain: float = 2.0

    # Training (matcher.training)
    # Below this number of catalog offers the fixed formula scores pairs. From 5 on, a trained
    # scorecard is wrong less often: .05 instead of .18 of the offers over four sets
    # (python -m benchmarks.small_catalogs DATA).
    min_training_offers: int = 5
    # From this number of catalog offers on, trees are trained. With 90, a scorecard is wrong less
    # often (.06 instead of .07), with 250 both are alike (the same command, --sizes 90,250).
    min_tree_offers: int = 100
    # Weight of an example from reviewer feedback; a synthetic pair weighs 1.
    feedback_weight: float = 10.0
    # Nearest candidates of a confirmed finding that become examples of different offers.
    feedback_candidates: int = 3


DEFAULT_CONFIG = MatcherConfig()
