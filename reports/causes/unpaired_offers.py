"""Unpaired offers of the feed: the catalog may hold offers that the matcher did not pair.

If the feed holds many unpaired offers of a category, the shop's offers there are not missing but
were not recognised. So many of a group's missing offers prove nothing.
"""

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal

from reports.causes.offer_columns import Trait
from reports.statistics.category_paths import category_steps

_MAX_STEPS = 8  # steps of a category path that are compared; a bound against hostile input

_Path = tuple[str, ...]


@dataclass
class UnpairedOffers:
    """Counts of the feed's unpaired offers by brand, category path and price.

    `inner_paths` counts every run of consecutive steps of a path, `last_paths` those that end it,
    `whole_paths` the paths themselves. The `unpriced` ones may have any price.
    """

    brands: Counter[str] = field(default_factory=Counter)
    inner_paths: Counter[_Path] = field(default_factory=Counter)
    last_paths: Counter[_Path] = field(default_factory=Counter)
    whole_paths: Counter[_Path] = field(default_factory=Counter)
    prices: dict[str | None, list[Decimal]] = field(default_factory=dict)
    unpriced: int = 0

    def add(
        self, brand: str | None, category: str | None, price: Decimal | None, currency: str | None
    ) -> None:
        """Count an unpaired offer."""
        self.brands[(brand or "").casefold()] += 1
        path = _path(category)
        self.whole_paths[path] += 1
        for start in range(len(path)):
            self.last_paths[path[start:]] += 1
        # A run of steps that occurs twice in one path counts once.
        runs = {
            path[start:end] for start in range(len(path)) for end in range(start + 1, len(path) + 1)
        }
        self.inner_paths.update(runs)
        if price is None:
            self.unpriced += 1
        else:
            self.prices.setdefault(currency, []).append(price)

    def count(self, trait: Trait, value: str) -> float:
        """Return how many unpaired offers a category or brand may have; 0 for other traits."""
        if trait is Trait.BRAND:
            return float(self.brands[value.casefold()])
        if trait is Trait.CATEGORY:
            return float(self._count_category(_path(value)))
        return 0.0

    def _count_category(self, path: _Path) -> int:
        """Count the offers of a category: whole paths are compared, with any first steps.

        The feed may have further steps above (`Household > Kitchen`), may name nothing below
        `Kitchen`, or nothing above it.
        """
        count = self.inner_paths[path]
        for depth in range(1, len(path)):
            count += self.last_paths[path[:depth]] + self.whole_paths[path[depth:]]
        return count


def _path(category: str | None) -> _Path:
    return tuple(step.casefold() for step in category_steps(category)[:_MAX_STEPS])
