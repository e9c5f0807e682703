"""Figures: what is counted of a shop, in all and by category, price band and brand, each beside the crawl's coverage.

The share of missing offers carries a Wilson interval, as a shop with nine offers deserves less trust than one with nine
thousand. Undecided offers are counted neither as listed nor as missing, and said beside it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from math import sqrt
from typing import Any

from catalog.models import Verdict, Word
from catalog.values.category import steps
from reports.statistics.coverage import Coverage
from reports.statistics.findings_reader import Finding, plain
from reports.statistics.price_bands import Band, Bands, bands

_Z = 1.959964
_FEW = 24
_MANY = 20
_CURRENCIES = 5
NONE = "(none)"


def wilson(count: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927).

    >>> [round(end, 3) for end in wilson(10, 100)], wilson(0, 0)
    ([0.055, 0.174], (0.0, 1.0))
    """
    if not total:
        return 0.0, 1.0
    share, spread = count / total, _Z * _Z / total
    middle = (share + spread / 2) / (1 + spread)
    half = _Z * sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(slots=True)
class Tally:
    """How many offers were listed, missing, unsure, and what the missing ones cost together, per currency.

    Of the listed and of the missing ones, `listed_again` and `missing_again` are further variants of a product that is
    among them: variants share their fate, so that what tests how sure a figure is has to count products.
    """

    listed: int = 0
    missing: int = 0
    unsure: int = 0
    listed_again: int = 0
    missing_again: int = 0
    value: dict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))

    @property
    def seen(self) -> int:
        """All offers, whatever the verdict."""
        return self.listed + self.missing + self.unsure

    @property
    def share(self) -> float:
        """The share that is missing."""
        return self.missing / self.seen if self.seen else 0.0

    @property
    def listed_products(self) -> int:
        """How many products have listed offers."""
        return self.listed - self.listed_again

    @property
    def missing_products(self) -> int:
        """How many products have missing offers."""
        return self.missing - self.missing_again

    def add(self, finding: Finding, again: bool = False) -> None:
        """Count one offer; `again`, a further variant of a product with one of that verdict."""
        if finding.verdict is Verdict.LISTED:
            self.listed += 1
            self.listed_again += again
        elif finding.verdict is Verdict.UNSURE:
            self.unsure += 1
        else:
            self.missing += 1
            self.missing_again += again
            if finding.price is not None:
                self.value[finding.currency or ""] += finding.price

    def take(self, other: "Tally") -> None:
        """Count what another tally has counted."""
        self.listed, self.missing = self.listed + other.listed, self.missing + other.missing
        self.listed_again += other.listed_again
        self.missing_again += other.missing_again
        self.unsure += other.unsure
        for currency, value in other.value.items():
            self.value[currency] += value

    def worth(self, currency: str | None) -> Decimal:
        """What the missing offers cost together in one currency."""
        return self.value.get(currency or "", Decimal(0))

    def as_json(self, currency: str | None) -> dict[str, Any]:
        """The counts, the share with its interval, and the value in the shop's main currency."""
        low, high = wilson(self.missing, self.seen)
        return {
            "seen": self.seen,
            "listed": self.listed,
            "missing": self.missing,
            "unsure": self.unsure,
            "missing_share": round(self.share, 4),
            "interval": [round(low, 4), round(high, 4)],
            "missing_value": plain(self.worth(currency)),
            "missing_values": {money: plain(value) for money, value in sorted(self.value.items())},
        }


@dataclass(frozen=True)
class Group:
    """The tally of one category, brand or price band; `name` is None where the shop's page says none."""

    name: str | None
    tally: Tally
    band: Band | None = None


@dataclass(frozen=True)
class Completeness:
    """The figures of one run of one shop. Groups come in the order of the value of what is missing."""

    total: Tally
    words: Mapping[Word, int]
    currency: str | None
    by_category: tuple[Group, ...]
    by_brand: tuple[Group, ...]
    by_band: tuple[Group, ...]
    elsewhere: tuple[Group, ...]
    bands_elsewhere: tuple[tuple[str, tuple[Group, ...]], ...]
    weights: Mapping[str, Decimal]
    unpriced: Tally
    coverage: Coverage

    def categories(self, few: int = _FEW) -> tuple[Group, ...]:
        """Categories at the deepest level that still fits on a page: `A > B > C` becomes `A > B`, or `A`."""
        return _rolled_up(self.by_category, self.weights, few)

    def as_json(self) -> dict[str, Any]:
        """As `scout run --json` and report.json have it."""
        money = self.currency
        return {
            "totals": self.total.as_json(money)
            | {"currency": money, "words": {str(word): self.words.get(word, 0) for word in Word}},
            "coverage": self.coverage.as_json(),
            "by_category": [
                {"category": one.name} | one.tally.as_json(money) for one in self.by_category
            ],
            "by_price_band": [_edges(one) | one.tally.as_json(money) for one in self.by_band],
            "other_currencies": [
                {"currency": one.name} | one.tally.as_json(one.name) for one in self.elsewhere
            ],
            "by_price_band_elsewhere": {
                name: [_edges(one) | one.tally.as_json(name) for one in groups]
                for name, groups in self.bands_elsewhere
            },
            "without_price": self.unpriced.as_json(money),
            "by_brand": [{"brand": one.name} | one.tally.as_json(money) for one in self.by_brand],
        }


@dataclass
class Count:
    """What is counted while the findings of a run stream by; `done` makes the figures of it."""

    total: Tally = field(default_factory=Tally)
    words: Counter[Word] = field(default_factory=Counter)
    categories: dict[str, Tally] = field(default_factory=dict)
    brands: dict[str, Tally] = field(default_factory=dict)
    spelling: dict[str, str] = field(default_factory=dict)
    currencies: dict[str | None, Tally] = field(default_factory=dict)
    unpriced: Tally = field(default_factory=Tally)
    prices: dict[tuple[str | None, Verdict], list[Decimal]] = field(default_factory=dict)
    products: set[tuple[str, Verdict]] = field(default_factory=set)

    def add(self, finding: Finding) -> None:
        """Count one finding; an ignored one only as such."""
        if finding.word is not None:
            self.words[finding.word] += 1
        if finding.ignored:
            return
        again = self._is_again(finding)
        self.total.add(finding, again)
        self.categories.setdefault(finding.category or "", Tally()).add(finding, again)
        self.brands.setdefault(self.brand_key(finding.brand), Tally()).add(finding, again)
        if finding.price is None:
            self.unpriced.add(finding)
        else:
            self.currencies.setdefault(finding.currency, Tally()).add(finding, again)
            self.prices.setdefault((finding.currency, finding.verdict), []).append(finding.price)

    def _is_again(self, finding: Finding) -> bool:
        """Whether a variant of its product was counted under its verdict before."""
        if finding.variant_of is None:
            return False
        product = finding.variant_of, finding.verdict
        known = product in self.products
        self.products.add(product)
        return known

    def brand_key(self, brand: str | None) -> str:
        """What one brand has in common, however it is spelt."""
        key = (brand or "").casefold()
        self.spelling.setdefault(key, brand or "")
        return key

    @property
    def currency(self) -> str | None:
        """The shop's main currency: that of most of its offers."""
        return max(
            self.currencies, key=lambda one: (self.currencies[one].seen, one or ""), default=None
        )

    def priced(self, currency: str | None, verdict: Verdict) -> list[Decimal]:
        """The prices of a verdict's offers in one currency."""
        return self.prices.get((currency, verdict), [])

    @property
    def weights(self) -> dict[str, Decimal]:
        """What makes amounts of several currencies comparable without a rate: a missing offer's mean price is 1."""
        missing = ((money or "", tally.missing) for money, tally in self.currencies.items())
        return {
            money: number / self.total.value[money]
            for money, number in missing
            if self.total.value.get(money)
        }

    def done(self, coverage: Coverage) -> Completeness:
        """The figures."""
        money, weights = self.currency, self.weights
        others = sorted((one for one in self.currencies if one != money), key=lambda one: one or "")
        return Completeness(
            total=self.total,
            words=self.words,
            currency=money,
            by_category=ranked(self.categories.items(), weights),
            by_brand=ranked(
                ((self.spelling[key], tally) for key, tally in self.brands.items()), weights
            ),
            by_band=self._by_band(money),
            elsewhere=tuple(Group(one or NONE, self.currencies[one]) for one in others),
            bands_elsewhere=tuple(
                (one, self._by_band(one))
                for one in others[:_CURRENCIES]
                if one and self.currencies[one].seen >= _MANY
            ),
            weights=weights,
            unpriced=self.unpriced,
            coverage=coverage,
        )

    def _by_band(self, currency: str | None) -> tuple[Group, ...]:
        every = [price for verdict in Verdict for price in self.priced(currency, verdict)]
        lines = bands(every) if every else Bands(())
        tallies = [Tally() for _ in lines.all()]
        for verdict in Verdict:
            for price in self.priced(currency, verdict):
                tally = tallies[lines.index(price)]
                setattr(tally, verdict.value, getattr(tally, verdict.value) + 1)
                if verdict is Verdict.MISSING:
                    tally.value[currency or ""] += price
        pairs = zip(lines.all(), tallies, strict=True)
        return tuple(Group(None, tally, band) for band, tally in pairs) if every else ()


def ranked(
    groups: Iterable[tuple[str, Tally]], weights: Mapping[str, Decimal]
) -> tuple[Group, ...]:
    """Groups with the most missing value first, then the most missing offers."""

    def key(one: Group) -> tuple[Decimal, int, int, str]:
        value = sum(
            (weights.get(money, Decimal(1)) * amount for money, amount in one.tally.value.items()),
            Decimal(0),
        )
        return -value, -one.tally.missing, -one.tally.seen, one.name or "\uffff"

    return tuple(sorted((Group(name or None, tally) for name, tally in groups), key=key))


def rolled_up(groups: Iterable[Group], currency: str | None, few: int = _FEW) -> tuple[Group, ...]:
    """Categories at the deepest level that fits on a screen, ranked by one currency's value."""
    return _rolled_up(groups, {currency or "": Decimal(1)}, few)


def _rolled_up(
    groups: Iterable[Group], weights: Mapping[str, Decimal], few: int
) -> tuple[Group, ...]:
    kept = tuple(groups)
    deepest = max((len(path(one.name)) for one in kept), default=0)
    for depth in range(deepest, 0, -1):
        tallies: dict[str, Tally] = {}
        for one in kept:
            tallies.setdefault(" > ".join(path(one.name)[:depth]), Tally()).take(one.tally)
        if len(tallies) <= few or depth == 1:
            return ranked(tallies.items(), weights)
    return kept


def path(category: str | None) -> list[str]:
    """The steps of a category.

    >>> path("Garden > Mowers / Edgers"), path(None)
    (['Garden', 'Mowers', 'Edgers'], [])
    """
    return [step for part in steps(category or "") if (step := part.strip())]


def prefixes(category: str | None) -> list[str]:
    """A category and all above it, the topmost first.

    >>> prefixes("Garden > Mowers")
    ['Garden', 'Garden > Mowers']
    """
    steps = path(category)
    return [" > ".join(steps[:depth]) for depth in range(1, len(steps) + 1)]


def _edges(group: Group) -> dict[str, str | None]:
    band = group.band or Band(None, None)
    return {"from": plain(band.low), "below": plain(band.high)}
