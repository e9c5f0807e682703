"""Coverage: pages of the shop by state, and catalog offers by the outcome of looking up their pages."""

from typing import Any

import pytest

from catalog.models import PageKind, PageState, Shop, SitemapSeen
from catalog.storage.store import Store
from reports.model.report_model import build_report
from reports.statistics.coverage import Coverage, OfferStatus, measure_coverage


def test_pages_are_counted_by_state_and_reason(fill: Any, store: Store, shop: Shop) -> None:
    """Fetched, redirected and gone pages count as answered; waiting, refused and failed ones do not."""
    run = fill.run()
    fill.page("a")
    fill.page("b", kind=PageKind.OTHER, read_reason="a list")
    fill.page("c", PageState.GONE, reason="404")
    fill.page("d", PageState.FAILED, reason="timed out")
    fill.page("e", PageState.FAILED, reason="timed out")
    fill.page("f", PageState.PENDING)
    fill.page("g", PageState.LEASED)
    fill.page("h", PageState.REFUSED, reason="robots.txt")
    fill.page("i", PageState.REDIRECTED)
    fill.save()
    coverage = measure_coverage(store, shop, run)
    assert (
        coverage.pages,
        coverage.answered,
        coverage.waiting,
        coverage.failed,
        coverage.refused,
    ) == (9, 4, 2, 2, 1)
    assert (coverage.offer_pages, coverage.other_pages) == (1, 1)
    assert coverage.page_share == pytest.approx(4 / 9)
    assert not coverage.is_complete
    assert {(row.state, row.reason): row.pages for row in coverage.reasons}[
        "failed", "timed out"
    ] == 2


def test_pages_passed_over_do_not_lower_the_share(fill: Any, store: Store, shop: Shop) -> None:
    """Traps, dead link patterns and duplicate addresses are left out of the share of answered pages."""
    run = fill.run()
    fill.page("a")
    for path, reason in {
        "b": "dead link",
        "c": "same page as its canonical",
        "d": "trap: endless x",
    }.items():
        fill.page(path, PageState.REFUSED, reason=reason)
    fill.page("e", PageState.REFUSED, reason="robots.txt")
    fill.save()
    coverage = measure_coverage(store, shop, run)
    assert (coverage.pages, coverage.refused, coverage.passed_over, coverage.requested) == (
        5,
        4,
        3,
        2,
    )
    assert coverage.page_share == pytest.approx(1 / 2)


LINKS = [
    (
        "https://shop.example/p/1",
        {"http://www.shop.example/p/1/": PageState.FETCHED},
        OfferStatus.PAGE_FOUND,
    ),
    (
        "https://shop.example/p/1",
        {"http://shop.example/p/1": PageState.GONE},
        OfferStatus.NOT_FOUND,
    ),
    (
        "http://shop.example/p/1",
        {
            "http://shop.example/p/1": PageState.REDIRECTED,
            "https://shop.example/p/1": PageState.FETCHED,
        },
        OfferStatus.PAGE_FOUND,
    ),
    (
        "http://shop.example/p/1",
        {"http://shop.example/p/1?a=2": PageState.FETCHED},
        OfferStatus.NOT_CRAWLED,
    ),
]


@pytest.mark.parametrize(("link", "pages", "expected"), LINKS)
def test_a_link_written_another_way_leads_to_its_page(
    fill: Any,
    store: Store,
    shop: Shop,
    link: str,
    pages: dict[str, PageState],
    expected: OfferStatus,
) -> None:
    """Scheme, `www.` and the last slash are ignored; of several pages the most informative one counts."""
    run = fill.run()
    fill.catalog_offer(link, title="Old", price=5)
    for url, state in pages.items():
        fill.page(url, state)
    fill.save()
    report = build_report(store, shop, run)
    assert [offer.status for offer in report.feed_quality.unseen] == [expected]
    assert report.completeness.coverage.known == 1
    assert report.completeness.coverage.page_found == (expected is OfferStatus.PAGE_FOUND)


CASES = [
    ("paired", None, {}, True, OfferStatus.SEEN),
    ("fetched", PageState.FETCHED, {}, False, OfferStatus.PAGE_FOUND),
    ("no-offer", PageState.FETCHED, {"kind": PageKind.OTHER}, False, OfferStatus.NOT_FOUND),
    ("gone", PageState.GONE, {}, False, OfferStatus.NOT_FOUND),
    ("redirected", PageState.REDIRECTED, {}, False, OfferStatus.NOT_FOUND),
    ("failed", PageState.FAILED, {}, False, OfferStatus.NOT_CRAWLED),
    ("refused", PageState.REFUSED, {}, False, OfferStatus.NOT_CRAWLED),
    ("waiting", PageState.PENDING, {}, False, OfferStatus.NOT_CRAWLED),
    ("never-met", None, {}, False, OfferStatus.NOT_CRAWLED),
    (None, None, {}, False, OfferStatus.NO_LINK),
]


@pytest.mark.parametrize(("path", "state", "page", "paired", "expected"), CASES)
def test_not_found_is_distinguished_from_not_crawled(
    fill: Any,
    store: Store,
    shop: Shop,
    path: str | None,
    state: PageState | None,
    page: Any,
    paired: bool,
    expected: OfferStatus,
) -> None:
    """Each catalog offer has one status by the state of its page; the counts and the list agree."""
    run = fill.run()
    if paired:
        fill.listed(run, path)
    else:
        fill.catalog_offer(path, title="Old", price=5)
    if state:
        fill.page(path, state, **page)
    fill.save()
    report = build_report(store, shop, run)
    counted = report.completeness.coverage
    by_status = {
        OfferStatus.SEEN: counted.seen,
        OfferStatus.PAGE_FOUND: counted.page_found,
        OfferStatus.NOT_FOUND: counted.not_found,
    }
    by_status |= {
        OfferStatus.NOT_CRAWLED: counted.not_crawled,
        OfferStatus.NO_LINK: counted.no_link,
    }
    assert by_status == {status: int(status is expected) for status in OfferStatus}
    assert [offer.status for offer in report.feed_quality.unseen] == ([] if paired else [expected])


@pytest.mark.parametrize(("status", "unread"), [(200, 0), (404, 0), (403, 1), (503, 1), (0, 1)])
def test_a_crawl_with_unread_sitemaps_is_not_complete(
    fill: Any, store: Store, shop: Shop, status: int, unread: int
) -> None:
    """An unreadable sitemap makes a crawl incomplete; an absent one does not."""
    run = fill.run()
    fill.page("a")
    fill.save()
    with store.write() as session:
        session.add(SitemapSeen(run_id=run, url=f"{shop.url}sitemap.xml", status=status))
    coverage = measure_coverage(store, shop, run)
    assert (coverage.sitemaps_unread, coverage.is_complete) == (unread, not unread)


def test_an_older_run_keeps_the_coverage_of_its_own_crawl(
    fill: Any, store: Store, shop: Shop
) -> None:
    """The page table tells of the newest crawl; a run's figures keep what it saw itself."""
    stored = Coverage(pages=10, fetched=8, failed=2, known=4, seen=4)
    old = fill.run(figures={"coverage": stored.as_json()})
    assert measure_coverage(store, shop, old).pages == 0
    new = fill.run()
    fill.page("a")
    fill.save()
    assert measure_coverage(store, shop, old) == stored
    assert measure_coverage(store, shop, new).pages == 1
    assert build_report(store, shop, old).is_superseded
