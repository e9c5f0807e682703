"""Thresholds that decide which causes a report names."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CauseConfig:
    """Thresholds of the causes, with their defaults.

    A group of offers (a category, a brand, a price range) is a gap if the catalog lists nearly none
    of it, chance does not explain that, and the feed has no unpaired offers of it.
    """

    # Significance level of the test against chance: one false gap in a thousand groups.
    gap_significance: float = 0.001
    # Share of a gap's offers that may be listed all the same.
    gap_listed_share: float = 0.05
    # Unpaired offers of the feed in a gap, as a share of the gap's offers: more, and the feed does
    # hold it.
    gap_unpaired_share: float = 0.1
    # Missing products that make a category or brand a gap; a price range needs more, for its
    # borders fit the offers.
    gap_min_products: int = 3
    price_gap_min_products: int = 5
    # Share of listed offers whose page states a valid EAN from which a missing EAN is remarkable.
    usual_ean_share: float = 0.8
    # Similarity of two titles (0 to 100, word order ignored) below which they count as different.
    same_title_similarity: float = 85
    # Characters of a product number, and of a title, that identify an offer in a raw row.
    min_number_length: int = 5
    min_title_length: int = 10
