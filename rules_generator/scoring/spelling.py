"""Spelling: values equal to the catalog's that the shop's pages write otherwise.

Values that differ in quotes and dashes, or in the separators of a category's steps, count as right.
But reviewers compare values with the catalog, so the closest spelling is preferred.
"""

from collections.abc import Sequence
from statistics import fmean

from catalog.models import Attribute
from catalog.values.text import word_overlap
from rules_generator.training.examples import Example

# A description with a tenth of other words is as far off as a name in another spelling.
DESCRIPTION_FACTOR = 10
SPELLED_ATTRIBUTES = frozenset(
    {Attribute.TITLE, Attribute.BRAND, Attribute.CATEGORY, Attribute.DESCRIPTION}
)


def spelling_distance(
    attribute: Attribute,
    values: Sequence[str | None],
    right: Sequence[bool | None],
    examples: Sequence[Example],
) -> float:
    """Return the mean distance of right values from the catalog's spelling, but for case.

    Names are at distance 0 or 1, descriptions at the share of different words times ten: of two
    places with nearly the same text, one may add the names of tabs, or lack the gaps between lines.
    """
    distances = []
    for value, is_right, example in zip(values, right, examples, strict=True):
        if value is not None and is_right and attribute in SPELLED_ATTRIBUTES:
            distances.append(_distance(attribute, value, example.known[attribute]))
    return fmean(distances) if distances else 0.0


def _distance(attribute: Attribute, value: str, accepted: Sequence[str]) -> float:
    if value in accepted:
        return 0.0
    if attribute is Attribute.DESCRIPTION:
        return DESCRIPTION_FACTOR * (1 - max(word_overlap(value, text) for text in accepted))
    return float(value.casefold() not in map(str.casefold, accepted))
