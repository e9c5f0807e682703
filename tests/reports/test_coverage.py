"""Coverage: what the crawl saw of the shop, and of what the catalog lists."""

from typing import Any

import pytest

from catalog.models import PageKind, PageState, Shop
from catalog.store import Store
from reports.coverage import Coverage, Sight, coverage
from reports.story import gather


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
    by_sight = {Sight.SEEN: counted.seen, Sight.PAGE_FOUND: counted.page_found, Sight.NOT_FOUND: counted.not_found}
    by_sight |= {Sight.NOT_CRAWLED: counted.not_crawled, Sight.NO_LINK: counted.no_link}
    assert by_sight == {sight: int(sight is expected) for sight in Sight}
    assert [one.sight for one in story.health.unseen] == ([] if paired else [expected])


def test_an_older_run_keeps_the_coverage_of_its_own_crawl(fill: Any, store: Store, shop: Shop) -> None:
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
