"""Completeness of the whole shop: what an interval covers when pages were not visited."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from catalog.models import PageState, ReviewDecision, Shop, Verdict
from catalog.storage.store import Store
from reports.model.report_model import measure_completeness
from reports.statistics.completeness_estimate import (
    CompletenessEstimate,
    CrawlSample,
    PageBlock,
    estimate_completeness,
)

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "completeness.py"
BLOCKS = [PageBlock(20, 4)] * 20
WHOLE = CrawlSample(
    listed=600, missing=400, found=600, gone=20, blocks=[PageBlock(50, 20)] * 20, fetched=1600
)


def estimate(sample: CrawlSample) -> CompletenessEstimate:
    """The estimate of a sample with offers."""
    result = estimate_completeness(sample)
    assert result is not None
    assert 0 <= result.low <= result.share <= result.high <= 1
    return result


def test_a_complete_crawl_leaves_the_errors_of_the_matcher() -> None:
    """Without unvisited pages the share is the counted one, and its interval a few offers wide."""
    whole = estimate(WHOLE)
    assert whole.share == 0.6
    assert (whole.unseen_missing, whole.unseen_missing_high) == (0, 0)
    assert 0.58 < whole.low < whole.high < 0.62
    doubtful = estimate(replace(WHOLE, falsely_missing=50, falsely_listed=50))
    assert doubtful.low < 0.55
    assert doubtful.high > 0.65


def test_unsure_offers_may_be_listed_or_missing() -> None:
    """Unsure offers widen the interval to both sides."""
    unsure = estimate(replace(WHOLE, unsure=100))
    assert unsure.low <= 600 / 1100
    assert unsure.high >= 700 / 1100


def test_unvisited_pages_may_hold_missing_offers() -> None:
    """Unvisited pages lower the lower end by as many missing offers as fetched pages held, at least."""
    sample = CrawlSample(
        listed=600, missing=80, found=600, blocks=BLOCKS, waiting=400, fetched=1000
    )
    cut = estimate(replace(sample, lists_all_pages=True))
    assert cut.unseen_missing_high is not None
    assert 80 <= cut.unseen_missing_high <= 200
    assert cut.low <= 600 / (600 + 80 + 80)
    assert cut.high >= 600 / 680
    # Without a sitemap there may be pages that the crawl has not discovered.
    assert estimate(sample).low < cut.low


def test_blocks_that_differ_widen_the_interval() -> None:
    """Where some stretches of the crawl held many missing offers, the unvisited pages may as well."""
    sample = CrawlSample(
        listed=600, missing=80, blocks=BLOCKS, waiting=400, fetched=1000, lists_all_pages=True
    )
    uneven = [PageBlock(20, 0)] * 15 + [PageBlock(20, 16)] * 5
    assert estimate(replace(sample, blocks=uneven)).low < estimate(sample).low


def test_recaptured_offers_bound_the_undiscovered_ones() -> None:
    """Catalog offers that the crawl can find by itself only show how much of the shop it has found."""
    sample = CrawlSample(
        listed=900, missing=80, found=600, blocks=BLOCKS, waiting=400, fetched=1000
    )
    most_found = estimate(replace(sample, recaptured=290, not_recaptured=10))
    few_found = estimate(replace(sample, recaptured=30, not_recaptured=270))
    assert most_found.low > few_found.low


def test_a_crawl_that_has_hardly_begun_has_no_bound() -> None:
    """With hardly a page discovered by the crawl itself nothing bounds the unseen offers."""
    begun = estimate(
        CrawlSample(
            listed=100, missing=0, found=100, blocks=[PageBlock(1, 0)], waiting=50, fetched=101
        )
    )
    assert (begun.low, begun.unseen_missing_high) == (0, None)
    assert begun.as_json()["unseen_missing_at_most"] is None


def test_no_offers_have_no_estimate() -> None:
    """A run without any offer has no completeness."""
    assert estimate_completeness(CrawlSample(listed=0, missing=0)) is None


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    """The benchmark as a module."""
    spec = importlib.util.spec_from_file_location("benchmark_of_completeness", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_interval_covers_the_truth_of_crawls_that_were_cut_short(benchmark: ModuleType) -> None:
    """Of the benchmark's first 40 simulated crawls the interval covers the truth of at least 37."""
    covered = 0
    for seed in range(40):
        sample, truth = benchmark.simulate(seed)
        result = estimate(sample)
        covered += result.low <= truth <= result.high
    assert covered >= 37


def test_a_run_has_its_estimate_until_a_newer_one_changes_the_pages(
    fill: Any, store: Store, shop: Shop
) -> None:
    """The estimate counts pages that the catalog does not name, and leaves ignored offers out."""
    first = fill.run()
    for n in range(50):
        fill.listed(first, f"k{n}", price=5)
        fill.page(f"k{n}", source="known")
        fill.finding(first, f"m{n}", price=5)
        fill.page(f"m{n}", source="link")
    fill.finding(first, "i")
    fill.decide("i", ReviewDecision.IGNORE)
    for n in range(20):
        fill.page(f"w{n}", PageState.PENDING, source="link")
    fill.save()
    result = measure_completeness(store, shop, first).estimate
    assert result is not None
    assert result.high >= 0.5
    # Every page that the crawl discovered by itself held a missing offer.
    assert result.unseen_missing_high is not None
    assert result.unseen_missing_high >= 20
    assert result.low <= 50 / 120
    second = fill.run()
    fill.finding(second, "k1", Verdict.LISTED)
    fill.save()
    assert measure_completeness(store, shop, first).estimate is None
