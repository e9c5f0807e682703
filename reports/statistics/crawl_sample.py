"""Figures of a run for the estimate of completeness, read from the page table and the findings."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import func, select
from sqlmodel import Session, col

from catalog.models import KnownOffer, Page, PageState, Shop, SitemapSeen, Verdict
from reports.statistics.completeness_estimate import CrawlSample, PageBlock
from reports.statistics.coverage import Coverage, is_paired
from reports.statistics.findings_reader import Finding

_BATCH_SIZE = 1000  # rows fetched at a time
# Blocks of the pages that only the crawl discovered, in fetch order: by their differences the spread
# of the rate of missing offers is estimated.
BLOCKS = 20
# Source of the pages that a link of the catalog names.
_KNOWN_SOURCE = "known"
_HTTP_OK = 200
_UNVISITED = (PageState.PENDING, PageState.LEASED, PageState.FAILED)


@dataclass
class VerdictSample:
    """Verdicts of the findings, with the errors that the matcher's probabilities let expect.

    `missing_pages` counts the missing offers by the URL of their page. A reviewed finding has no
    error.
    """

    listed: int = 0
    missing: int = 0
    unsure: int = 0
    falsely_missing: float = 0.0
    falsely_listed: float = 0.0
    missing_pages: Counter[str] = field(default_factory=Counter)

    def add(self, finding: Finding) -> None:
        """Count a finding that no reviewer left out."""
        probability = finding.score
        if finding.decision is not None:
            probability = float(finding.verdict is Verdict.LISTED)
        if finding.verdict is Verdict.LISTED:
            self.listed += 1
            self.falsely_listed += 1 - probability
        elif finding.verdict is Verdict.UNSURE:
            self.unsure += 1
        else:
            self.missing += 1
            self.falsely_missing += probability
            self.missing_pages[finding.variant_of or finding.url] += 1


def read_crawl_sample(
    session: Session, shop: Shop, run_id: int, verdicts: VerdictSample, coverage: Coverage
) -> CrawlSample:
    """Read the figures of the newest run of a shop."""
    recaptured = _count_recaptured(session, shop, run_id)
    return CrawlSample(
        listed=verdicts.listed,
        missing=verdicts.missing,
        unsure=verdicts.unsure,
        found=coverage.seen - recaptured + coverage.page_found,
        gone=coverage.not_found,
        not_crawled=coverage.not_crawled,
        recaptured=recaptured,
        not_recaptured=coverage.no_link,
        blocks=_read_blocks(session, shop, verdicts.missing_pages),
        waiting=_count_waiting(session, shop),
        fetched=coverage.fetched,
        lists_all_pages=_lists_all_pages(session, run_id, coverage),
        falsely_missing=verdicts.falsely_missing,
        falsely_listed=verdicts.falsely_listed,
    )


def _count_recaptured(session: Session, shop: Shop, run_id: int) -> int:
    """Count the catalog's offers without a readable link that the run has paired."""
    query = select(func.count()).where(
        col(KnownOffer.shop_id) == shop.id, col(KnownOffer.url).is_(None), is_paired(run_id)
    )
    return session.connection().execute(query).scalar_one()


def _count_waiting(session: Session, shop: Shop) -> int:
    query = select(func.count()).where(
        col(Page.shop_id) == shop.id,
        col(Page.state).in_(_UNVISITED),
        col(Page.source) != _KNOWN_SOURCE,
    )
    return session.connection().execute(query).scalar_one()


def _read_blocks(session: Session, shop: Shop, missing_pages: Counter[str]) -> list[PageBlock]:
    """Divide the fetched pages that the catalog does not name into blocks by their fetch order."""
    conditions: list[Any] = [
        col(Page.shop_id) == shop.id,
        col(Page.state) == PageState.FETCHED,
        col(Page.source) != _KNOWN_SOURCE,
    ]
    connection = session.connection()
    total = connection.execute(select(func.count()).where(*conditions)).scalar_one()
    pages, missing = Counter[int](), Counter[int]()
    query = (
        select(col(Page.url))
        .where(*conditions)
        .order_by(col(Page.fetched_at), col(Page.id))
        .execution_options(yield_per=_BATCH_SIZE)
    )
    for index, url in enumerate(connection.execute(query).scalars()):
        block = index * BLOCKS // total
        pages[block] += 1
        missing[block] += missing_pages[url]
    return [PageBlock(pages[block], missing[block]) for block in sorted(pages)]


def _lists_all_pages(session: Session, run_id: int, coverage: Coverage) -> bool:
    """Return True if the sitemaps name at least as many pages as there are offer pages."""
    if coverage.sitemaps_unread:
        return False
    query = select(func.coalesce(func.sum(SitemapSeen.urls_found), 0)).where(
        col(SitemapSeen.run_id) == run_id, col(SitemapSeen.status) == _HTTP_OK
    )
    named = int(session.connection().execute(query).scalar_one())
    return named > 0 and named >= coverage.offer_pages
