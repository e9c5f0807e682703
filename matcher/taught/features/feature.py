"""A comparison feature of any table: its name, the column it belongs to, and its trend."""

from dataclasses import dataclass

from matcher.features.table import NEVER_LOWERS, NEVER_RAISES

# Names of feature groups that are no columns.
ALL_COLUMNS = "all columns"
RIVALS = "rivals"
VARIANTS = "variants"
SWAPPED = "swapped columns"
AGREEMENT = "agreement"

__all__ = [
    "AGREEMENT",
    "ALL_COLUMNS",
    "NEVER_LOWERS",
    "NEVER_RAISES",
    "RIVALS",
    "SWAPPED",
    "VARIANTS",
    "Feature",
]


@dataclass(frozen=True)
class Feature:
    """A number per candidate pair, NaN where it is unknown.

    `group` is the column that it compares, or one of the groups above; `trend` says how it moves
    the odds of a pair as it grows: NEVER_LOWERS, NEVER_RAISES, or 0 for either.
    """

    group: str
    name: str
    trend: int

    def __str__(self) -> str:
        return f"{self.group}: {self.name}"
