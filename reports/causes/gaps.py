"""Absences: what the catalog lacks as a whole - a category, a brand, a range of prices - and how surely.

A merchant's export that forgets a category leaves a hole that chance does not. A group counts as absent when (nearly)
none of its offers is listed and that would be most unlikely if offers went missing at the rate of the rest of the shop
(the Chernoff bound of the binomial tail), and when the feed itself holds no such offers that merely were not paired.
Chance draws products, not offers: ten variants of one product are missing together, and prove no more than one does.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from math import exp, inf, log

from reports.statistics.price_bands import roundest
from reports.statistics.statistics import Tally, path, prefixes

_SURE = 0.001
_NEARLY = 0.05
_FEWEST = 3
_CENT = Decimal("0.01")


@dataclass(frozen=True)
class Absence:
    """A group of offers of which the catalog lists (nearly) none: `listed` of `offers`."""

    listed: int
    offers: int
    chance: float

    @property
    def counts(self) -> str:
        """The evidence in figures."""
        return f"{self.listed} of {self.offers} offers listed"


@dataclass(frozen=True)
class PriceGap(Absence):
    """No offer is listed above `low` and below `high` (None: open); `above`, `below` are round numbers to say so."""

    low: Decimal | None
    high: Decimal | None
    above: Decimal | None
    below: Decimal | None

    def holds(self, price: Decimal) -> bool:
        """Whether a price lies in the gap."""
        return (self.low is None or price > self.low) and (self.high is None or price < self.high)


@dataclass
class Feed:
    """What the feed itself holds, listed or not: offers by brand, by (last) step of the category, and prices."""

    offers: int = 0
    brands: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    leaves: Counter[str] = field(default_factory=Counter)
    prices: dict[str | None, list[Decimal]] = field(default_factory=dict)

    def add(
        self, brand: str | None, category: str | None, price: Decimal | None, currency: str | None
    ) -> None:
        """Count an offer of the feed."""
        self.offers += 1
        self.brands[(brand or "").casefold()] += 1
        steps = [step.casefold() for step in path(category)]
        self.steps.update(dict.fromkeys(steps, 1))
        self.leaves.update(dict.fromkeys(steps[-1:], 1))
        if price is not None:
            self.prices.setdefault(currency, []).append(price)


def absent_categories(tallies: Mapping[str, Tally], total: Tally, feed: Feed) -> dict[str, Absence]:
    """Category paths that are absent, each as far up the tree as the hole reaches."""
    tree: dict[str, Tally] = defaultdict(Tally)
    for category, tally in tallies.items():
        for prefix in prefixes(category):
            tree[prefix].take(tally)
    found = {}
    for prefix, tally in tree.items():
        absence = absent(tally, total, _unpaired(prefix, tree, feed))
        if absence:
            found[prefix] = absence
    return found


def _unpaired(prefix: str, tallies: Mapping[str, Tally], feed: Feed) -> int:
    """How many offers the feed may hold of a category beyond those listed, going by the names it uses.

    A feed that names nothing below `Kitchen` says nothing of `Kitchen > Pans`: its offers there count for all below.
    """
    *above, _ = prefixes(prefix)
    own = feed.steps[path(prefix)[-1].casefold()] - tallies[prefix].listed
    return max(
        own, *(feed.leaves[path(one)[-1].casefold()] - tallies[one].listed for one in above), 0
    )


def absent_brands(tallies: Mapping[str, Tally], total: Tally, feed: Feed) -> dict[str, Absence]:
    """Brands (casefolded) that are absent."""
    every = (
        (brand, absent(tally, total, feed.brands[brand] - tally.listed))
        for brand, tally in tallies.items()
        if brand
    )
    return {brand: absence for brand, absence in every if absence}


def absent(group: Tally, total: Tally, unpaired: int) -> Absence | None:
    """The group as an absence; None where it is none, may be one by chance, or the feed has unpaired offers of it."""
    decided, missing, listed = (
        group.listed + group.missing,
        group.missing_products,
        group.listed_products,
    )
    if missing < _FEWEST or group.listed > _NEARLY * decided or unpaired > 0.1 * decided:
        return None
    elsewhere = _rate(total.missing_products - missing, total.listed_products - listed)
    chance = _tail(listed, listed + missing, elsewhere)
    return Absence(group.listed, decided, chance) if chance < _SURE else None


def price_gaps(
    missing: Iterable[tuple[Decimal, str]],
    listed: Sequence[Decimal],
    products: int,
    feed: Sequence[Decimal],
) -> list[PriceGap]:
    """Ranges of prices in which offers are missing, none is listed, and (nearly) none stands in the feed.

    The missing come with their products; `products` says of how many the listed are.
    """
    gone, there, known = sorted(missing), sorted(set(listed)), sorted(feed)
    prices, total = [price for price, _ in gone], len({product for _, product in gone})
    gaps = []
    for low, high in pairwise([None, *there, None]):
        first, end = _ends(prices, low, high)
        inside, of = prices[first:end], len({product for _, product in gone[first:end]})
        if of < _FEWEST + 2:
            continue
        chance = _tail(0, of, _rate(total - of, products)) * (len(there) + 1)
        above = None if low is None else roundest(min(low + _CENT, inside[0]), inside[0])
        below = None if high is None else roundest(min(inside[-1] + _CENT, high), high)
        first, end = _ends(known, low, high)
        if chance < _SURE and end - first <= 0.1 * len(inside):
            gaps.append(PriceGap(0, len(inside), chance, low, high, above, below))
    return gaps


def _ends(ordered: Sequence[Decimal], low: Decimal | None, high: Decimal | None) -> tuple[int, int]:
    """From where to where the amounts between two others stand."""
    first = 0 if low is None else bisect_right(ordered, low)
    return first, len(ordered) if high is None else bisect_left(ordered, high)


def widest(absences: Iterable[Absence | None]) -> Absence | None:
    """The absence that explains most; of equals the first."""
    return max(
        (one for one in absences if one), key=lambda one: one.offers - one.listed, default=None
    )


def _rate(missing: int, listed: int) -> float:
    """How often offers go missing elsewhere; where nothing is listed, always: then no group stands out."""
    return (missing + 1) / (missing + listed + 2) if listed else 1.0


def _tail(listed: int, offers: int, missing_rate: float) -> float:
    """An upper bound of the chance that so few of the offers are listed.

    >>> round(_tail(0, 5, 0.3), 5), _tail(4, 5, 0.3)
    (0.00243, 1.0)
    """
    share, expected = listed / offers, 1 - missing_rate
    if share >= expected:
        return 1.0
    divergence = (share * log(share / expected) if share else 0.0) + (1 - share) * log(
        (1 - share) / missing_rate
    )
    return exp(max(-offers * divergence, -700.0)) if divergence < inf else 0.0
