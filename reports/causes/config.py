"""Thresholds that decide which causes a report names."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CauseConfig:
    """Thresholds of the causes, with their defaults.

    `reports.causes.groups.pattern_search` explains the search for groups that they bound.
    """

    # False discovery rate: corrected p-value from which on a group is no cause. With offers missing
    # at random, at most this share of reports names any.
    false_discovery_rate: float = 0.02
    # Effect size (Cohen's h) from which a difference of two shares is large (Cohen 1988, 6.2).
    min_effect: float = 0.8
    # Missing share from which a group is missing nearly as a whole; the others are exceptions.
    whole_share: float = 0.9
    # Missing products that make a group a cause; the borders of an interval are fitted to the
    # offers, so an interval needs more.
    min_products: int = 3
    min_interval_products: int = 5
    # Causes named at most: more than a reader takes in at once.
    max_causes: int = 12
    # Borders of intervals that are tested, at equal numbers of offers.
    interval_borders: int = 128
    # Share of listed offers whose page states a valid EAN from which a missing EAN is remarkable.
    usual_ean_share: float = 0.8
    # Factor from the median price of a currency from which a price is implausible.
    implausible_price_factor: float = 1000
    # Similarity of two titles (0 to 100, word order ignored) below which they count as different.
    same_title_similarity: float = 85
    # Characters of a product number, and of a title, that identify an offer in a raw row.
    min_number_length: int = 5
    min_title_length: int = 10
