"""Coverage: what the crawl saw of the shop, and of what the catalog lists."""

from typing import Any

import pytest

from catalog.models import PageKind, PageState, Shop, SitemapSeen
from catalog.storage.store import Store
from reports.model.report_model import gather
from reports.statistics.coverage import Coverage, Sight, coverage


def test_pages_are_counted_by_state_and_reason(fill: Any, store: Store, shop: Shop) -> None:
    """Answered pages are those fetched, redirected or gone; waiting, refused and failed ones are not."""
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
    seen = coverage(store, shop, run)
    assert (seen.pages, seen.answered, seen.waiting, seen.failed, seen.refused) == (9, 4, 2, 2, 1)
    assert (seen.offer_pages, seen.other_pages) == (1, 1)
    assert seen.page_share == pytest.approx(4 / 9)
    assert not seen.complete
    assert {(one.state, one.reason): one.pages for one in seen.reasons}["failed", "timed out"] == 2


def test_pages_not_asked_for_on_purpose_are_no_lack(fill: Any, store: Store, shop: Shop) -> None:
    """Traps, dead kinds of links and further addresses of a page are left out of the share that answered."""
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
    seen = coverage(store, shop, run)
    assert (seen.pages, seen.refused, seen.passed_over, seen.wanted) == (5, 4, 3, 2)
    assert seen.page_share == pytest.approx(1 / 2)


WAYS = [
    (
        "https://shop.example/p/1",
        {"http://www.shop.example/p/1/": PageState.FETCHED},
        Sight.PAGE_FOUND,
    ),
    ("https://shop.example/p/1", {"http://shop.example/p/1": PageState.GONE}, Sight.NOT_FOUND),
    (
        "http://shop.example/p/1",
        {
            "http://shop.example/p/1": PageState.REDIRECTED,
            "https://shop.example/p/1": PageState.FETCHED,
        },
        Sight.PAGE_FOUND,
    ),
    (
        "http://shop.example/p/1",
        {"http://shop.example/p/1?a=2": PageState.FETCHED},
        Sight.NOT_CRAWLED,
    ),
]


@pytest.mark.parametrize(("link", "pages", "expected"), WAYS)
def test_a_link_written_another_way_leads_to_its_page(
    fill: Any, store: Store, shop: Shop, link: str, pages: dict[str, PageState], expected: Sight
) -> None:
    """Scheme, `www.` and the last slash make no other page; of several pages the one that tells most counts."""
    run = fill.run()
    fill.known(link, title="Old", price=5)
    for url, state in pages.items():
        fill.page(url, state)
    fill.save()
    story = gather(store, shop, run)
    assert [one.sight for one in story.health.unseen] == [expected]
    assert story.completeness.coverage.known == 1
    assert story.completeness.coverage.page_found == (expected is Sight.PAGE_FOUND)


CASES = [
    ("paired", None, {}, True, Sight.SEEN),
    ("fetched", PageState.FETCHED, {}, False, Sight.PAGE_FOUND),
    ("no-offer", PageState.FETCHED, {"kind": PageKind.OTHER}, False, Sight.NOT_FOUND),
    ("gone", PageState.GONE, {}, False, Sight.NOT_FOUND),
    ("redirected", PageState.REDIRECTED, {}, False, Sight.NOT_FOUND),
    ("failed", PageState.FAILED, {}, False, Sight.NOT_CRAWLED),
    ("refused", PageState.REFUSED, {}, False, Sight.NOT_CRAWLED),
    ("waiting", PageState.PENDING, {}, False, Sight.NOT_CRAWLED),
    ("never-met", None, {}, False, Sight.NOT_CRAWLED),
    (None, None, {}, False, Sight.NO_LINK),
]


@pytest.mark.parametrize(("path", "state", "page", "paired", "expected"), CASES)
def test_not_found_is_told_apart_from_not_crawled(
    fill: Any,
    store: Store,
    shop: Shop,
    path: str | None,
    state: PageState | None,
    page: Any,
    paired: bool,
    expected: Sight,
) -> None:
    """A catalog offer's page that is gone is no page that nobody looked for; the counts and the list agree."""
    run = fill.run()
    if paired:
        fill.listed(run, path)
    else:
        fill.known(path, title="Old", price=5)
    if state:
        fill.page(path, state, **page)
    fill.save()
    story = gather(store, shop, run)
    counted = story.completeness.coverage
    by_sight = {
        Sight.SEEN: counted.seen,
        Sight.PAGE_FOUND: counted.page_found,
        Sight.NOT_FOUND: counted.not_found,
    }
    by_sight |= {Sight.NOT_CRAWLED: counted.not_crawled, Sight.NO_LINK: counted.no_link}
    assert by_sight == {sight: int(sight is expected) for sight in Sight}
    assert [one.sight for one in story.health.unseen] == ([] if paired else [expected])


@pytest.mark.parametrize(("status", "unread"), [(200, 0), (404, 0), (403, 1), (503, 1), (0, 1)])
def test_a_crawl_with_unread_sitemaps_is_not_complete(
    fill: Any, store: Store, shop: Shop, status: int, unread: int
) -> None:
    """What a sitemap would have named is not known; one that is not there names nothing."""
    run = fill.run()
    fill.page("a")
    fill.save()
    with store.write() as session:
        session.add(SitemapSeen(run_id=run, url=f"{shop.url}sitemap.xml", status=status))
    seen = coverage(store, shop, run)
    assert (seen.sitemaps_unread, seen.complete) == (unread, not unread)


def test_an_older_run_keeps_the_coverage_of_its_own_crawl(
    fill: Any, store: Store, shop: Shop
) -> None:
    """The page table tells of the newest crawl; a run's figures keep what it saw itself."""
    kept = Coverage(pages=10, fetched=8, failed=2, known=4, seen=4)
    old = fill.run(figures={"coverage": kept.as_json()})
    assert coverage(store, shop, old).pages == 0
    new = fill.run()
    fill.page("a")
    fill.save()
    assert coverage(store, shop, old) == kept
    assert coverage(store, shop, new).pages == 1
    assert gather(store, shop, old).stale
