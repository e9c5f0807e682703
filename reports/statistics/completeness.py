"""Completeness of a shop in the catalog: counts in total, by category, price band and brand.

The share of missing offers comes with a Wilson interval, because a shop with nine offers gives a
less certain figure than one with nine thousand. Undecided offers count neither as listed nor as
missing; they are reported separately.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from math import sqrt
from statistics import NormalDist
from typing import Any

from catalog.models import ReviewDecision, Verdict
from reports.statistics.category_paths import category_steps
from reports.statistics.completeness_estimate import CompletenessEstimate
from reports.statistics.coverage import Coverage
from reports.statistics.findings_reader import Finding, decimal_text
from reports.statistics.price_bands import Band
from reports.statistics.value_ranking import RankKey, ValueRanking

MAX_CATEGORIES = 24  # groups that still fit on one screen
NO_CURRENCY = "(none)"
_NORMAL_QUANTILE = NormalDist().inv_cdf(0.975)  # of a two-sided interval of 95 %


@lru_cache(maxsize=4096)
def wilson_interval(count: int, total: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a share (Wilson 1927); (0, 1) if nothing was counted.

    >>> [round(end, 3) for end in wilson_interval(10, 100)], wilson_interval(0, 0)
    ([0.055, 0.174], (0.0, 1.0))
    """
    if not total:
        return 0.0, 1.0
    share, weight = count / total, _NORMAL_QUANTILE**2 / total
    centre = (share + weight / 2) / (1 + weight)
    margin = sqrt(share * (1 - share) * weight + weight**2 / 4) / (1 + weight)
    # Rounding must not move the ends that are exact.
    low = centre - margin if count else 0.0
    high = centre + margin if count < total else 1.0
    return low, high


@dataclass(slots=True)
class VerdictCounts:
    """Numbers of listed, missing and unsure offers, and the missing value per currency."""

    listed: int = 0
    missing: int = 0
    unsure: int = 0
    value: dict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))

    @property
    def seen(self) -> int:
        """Number of offers with any verdict."""
        return self.listed + self.missing + self.unsure

    @property
    def missing_share(self) -> float:
        """Share of missing offers."""
        if not self.seen:
            return 0.0
        return self.missing / self.seen

    def add(self, finding: Finding) -> None:
        """Count one offer."""
        self.add_verdict(finding.verdict, finding.price, finding.currency)

    def add_verdict(self, verdict: Verdict, price: Decimal | None, currency: str | None) -> None:
        """Count one verdict, and the offer's price if it is missing."""
        if verdict is Verdict.LISTED:
            self.listed += 1
        elif verdict is Verdict.UNSURE:
            self.unsure += 1
        else:
            self.missing += 1
            if price is not None:
                self.value[currency or ""] += price

    def merge(self, counts: "VerdictCounts") -> None:
        """Add the counts of another group."""
        self.listed += counts.listed
        self.missing += counts.missing
        self.unsure += counts.unsure
        for currency, value in counts.value.items():
            self.value[currency] += value

    def value_in(self, currency: str | None) -> Decimal:
        """Return the total price of the missing offers in one currency."""
        return self.value.get(currency or "", Decimal(0))

    def interval(self) -> tuple[float, float]:
        """Return the 95 % confidence interval of the share of missing offers."""
        return wilson_interval(self.missing, self.seen)

    def as_json(self, main_currency: str | None) -> dict[str, Any]:
        """Return counts, share with its interval, and value of the missing offers.

        `missing_value` is in the main currency, `missing_values` has every currency. It is None if
        there are amounts in other currencies only, for "0" would say that nothing is lost.
        """
        return {
            "seen": self.seen,
            "listed": self.listed,
            "missing": self.missing,
            "unsure": self.unsure,
            "missing_share": round(self.missing_share, 4),
            "interval": [round(bound, 4) for bound in self.interval()],
            **self.values_as_json(main_currency),
        }

    def values_as_json(self, main_currency: str | None) -> dict[str, Any]:
        """Return the value in the main currency, and that in each currency."""
        values = {currency: decimal_text(value) for currency, value in sorted(self.value.items())}
        main_value = None
        if not self.value or (main_currency or "") in self.value:
            main_value = decimal_text(self.value_in(main_currency))
        return {"missing_value": main_value, "missing_values": values}


@dataclass(frozen=True)
class Group:
    """Counts of one category, brand or price band.

    `name` is None if the shop's page states none.
    """

    name: str | None
    counts: VerdictCounts
    band: Band | None = None

    def as_json(self, key: str, currency: str | None) -> dict[str, Any]:
        """Return the counts, with the group's name under `key`."""
        return {key: self.name, **self.counts.as_json(currency)}

    def band_as_json(self, currency: str | None) -> dict[str, Any]:
        """Return the counts of a price band, with its borders."""
        band = self.band or Band(None, None)
        borders = {"from": decimal_text(band.low), "below": decimal_text(band.high)}
        return {**borders, **self.counts.as_json(currency)}


@dataclass(frozen=True)
class Completeness:
    """Figures of one run of one shop; groups are ranked by the value of their missing offers.

    `currency` is the shop's main currency. `by_band` has the price bands of that currency,
    `other_currency_bands` those of up to five further ones. `ranking` orders amounts of several
    currencies. `estimate` is the completeness of the whole shop, None for an older run: the page
    table describes the newest crawl only.
    """

    total: VerdictCounts
    decisions: Mapping[ReviewDecision, int]
    currency: str | None
    by_category: tuple[Group, ...]
    by_brand: tuple[Group, ...]
    by_band: tuple[Group, ...]
    other_currencies: tuple[Group, ...]
    other_currency_bands: tuple[tuple[str, tuple[Group, ...]], ...]
    ranking: ValueRanking
    unpriced: VerdictCounts
    coverage: Coverage
    estimate: CompletenessEstimate | None = None

    def categories(self, limit: int = MAX_CATEGORIES) -> tuple[Group, ...]:
        """Roll categories up to the deepest level with at most `limit` groups.

        `A > B > C` becomes `A > B` or `A`.
        """
        return _roll_up(self.by_category, self.ranking, limit)

    def as_json(self) -> dict[str, Any]:
        """Return the figures as report.json has them."""
        currency = self.currency
        decisions = {str(decision): self.decisions.get(decision, 0) for decision in ReviewDecision}
        other_bands = {
            other_currency: [group.band_as_json(other_currency) for group in groups]
            for other_currency, groups in self.other_currency_bands
        }
        return {
            "totals": {
                **self.total.as_json(currency),
                "ignored": decisions[ReviewDecision.IGNORE.value],
                "currency": currency,
                "ranking": self.ranking.describe(),
                "words": decisions,
            },
            "coverage": self.coverage.as_json(),
            "completeness": self.estimate and self.estimate.as_json(),
            "by_category": [group.as_json("category", currency) for group in self.by_category],
            "by_price_band": [group.band_as_json(currency) for group in self.by_band],
            "other_currencies": [
                group.as_json("currency", group.name) for group in self.other_currencies
            ],
            "by_price_band_elsewhere": other_bands,
            "without_price": self.unpriced.as_json(currency),
            "by_brand": [group.as_json("brand", currency) for group in self.by_brand],
        }


def rank_groups(
    groups: Iterable[tuple[str, VerdictCounts]], ranking: ValueRanking
) -> tuple[Group, ...]:
    """Rank groups by the value of their missing offers, then by their number."""

    def rank(group: Group) -> tuple[RankKey, int, int, str]:
        value = ranking.group_key(group.counts.value)
        # Groups without a name come last among equals.
        return value, -group.counts.missing, -group.counts.seen, group.name or "\uffff"

    return tuple(sorted((Group(name or None, counts) for name, counts in groups), key=rank))


def roll_up(
    groups: Iterable[Group], currency: str | None, limit: int = MAX_CATEGORIES
) -> tuple[Group, ...]:
    """Roll categories up to the deepest level that fits, ranked by the value in one currency."""
    return _roll_up(groups, ValueRanking((currency or "",)), limit)


def _roll_up(groups: Iterable[Group], ranking: ValueRanking, limit: int) -> tuple[Group, ...]:
    leaves = tuple(groups)
    depth = max((len(category_steps(leaf.name)) for leaf in leaves), default=0)
    while depth > 0:
        counts: dict[str, VerdictCounts] = {}
        for leaf in leaves:
            ancestor = " > ".join(category_steps(leaf.name)[:depth])
            counts.setdefault(ancestor, VerdictCounts()).merge(leaf.counts)
        if len(counts) <= limit or depth == 1:
            return rank_groups(counts.items(), ranking)
        depth -= 1
    return leaves
