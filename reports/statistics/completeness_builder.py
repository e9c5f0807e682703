"""Builder of a shop's completeness: counts findings one at a time, so that none has to be kept."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from catalog.models import ReviewDecision, Verdict
from reports.statistics.completeness import (
    NO_CURRENCY,
    Completeness,
    Group,
    VerdictCounts,
    rank_groups,
)
from reports.statistics.completeness_estimate import CompletenessEstimate
from reports.statistics.coverage import Coverage
from reports.statistics.crawl_sample import VerdictSample
from reports.statistics.findings_reader import Finding
from reports.statistics.price_bands import choose_bands
from reports.statistics.value_ranking import ValueRanking

_MAX_BANDED_CURRENCIES = 5  # currencies besides the main one that get price bands
_MIN_BANDED_OFFERS = 20  # offers in a currency from which price bands are worth reading


@dataclass
class CompletenessBuilder:
    """Counts of a run so far; `build` turns them into a `Completeness`.

    `rates` are the values of one unit of each currency, for ranking. Brands are counted without
    regard to case; `spellings` keeps the first spelling of each.
    """

    rates: Mapping[str, Decimal] = field(default_factory=dict)
    total: VerdictCounts = field(default_factory=VerdictCounts)
    decisions: Counter[ReviewDecision] = field(default_factory=Counter)
    categories: dict[str, VerdictCounts] = field(default_factory=dict)
    brands: dict[str, VerdictCounts] = field(default_factory=dict)
    spellings: dict[str, str] = field(default_factory=dict)
    currencies: dict[str | None, VerdictCounts] = field(default_factory=dict)
    unpriced: VerdictCounts = field(default_factory=VerdictCounts)
    prices: dict[tuple[str | None, Verdict], list[Decimal]] = field(default_factory=dict)
    sample: VerdictSample = field(default_factory=VerdictSample)

    def add(self, finding: Finding) -> None:
        """Count one finding; an ignored one only among the review decisions."""
        if finding.decision is not None:
            self.decisions[finding.decision] += 1
        if finding.is_ignored:
            return
        self.sample.add(finding)
        brand = self._brand_key(finding.brand)
        self.total.add(finding)
        self.categories.setdefault(finding.category or "", VerdictCounts()).add(finding)
        self.brands.setdefault(brand, VerdictCounts()).add(finding)
        if finding.price is None:
            self.unpriced.add(finding)
            return
        self.currencies.setdefault(finding.currency, VerdictCounts()).add(finding)
        self.prices.setdefault((finding.currency, finding.verdict), []).append(finding.price)

    def _brand_key(self, brand: str | None) -> str:
        key = (brand or "").casefold()
        self.spellings.setdefault(key, brand or "")
        return key

    @property
    def currency(self) -> str | None:
        """Main currency of the shop: the one with the most offers."""
        return max(
            self.currencies,
            key=lambda currency: (self.currencies[currency].seen, currency or ""),
            default=None,
        )

    def prices_of(self, currency: str | None, verdict: Verdict) -> list[Decimal]:
        """Return the prices of a verdict's offers in one currency."""
        return self.prices.get((currency, verdict), [])

    @property
    def ranking(self) -> ValueRanking:
        """Order of the currencies, that of most offers first, with the rates of the settings."""
        currencies = sorted(
            self.currencies,
            key=lambda currency: (
                currency != self.currency,
                -self.currencies[currency].seen,
                currency or "",
            ),
        )
        return ValueRanking(tuple(currency or "" for currency in currencies), self.rates)

    @property
    def currency_weights(self) -> dict[str, Decimal]:
        """Factors that make amounts of several currencies comparable, to rank causes.

        They are the rates of the settings; without rates for all currencies, factors that make the
        mean price of missing offers 1 in each.
        """
        if self.rates and all((currency or "") in self.rates for currency in self.currencies):
            return dict(self.rates)
        weights = {}
        for currency, counts in self.currencies.items():
            value = self.total.value.get(currency or "")
            if value:
                weights[currency or ""] = counts.missing / value
        return weights

    def build(
        self, coverage: Coverage, estimate: CompletenessEstimate | None = None
    ) -> Completeness:
        """Return the figures, with the coverage of the crawl that they depend on."""
        main, ranking = self.currency, self.ranking
        further_currencies = sorted(
            (currency for currency in self.currencies if currency != main),
            key=lambda currency: currency or "",
        )
        brands = [(self.spellings[key], counts) for key, counts in self.brands.items()]
        banded = [
            currency
            for currency in further_currencies[:_MAX_BANDED_CURRENCIES]
            if currency and self.currencies[currency].seen >= _MIN_BANDED_OFFERS
        ]
        return Completeness(
            total=self.total,
            decisions=self.decisions,
            currency=main,
            by_category=rank_groups(self.categories.items(), ranking),
            by_brand=rank_groups(brands, ranking),
            by_band=self._band_groups(main),
            other_currencies=tuple(
                Group(currency or NO_CURRENCY, self.currencies[currency])
                for currency in further_currencies
            ),
            other_currency_bands=tuple(
                (currency, self._band_groups(currency)) for currency in banded
            ),
            ranking=ranking,
            unpriced=self.unpriced,
            coverage=coverage,
            estimate=estimate,
        )

    def _band_groups(self, currency: str | None) -> tuple[Group, ...]:
        prices: list[Decimal] = []
        for verdict in Verdict:
            prices += self.prices_of(currency, verdict)
        if not prices:
            return ()
        bands = choose_bands(prices)
        groups = [Group(None, VerdictCounts(), band) for band in bands.all()]
        for verdict in Verdict:
            for price in self.prices_of(currency, verdict):
                groups[bands.index(price)].counts.add_verdict(verdict, price, currency)
        return tuple(groups)
