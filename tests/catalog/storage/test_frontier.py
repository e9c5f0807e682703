"""The frontier: pages are claimed once, settled whole, and survive a kill."""

import os
import signal
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pytest
from sqlmodel import Session, select, update

from catalog.models import Page, PageState, Run, Shop, utc_now
from catalog.runtime.settings import Settings
from catalog.storage.frontier import FetchOutcome, Frontier, FrontierLink
from catalog.storage.store import Store
from tests.catalog.conftest import Forked

pytestmark = pytest.mark.both_databases

ROOT = "http://127.0.0.1:8000/"


@pytest.fixture
def frontier(store: Store, shop: Shop) -> Frontier:
    """The frontier of a shop during a run."""
    with store.write() as session:
        run = Run(shop_id=shop.id)
        session.add(run)
    assert shop.id is not None
    return Frontier(store, shop.id, run.id)


def pages(store: Store) -> dict[str, Page]:
    """All pages by their URL."""
    with store.read() as session:
        return {page.url: page for page in session.exec(select(Page))}


def test_known_links_are_not_added_again(frontier: Frontier) -> None:
    """A link is new once, whatever its source."""
    assert (
        frontier.add(
            [FrontierLink(ROOT), FrontierLink(ROOT + "a"), FrontierLink(ROOT, source="sitemap")]
        )
        == 2
    )
    assert frontier.add([FrontierLink(ROOT + "a"), FrontierLink(ROOT + "b")]) == 1
    assert frontier.add([]) == 0
    assert frontier.counts() == {"pending": 3}


def test_many_links_at_once(frontier: Frontier) -> None:
    """A sitemap's worth of links goes in at once."""
    assert frontier.add(FrontierLink(f"{ROOT}{n}") for n in range(20_000)) == 20_000


def test_best_first(frontier: Frontier) -> None:
    """Pages of higher priority are claimed first, then those that were found first."""
    frontier.add(
        [
            FrontierLink(ROOT + "low"),
            FrontierLink(ROOT + "high", priority=5),
            FrontierLink(ROOT + "low2"),
            FrontierLink(ROOT + "mid", priority=1),
        ]
    )
    assert [page.url.removeprefix(ROOT) for page in frontier.claim(3)] == ["high", "mid", "low"]
    assert [page.url.removeprefix(ROOT) for page in frontier.claim(3)] == ["low2"]
    assert frontier.claim(3) == []


def test_claimed_pages_carry_their_lease(frontier: Frontier, store: Store) -> None:
    """A claimed page is leased for a time and counts the attempt."""
    frontier.add([FrontierLink(ROOT)])
    (page,) = frontier.claim(1)
    assert (page.state, page.attempts) == (PageState.LEASED, 1)
    stored = pages(store)[ROOT]
    assert stored.leased_until is not None
    assert utc_now() < stored.leased_until < utc_now() + timedelta(minutes=6)


def test_a_lapsed_lease_is_claimed_again(frontier: Frontier) -> None:
    """A page whose crawler died comes back when its lease ends."""
    frontier.add([FrontierLink(ROOT)])
    frontier.claim(1, lease=timedelta(0))
    (page,) = frontier.claim(1)
    assert page.attempts == 2
    assert frontier.claim(1) == []


def test_settled_pages_and_their_links(frontier: Frontier, store: Store) -> None:
    """A page's state, columns and new links are written together."""
    frontier.add([FrontierLink(ROOT)])
    (page,) = frontier.claim(1)
    assert page.id is not None
    outcome = FetchOutcome(
        page.id,
        PageState.FETCHED,
        {"status": 200, "body": "ab"},
        [FrontierLink(ROOT), FrontierLink(ROOT + "a", depth=1)],
    )
    assert frontier.record_results([outcome]) == 1
    result = pages(store)
    assert (result[ROOT].state, result[ROOT].status, result[ROOT].leased_until) == (
        PageState.FETCHED,
        200,
        None,
    )
    assert result[ROOT].run_id is not None
    assert result[ROOT + "a"].depth == 1


def test_a_failing_settlement_leaves_nothing(frontier: Frontier, store: Store) -> None:
    """Where one outcome cannot be written, none is, nor are its links."""
    frontier.add([FrontierLink(ROOT), FrontierLink(ROOT + "b")])
    first, second = frontier.claim(2)
    assert first.id is not None
    assert second.id is not None
    fine = FetchOutcome(first.id, PageState.FETCHED, {}, [FrontierLink(ROOT + "new")])
    with pytest.raises(Exception, match="colour"):
        frontier.record_results(
            [fine, FetchOutcome(second.id, PageState.FETCHED, {"colour": "red"})]
        )
    assert frontier.counts() == {"leased": 2}


def test_release_gives_leased_pages_back(frontier: Frontier) -> None:
    """At the start of a crawl the leases of the last one are void."""
    frontier.add([FrontierLink(ROOT), FrontierLink(ROOT + "a"), FrontierLink(ROOT + "b")])
    frontier.claim(2)
    assert frontier.release() == 2
    assert frontier.counts() == {"pending": 3}


def test_when_the_next_page_is_due(frontier: Frontier, store: Store) -> None:
    """Without open pages none is due; a waiting page tells when; a free one is due now."""
    assert frontier.next_due() is None
    frontier.add([FrontierLink(ROOT)])
    (page,) = frontier.claim(1)
    due = frontier.next_due()
    assert due is not None
    assert due > utc_now()
    later = utc_now() + timedelta(hours=1)
    assert page.id is not None
    frontier.record_results([FetchOutcome(page.id, PageState.PENDING, {"not_before": later})])
    assert frontier.next_due() == later
    assert frontier.claim(1) == []
    frontier.add([FrontierLink(ROOT + "a")])
    due = frontier.next_due()
    assert due is not None
    assert due <= utc_now()


def test_shops_do_not_mix(frontier: Frontier, store: Store) -> None:
    """One shop's frontier knows nothing of another's."""
    with store.write() as session:
        other = Shop(name="other", url="https://other.example/")
        session.add(other)
    assert other.id is not None
    theirs = Frontier(store, other.id)
    frontier.add([FrontierLink(ROOT)])
    assert theirs.claim(5) == []
    assert theirs.counts() == {}
    assert theirs.add([FrontierLink(ROOT)]) == 1


def claim_all(settings: Settings, shop_id: int, folder: Path) -> None:
    """Claim pages until there are none, and write down which."""
    frontier = Frontier(Store.open(settings), shop_id)
    ids = []
    while claimed := frontier.claim(7):
        ids += [str(page.id) for page in claimed]
    (folder / str(os.getpid())).write_text(" ".join(ids))


def test_processes_never_share_a_page(
    frontier: Frontier, settings: Settings, store: Store, shop: Shop, tmp_path: Path, forked: Forked
) -> None:
    """Crawlers that claim at the same time get each page once, and all of them."""
    frontier.add(FrontierLink(f"{ROOT}{n}") for n in range(400))
    store.engine.dispose()
    folder = tmp_path / "claimed"
    folder.mkdir()
    assert forked(claim_all, settings, shop.id, folder, processes=3) == [0, 0, 0]
    ids = [page for file in folder.iterdir() for page in file.read_text().split()]
    assert len(ids) == len(set(ids)) == 400


def settle_and_die(settings: Settings, shop_id: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settle one page, and be killed within the transaction that settles the next."""
    frontier = Frontier(Store.open(settings), shop_id)
    first, second = frontier.claim(2)
    assert first.id is not None
    assert second.id is not None
    frontier.record_results(
        [FetchOutcome(first.id, PageState.FETCHED, {}, [FrontierLink(first.url + "x")])]
    )
    insert = frontier._insert

    def insert_and_die(session: Session, links: Iterable[FrontierLink]) -> int:
        insert(session, links)
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    monkeypatch.setattr(frontier, "_insert", insert_and_die)
    frontier.record_results(
        [FetchOutcome(second.id, PageState.FETCHED, {}, [FrontierLink(second.url + "x")])]
    )


def test_killed_in_the_midst_of_a_settlement(
    frontier: Frontier,
    settings: Settings,
    shop: Shop,
    store: Store,
    forked: Forked,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Results recorded before a kill stay; an unfinished transaction leaves nothing."""
    frontier.add([FrontierLink(ROOT + "1"), FrontierLink(ROOT + "2")])
    store.engine.dispose()
    assert forked(settle_and_die, settings, shop.id, monkeypatch) == [-signal.SIGKILL]
    states = {url.removeprefix(ROOT): page.state for url, page in pages(store).items()}
    assert states == {"1": PageState.FETCHED, "2": PageState.LEASED, "1x": PageState.PENDING}
    assert frontier.release() == 1
    assert {page.url.removeprefix(ROOT) for page in frontier.claim(5)} == {"2", "1x"}


@pytest.mark.parametrize(
    ("hours", "remaining"),
    [(1, 14), (48, 12), (200, 0)],
    ids=["just now", "within the week", "a week ago"],
)
def test_each_day_another_seventh_of_the_unchanged_pages_is_due(
    frontier: Frontier, store: Store, hours: int, remaining: int
) -> None:
    """Pages that a sitemap calls unchanged are looked at once a week all the same, not all on one
    day.
    """
    frontier.add(FrontierLink(f"{ROOT}{n}") for n in range(14))
    looked_at = {"fetched_at": utc_now() - timedelta(hours=hours), "body": "x"}
    frontier.record_results(
        [FetchOutcome(page.id or 0, PageState.FETCHED, looked_at) for page in frontier.claim(14)]
    )
    with store.write() as session:
        session.exec(update(Page).values(state=PageState.PENDING))
    assert (
        frontier.record_lastmod({url: utc_now() - timedelta(days=90) for url in pages(store)})
        == remaining
    )
    assert frontier.counts().get("pending", 0) == 14 - remaining


def test_versions_in_sitemaps_are_kept_with_their_pages(frontier: Frontier, store: Store) -> None:
    """The versions of known pages are stored, those of unknown ones are dropped."""
    frontier.add([FrontierLink(ROOT + "a"), FrontierLink(ROOT + "b")])
    frontier.record_alternates({ROOT + "a": {"en": ROOT + "en/a"}, ROOT + "x": {"en": ROOT}})
    stored = pages(store)
    assert stored[ROOT + "a"].sitemap_alternates == {"en": ROOT + "en/a"}
    assert stored[ROOT + "b"].sitemap_alternates is None
    assert ROOT + "x" not in stored
