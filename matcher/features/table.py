"""The comparison features: one table that computation, explanations and documents share.

`python -m matcher.features.table` prints it as Markdown. The order of the table is the order of the
columns of every feature matrix; trained models and random draws of columns depend on it.
"""

from dataclasses import dataclass
from enum import StrEnum


class FeatureKind(StrEnum):
    """The kinds of evidence, in the order in which explanations break ties."""

    TITLE = "title"
    RARE_WORDS = "rare words"
    MODEL_NUMBERS = "model numbers"
    QUANTITIES = "quantities"
    VARIANT = "variant"
    PRICE = "price"
    BRAND = "brand"
    IDENTIFIERS = "identifiers"
    IMAGE = "image"
    DESCRIPTION = "description"
    RIVALS = "rivals"


# How a feature moves the odds of a pair as it grows: monotonic constraints of the trees.
NEVER_LOWERS = 1
NEVER_RAISES = -1


@dataclass(frozen=True)
class Feature:
    """A comparison feature: a number per candidate pair, NaN where it is unknown.

    `is_cached` says that it depends on the two records only, not on other offers, so that the next
    run can reuse it. Secondary features stand last among those of their kind in explanations.
    """

    name: str
    description: str
    kind: FeatureKind
    trend: int
    is_cached: bool = False
    is_secondary: bool = False


FEATURES: tuple[Feature, ...] = (
    Feature(
        "grams",
        "cosine of the titles' character n-grams (TF-IDF)",
        FeatureKind.TITLE,
        NEVER_LOWERS,
    ),
    Feature(
        "words",
        "cosine of the titles' words (TF-IDF)",
        FeatureKind.TITLE,
        NEVER_LOWERS,
    ),
    Feature(
        "ratio",
        "Indel similarity of the titles, 0 to 100",
        FeatureKind.TITLE,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "token_set",
        "token-set similarity of the titles, 0 to 100; 100 if one contains the other's words",
        FeatureKind.TITLE,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "token_sort",
        "Indel similarity of the titles with sorted words, 0 to 100",
        FeatureKind.TITLE,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "winkler",
        "Jaro-Winkler similarity of the titles, 0 to 1",
        FeatureKind.TITLE,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "same_title",
        "1 if the titles are equal and not empty, else 0",
        FeatureKind.TITLE,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "shared",
        "share of both titles' token weight that the other title has in any spelling",
        FeatureKind.TITLE,
        NEVER_LOWERS,
    ),
    Feature(
        "shared_of_shop",
        "share of the shop title's token weight that the catalog title has",
        FeatureKind.TITLE,
        NEVER_LOWERS,
    ),
    Feature(
        "shared_of_known",
        "share of the catalog title's token weight that the shop title has",
        FeatureKind.TITLE,
        NEVER_LOWERS,
    ),
    Feature(
        "told_by_known",
        "share of the shop title's token weight in the catalog offer's title or description",
        FeatureKind.RARE_WORDS,
        NEVER_LOWERS,
        is_secondary=True,
    ),
    Feature(
        "told_by_shop",
        "share of the catalog title's token weight in the shop offer's title or description",
        FeatureKind.RARE_WORDS,
        NEVER_LOWERS,
        is_secondary=True,
    ),
    Feature(
        "rarest_shared",
        "weight of the rarest shared token, relative to the rarest token of all titles",
        FeatureKind.RARE_WORDS,
        NEVER_LOWERS,
    ),
    Feature(
        "rarest_only_shop",
        "relative weight of the rarest token that only the shop title has",
        FeatureKind.RARE_WORDS,
        NEVER_RAISES,
    ),
    Feature(
        "rarest_only_known",
        "relative weight of the rarest token that only the catalog title has",
        FeatureKind.RARE_WORDS,
        NEVER_RAISES,
    ),
    Feature(
        "codes_shared",
        "number of model numbers that both titles have in any spelling",
        FeatureKind.MODEL_NUMBERS,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "codes_only_shop",
        "number of model numbers that only the shop title has",
        FeatureKind.MODEL_NUMBERS,
        NEVER_RAISES,
        is_cached=True,
    ),
    Feature(
        "codes_only_known",
        "number of model numbers that only the catalog title has",
        FeatureKind.MODEL_NUMBERS,
        NEVER_RAISES,
        is_cached=True,
    ),
    Feature(
        "quantities_shared",
        "number of units with an amount that both titles name",
        FeatureKind.QUANTITIES,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "quantities_differ",
        "number of units for which the titles name different amounts",
        FeatureKind.QUANTITIES,
        NEVER_RAISES,
        is_cached=True,
    ),
    Feature(
        "kinds_differ",
        "number of differences in pack, size, part of a series, or accessory",
        FeatureKind.VARIANT,
        NEVER_RAISES,
        is_cached=True,
    ),
    Feature(
        "siblings_differ",
        "number of variant words, as learnt from the catalog, that only one title has",
        FeatureKind.VARIANT,
        NEVER_RAISES,
    ),
    Feature(
        "price_gap",
        "absolute difference of the logarithms of the prices, at most 3",
        FeatureKind.PRICE,
        NEVER_RAISES,
        is_cached=True,
    ),
    Feature(
        "brand",
        "token-set similarity of the brands, 0 to 1",
        FeatureKind.BRAND,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "ean",
        "1 if the EANs are equal, 0 if they differ",
        FeatureKind.IDENTIFIERS,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "han",
        "1 if the part numbers are equal, 0 if they differ",
        FeatureKind.IDENTIFIERS,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "codes_named",
        "1 if the other offer's text contains a part number or SKU, 0 if it contains none",
        FeatureKind.MODEL_NUMBERS,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "codes_alike",
        "Indel similarity of the part numbers, 0 to 1",
        FeatureKind.IDENTIFIERS,
        NEVER_LOWERS,
        is_cached=True,
        is_secondary=True,
    ),
    Feature(
        "codes_near",
        "greatest similarity of any number to the nearest number of the other offer, 0 to 1",
        FeatureKind.MODEL_NUMBERS,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "codes_far",
        "least similarity of any number to the nearest number of the other offer, 0 to 1",
        FeatureKind.MODEL_NUMBERS,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "codes_long_near",
        "as codes_near, of numbers too long for a size or a year",
        FeatureKind.MODEL_NUMBERS,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "codes_long_far",
        "as codes_far, of numbers too long for a size or a year",
        FeatureKind.MODEL_NUMBERS,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "sku",
        "1 if the SKUs are equal, 0 if they differ",
        FeatureKind.IDENTIFIERS,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "image",
        "1 if the offers share an image, 0 if they share none",
        FeatureKind.IMAGE,
        NEVER_LOWERS,
        is_cached=True,
    ),
    Feature(
        "description",
        "cosine of the descriptions' words (TF-IDF)",
        FeatureKind.DESCRIPTION,
        NEVER_LOWERS,
    ),
    Feature(
        "grams_lead_shop",
        "margin of grams over the best rival among the shop offer's other candidates",
        FeatureKind.RIVALS,
        NEVER_LOWERS,
    ),
    Feature(
        "grams_lead2_shop",
        "margin of grams over the second-best rival of the shop offer",
        FeatureKind.RIVALS,
        NEVER_LOWERS,
    ),
    Feature(
        "grams_lead_known",
        "margin of grams over the best rival among the catalog offer's other candidates",
        FeatureKind.RIVALS,
        NEVER_LOWERS,
    ),
    Feature(
        "grams_lead2_known",
        "margin of grams over the second-best rival of the catalog offer",
        FeatureKind.RIVALS,
        NEVER_LOWERS,
    ),
    Feature(
        "grams_rank_shop",
        "rank by grams among the shop offer's candidates, from 0",
        FeatureKind.RIVALS,
        NEVER_RAISES,
    ),
    Feature(
        "grams_rank_known",
        "rank by grams among the catalog offer's candidates, from 0",
        FeatureKind.RIVALS,
        NEVER_RAISES,
    ),
    Feature(
        "shared_lead_shop",
        "margin of shared over the best rival of the shop offer",
        FeatureKind.RIVALS,
        NEVER_LOWERS,
    ),
    Feature(
        "shared_lead_known",
        "margin of shared over the best rival of the catalog offer",
        FeatureKind.RIVALS,
        NEVER_LOWERS,
    ),
    Feature(
        "description_lead_shop",
        "margin of description over the best rival of the shop offer",
        FeatureKind.DESCRIPTION,
        NEVER_LOWERS,
    ),
    Feature(
        "description_lead_known",
        "margin of description over the best rival of the catalog offer",
        FeatureKind.DESCRIPTION,
        NEVER_LOWERS,
    ),
)
FEATURE_NAMES = tuple(feature.name for feature in FEATURES)
TRENDS = tuple(feature.trend for feature in FEATURES)
CACHED_NAMES = tuple(feature.name for feature in FEATURES if feature.is_cached)
COLUMN = {name: column for column, name in enumerate(FEATURE_NAMES)}


def columns_by_kind() -> dict[FeatureKind, list[int]]:
    """Return the columns of each kind of evidence, secondary features last."""
    columns: dict[FeatureKind, list[int]] = {kind: [] for kind in FeatureKind}
    for feature in sorted(FEATURES, key=lambda feature: feature.is_secondary):
        columns[feature.kind].append(COLUMN[feature.name])
    return columns


def markdown_table() -> str:
    """Return the features as a Markdown table, in the order of the columns."""
    lines = ["| feature | kind | description |", "|---|---|---|"]
    for feature in FEATURES:
        lines.append(f"| `{feature.name}` | {feature.kind} | {feature.description} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown_table())  # noqa: T201
