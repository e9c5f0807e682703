"""Completeness of a shop with an interval that admits what the crawl and the matcher do not know.

Completeness is the share of the shop's offers that the catalog lists. Three things make it
uncertain:

- **Pages that were discovered and not visited.** The catalog's links are fetched first, so a crawl
  that was cut short has seen too many listed offers. At best the unvisited pages hold no missing
  offer. At worst they hold as many as the pages that only the crawl itself discovered, plus the
  difference that blocks of these pages in their fetch order show among each other.
- **Pages that were not discovered.** Catalog offers without a readable link cannot be fetched by
  it, so the share of them that was seen is the share of the shop that the crawl discovers by itself
  (capture-recapture, as in Chapman 1951). Without such offers the growth of the crawl is the bound.
- **Errors of the matcher**, by its calibrated probabilities.

The constants are chosen on simulated crawls (`benchmarks/completeness.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

# Catalog offers without a readable link, and seen ones among them, from which the share of the
# shop that the crawl discovered is estimated.
_MIN_RECAPTURES = 10
_MIN_RECAPTURED = 3
# Standard deviations of the bounds: of errors of the matcher and of the rate on unvisited pages.
_SPREADS = 2.0
# Standard deviations of the bound by capture-recapture, and the least share of the shop that is
# taken for discovered.
_RECAPTURE_SPREADS = 4.0
_MIN_DISCOVERED = 0.01
# Offers per page added to the worst rate, for blocks that happen to be alike, and further ones for
# each waiting page per fetched one: a crawl that has hardly begun has fetched lists, and no offers.
_RATE_MARGIN = 0.02
_WAITING_MARGIN = 0.05
# Offers added to the worst number, for few pages.
_OFFER_MARGIN = 3
# Factor on the worst number by capture-recapture: offers without a readable link are not spread
# over the shop as the missing ones are.
_RECAPTURE_FACTOR = 1.3
# New pages per fetched page that the growth of a crawl is bounded by.
_MAX_GROWTH = 0.8
# Pages discovered by the crawl itself from which it says anything about the undiscovered ones.
_MIN_PAGES = 30
# Share of the rate of missing offers that unvisited pages have, as the best guess: the crawl visits
# promising pages first.
_WAITING_RATE = 0.5
# Share of the catalog's offers that the shop still sells where no link could be looked up.
_DEFAULT_LIVE_SHARE = 0.95


# Wrong verdicts that are assumed at least, as a share of the verdicts and in offers: probabilities
# near 0 and 1 are estimated from few errors.
_MIN_ERROR_SHARE = 0.005
_MIN_ERRORS = 0.5


@dataclass(frozen=True)
class PageBlock:
    """Pages fetched one after another, and the missing offers on them."""

    pages: int
    missing: int


@dataclass(frozen=True)
class CrawlSample:
    """Figures of a run from which completeness is estimated.

    `listed`, `missing` and `unsure` count the offers seen. Of the catalog's offers with a readable
    link, `found` are in the shop, `gone` are not, and `not_crawled` were not looked up. Of those
    without one, `recaptured` were seen and `not_recaptured` were not. `blocks` are the fetched
    pages that no link of the catalog names, in the order in which they were fetched; `waiting` such
    pages were discovered and not fetched. `fetched` counts all fetched pages. `lists_all_pages` is
    True if the shop's sitemaps name all pages, so that none is undiscovered. `falsely_missing` and
    `falsely_listed` are the numbers of errors that the matcher's probabilities let expect.
    """

    listed: int
    missing: int
    unsure: int = 0
    found: int = 0
    gone: int = 0
    not_crawled: int = 0
    recaptured: int = 0
    not_recaptured: int = 0
    blocks: Sequence[PageBlock] = ()
    waiting: int = 0
    fetched: int = 0
    lists_all_pages: bool = False
    falsely_missing: float = 0.0
    falsely_listed: float = 0.0

    @property
    def live_share(self) -> float:
        """Share of the catalog's offers that the shop still sells (rule of succession)."""
        if not self.found + self.gone:
            return _DEFAULT_LIVE_SHARE
        return (self.found + 1) / (self.found + self.gone + 2)


@dataclass(frozen=True)
class CompletenessEstimate:
    """Completeness with its 95 % interval.

    `unseen_missing` is the estimated number of missing offers that the crawl did not see, at most
    `unseen_missing_high`; None if there is no bound.
    """

    share: float
    low: float
    high: float
    unseen_missing: float
    unseen_missing_high: float | None

    def as_json(self) -> dict[str, Any]:
        """Return the estimate as report.json has it."""
        high = self.unseen_missing_high
        return {
            "share": round(self.share, 4),
            "interval": [round(self.low, 4), round(self.high, 4)],
            "unseen_missing": round(self.unseen_missing),
            "unseen_missing_at_most": None if high is None else round(high),
        }


def estimate_completeness(sample: CrawlSample) -> CompletenessEstimate | None:
    """Estimate which share of the shop's offers the catalog lists; None if no offer was seen."""
    live_share = sample.live_share
    listed = sample.listed + sample.not_crawled * live_share
    if not listed + sample.missing + sample.unsure:
        return None
    unseen_listed = 0.0
    unseen_listed_high = 0.0
    if sample.waiting:
        unseen_listed = sample.not_recaptured * live_share
        unseen_listed_high = float(sample.not_recaptured)
    unseen, unseen_high = _unseen_missing(sample)
    falsely_missing = _most_errors(sample.falsely_missing, sample.missing)
    falsely_listed = _most_errors(sample.falsely_listed, sample.listed)
    low = 0.0
    if unseen_high is not None:
        low = _share(
            listed - falsely_listed, sample.missing + sample.unsure + unseen_high + falsely_listed
        )
    return CompletenessEstimate(
        share=_share(listed + unseen_listed, sample.missing + unseen + sample.unsure / 2),
        low=low,
        high=_share(
            listed + unseen_listed_high + sample.unsure + falsely_missing,
            sample.missing - falsely_missing,
        ),
        unseen_missing=unseen,
        unseen_missing_high=unseen_high,
    )


def _most_errors(expected: float, verdicts: int) -> float:
    """Return the upper bound of a number of errors: `_SPREADS` deviations of a Poisson number."""
    expected = max(expected, _MIN_ERROR_SHARE * verdicts + _MIN_ERRORS)
    return min(expected + _SPREADS * sqrt(expected), float(verdicts))


def _share(listed: float, missing: float) -> float:
    listed, missing = max(listed, 0.0), max(missing, 0.0)
    if not listed + missing:
        return 0.0
    return listed / (listed + missing)


def _unseen_missing(sample: CrawlSample) -> tuple[float, float | None]:
    """Return the number of missing offers that the crawl did not see, and its upper bound.

    The bound is None if the crawl has hardly begun.
    """
    if not sample.waiting:
        return 0.0, 0.0
    pages = sum(block.pages for block in sample.blocks)
    # Half a missing offer is added: none on few pages does not mean none at all.
    rate = (sum(block.missing for block in sample.blocks) + 0.5) / (pages + 1)
    growth = _growth(sample, pages)
    unseen = sample.waiting * rate * (1 + growth / 4) * _WAITING_RATE
    if pages < _MIN_PAGES and not sample.lists_all_pages:
        return unseen, None
    margin = _RATE_MARGIN + _WAITING_MARGIN * sample.waiting / max(pages, 1)
    worst_rate = min(1.0, rate + _SPREADS * _rate_spread(sample, pages, rate) + margin)
    discovered_high = sample.waiting * worst_rate
    high = discovered_high * (1 + growth) + _OFFER_MARGIN
    recaptured_high = _recapture_bound(sample)
    if recaptured_high is not None and not sample.lists_all_pages:
        high = min(high, max(recaptured_high, discovered_high))
    return min(unseen, high), high


def _growth(sample: CrawlSample, pages: int) -> float:
    """Return the undiscovered pages per waiting one, if each page leads to as many as so far."""
    if sample.lists_all_pages:
        return 0.0
    new_per_page = min(_MAX_GROWTH, (pages + sample.waiting) / max(sample.fetched, 1))
    # Sum of a geometric series: the new pages lead to new pages again.
    return new_per_page / (1 - new_per_page)


def _rate_spread(sample: CrawlSample, pages: int, rate: float) -> float:
    """Return the standard deviation of the rate on the waiting pages around that on the fetched."""
    if not pages:
        return 1.0
    blocks = len(sample.blocks)
    deviations = ((block.missing / block.pages - rate) ** 2 for block in sample.blocks)
    between = sqrt(sum(deviations) / max(blocks - 1, 1))
    chance = sqrt(rate * (1 - min(rate, 1.0)) / pages)
    waiting_blocks = max(1.0, sample.waiting * blocks / pages)
    return max(between, chance) * sqrt(1 / blocks + 1 / waiting_blocks)


def _recapture_bound(sample: CrawlSample) -> float | None:
    """Bound the unseen missing offers by capture-recapture; None with too few offers for it."""
    marked = (sample.recaptured + sample.not_recaptured) * sample.live_share
    if marked < _MIN_RECAPTURES or sample.recaptured < _MIN_RECAPTURED:
        return None
    # Share of the shop that was discovered, by Laplace's rule of succession.
    discovered = min(1.0, (sample.recaptured + 1) / (marked + 2))
    deviation = sqrt(discovered * (1 - discovered) / marked)
    worst = max(discovered - _RECAPTURE_SPREADS * deviation, _MIN_DISCOVERED)
    return float(sample.missing) * (1 / worst - 1) * _RECAPTURE_FACTOR + _OFFER_MARGIN
