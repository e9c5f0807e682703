"""Gaps: categories, brands and price ranges that the catalog lacks as a whole.

A merchant's export that leaves out a category makes a gap that chance does not. A group is a gap if
(nearly) none of its offers is listed, if that would be most unlikely at the rate at which the other
offers of the shop are missing, and if the feed itself holds no unpaired offers of the group. The
test counts products, not offers: ten variants of one product are missing together and prove no more
than one does.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from math import exp

from reports.causes.config import CauseConfig
from reports.statistics.category_paths import category_prefixes, category_steps
from reports.statistics.completeness import VerdictCounts
from reports.statistics.price_bands import roundest_number

_DEFAULTS = CauseConfig()
_CENT = Decimal("0.01")


@dataclass(frozen=True)
class Gap:
    """Group of offers of which the catalog lists (nearly) none.

    `p_value` bounds the probability of chance.
    """

    listed: int
    offers: int
    p_value: float

    @property
    def counts(self) -> str:
        """The counts as a phrase for the evidence."""
        return f"{self.listed} of {self.offers} offers listed"

    @property
    def explained(self) -> int:
        """Number of missing offers that the gap explains."""
        return self.offers - self.listed


@dataclass(frozen=True)
class PriceGap(Gap):
    """Range without a listed price, from above `low` to below `high` (None: open).

    `shown_low` and `shown_high` are round numbers that describe the range without leaving it.
    """

    low: Decimal | None
    high: Decimal | None
    shown_low: Decimal | None
    shown_high: Decimal | None

    def holds(self, price: Decimal) -> bool:
        """Return True if a price lies in the gap."""
        return (self.low is None or price > self.low) and (self.high is None or price < self.high)


@dataclass
class FeedCounts:
    """Counts of the feed's offers, listed or not: by brand, category step and last step; prices."""

    offers: int = 0
    brands: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    last_steps: Counter[str] = field(default_factory=Counter)
    prices: dict[str | None, list[Decimal]] = field(default_factory=dict)

    def add(
        self, brand: str | None, category: str | None, price: Decimal | None, currency: str | None
    ) -> None:
        """Count an offer of the feed."""
        self.offers += 1
        self.brands[(brand or "").casefold()] += 1
        steps = [step.casefold() for step in category_steps(category)]
        # A step that occurs twice in one path counts once.
        self.steps.update(set(steps))
        self.last_steps.update(steps[-1:])
        if price is not None:
            self.prices.setdefault(currency, []).append(price)


def find_category_gaps(
    categories: Mapping[str, VerdictCounts],
    total: VerdictCounts,
    feed: FeedCounts,
    config: CauseConfig = _DEFAULTS,
) -> dict[str, Gap]:
    """Find categories that are gaps, each with those of its ancestors that are gaps as well."""
    tree: dict[str, VerdictCounts] = defaultdict(VerdictCounts)
    for category, counts in categories.items():
        for prefix in category_prefixes(category):
            tree[prefix].merge(counts)
    gaps = {}
    for prefix, counts in tree.items():
        gap = detect_gap(counts, total, _unpaired_in_feed(prefix, tree, feed), config)
        if gap:
            gaps[prefix] = gap
    return gaps


def _unpaired_in_feed(prefix: str, tree: Mapping[str, VerdictCounts], feed: FeedCounts) -> int:
    """Return the number of unpaired offers that the feed may hold of a category.

    A feed that names nothing below `Kitchen` says nothing about `Kitchen > Pans`: its offers in
    `Kitchen` count for every category below.
    """
    *ancestors, _ = category_prefixes(prefix)
    unpaired = [0, feed.steps[_last_step(prefix)] - tree[prefix].listed]
    for ancestor in ancestors:
        unpaired.append(feed.last_steps[_last_step(ancestor)] - tree[ancestor].listed)
    return max(unpaired)


def _last_step(category: str) -> str:
    return category_steps(category)[-1].casefold()


def find_brand_gaps(
    brands: Mapping[str, VerdictCounts],
    total: VerdictCounts,
    feed: FeedCounts,
    config: CauseConfig = _DEFAULTS,
) -> dict[str, Gap]:
    """Find brands (casefolded) that are gaps."""
    gaps = {}
    for brand, counts in brands.items():
        if not brand:
            continue
        gap = detect_gap(counts, total, feed.brands[brand] - counts.listed, config)
        if gap:
            gaps[brand] = gap
    return gaps


def detect_gap(
    group: VerdictCounts, total: VerdictCounts, unpaired: int, config: CauseConfig = _DEFAULTS
) -> Gap | None:
    """Return the group as a gap, or None if it is none.

    It is no gap if too much of it is listed, unpaired in the feed, or missing by chance.
    """
    decided = group.listed + group.missing
    missing, listed = group.missing_products, group.listed_products
    if missing < config.gap_min_products or group.listed > config.gap_listed_share * decided:
        return None
    if unpaired > config.gap_unpaired_share * decided:
        return None
    missing_rate = _missing_rate(total.missing_products - missing, total.listed_products - listed)
    p_value = _tail_bound(listed, listed + missing, missing_rate)
    if p_value >= config.gap_significance:
        return None
    return Gap(group.listed, decided, p_value)


def find_price_gaps(
    missing: Iterable[tuple[Decimal, str]],
    listed: Sequence[Decimal],
    listed_products: int,
    feed: Sequence[Decimal],
    config: CauseConfig = _DEFAULTS,
) -> list[PriceGap]:
    """Find price ranges with missing offers, no listed one, and (nearly) none in the feed.

    `missing` are prices with their products, `listed` and `feed` prices; `listed_products` is the
    number of products of the listed prices. All are in one currency.
    """
    missing_pairs = sorted(missing)
    missing_prices = [price for price, _ in missing_pairs]
    missing_products = [product for _, product in missing_pairs]
    listed_prices, feed_prices = sorted(set(listed)), sorted(feed)
    total = len(set(missing_products))
    gaps = []
    for low, high in pairwise([None, *listed_prices, None]):
        start, end = _slice_between(missing_prices, low, high)
        prices = missing_prices[start:end]
        products = len(set(missing_products[start:end]))
        if products < config.price_gap_min_products:
            continue
        # Bonferroni correction: every range between two listed prices is a test of its own.
        ranges = len(listed_prices) + 1
        missing_rate = _missing_rate(total - products, listed_products)
        p_value = _tail_bound(0, products, missing_rate) * ranges
        start, end = _slice_between(feed_prices, low, high)
        is_in_feed = end - start > config.gap_unpaired_share * len(prices)
        if p_value >= config.gap_significance or is_in_feed:
            continue
        shown_low = shown_high = None
        if low is not None:
            shown_low = roundest_number(min(low + _CENT, prices[0]), prices[0])
        if high is not None:
            shown_high = roundest_number(min(prices[-1] + _CENT, high), high)
        gaps.append(PriceGap(0, len(prices), p_value, low, high, shown_low, shown_high))
    return gaps


def _slice_between(
    ordered: Sequence[Decimal], low: Decimal | None, high: Decimal | None
) -> tuple[int, int]:
    """Return start and end index of the amounts strictly between two others (None: open)."""
    start, end = 0, len(ordered)
    if low is not None:
        start = bisect_right(ordered, low)
    if high is not None:
        end = bisect_left(ordered, high)
    return start, end


def widest_gap(gaps: Iterable[Gap]) -> Gap | None:
    """Return the gap that explains the most missing offers; the first among equals."""
    return max(gaps, key=lambda gap: gap.explained, default=None)


def _missing_rate(missing: int, listed: int) -> float:
    """Return the rate of missing products (rule of succession); 1 if none is listed."""
    if not listed:
        return 1.0
    return (missing + 1) / (missing + listed + 2)


def _tail_bound(listed: int, products: int, missing_rate: float) -> float:
    """Bound the probability that chance leaves so few products listed (Chernoff 1952).

    >>> round(_tail_bound(0, 5, 0.3), 5), _tail_bound(4, 5, 0.3)
    (0.00243, 1.0)
    """
    # Imported here because it takes a quarter of a second, and `scout offers` often needs none.
    from scipy.special import rel_entr

    share, expected = listed / products, 1 - missing_rate
    if share >= expected:
        return 1.0
    # Kullback-Leibler divergence of the observed from the expected share.
    divergence = rel_entr(share, expected) + rel_entr(1 - share, missing_rate)
    return exp(-products * divergence)
