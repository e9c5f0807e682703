"""A crawl learns again from the events of its journal: it then concludes as if never interrupted."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request

from catalog.models import Page, PageState
from catalog.storage.crawl_events import NumberedEvent
from catalog.storage.frontier import FetchOutcome
from crawler.config import DEFAULT_CONFIG
from crawler.fetch.crawl_memory import CrawlMemory
from crawler.fetch.response_handler import ResponseHandler
from crawler.fetch.response_status import ResponseStatus
from crawler.filters.link_filter import LinkFilter
from crawler.frontier.journal import CrawlJournal
from crawler.pages.page_digest import PageDigest
from crawler.spider import ShopSpider
from crawler.urls.site import Site

HOME = "https://shop.example"
TRIALS = DEFAULT_CONFIG.rule_trials
PATHS = [
    *(f"/p/{number}" for number in range(6)),
    *(f"/c/sale/p/{number}" for number in range(6)),
    *(f"/p/{number}?variant={number + 7}" for number in range(3)),
    *(f"/cal/2026/{month:02}" for month in range(1, 4)),
]


def make_memory() -> tuple[CrawlMemory, CrawlJournal]:
    """A memory that has learnt nothing."""
    journal = CrawlJournal(is_kept=True)
    return CrawlMemory(LinkFilter(Site(HOME + "/")), {}, journal), journal


def make_page(number: int, path: str, attempts: int = 1) -> Page:
    return Page(id=number, shop_id=1, url=HOME + path, source="link", attempts=attempts)


def take_step(memory: CrawlMemory, number: int, step: tuple[Any, ...]) -> tuple[Any, ...]:
    """Let a memory take a step; returns everything that it concludes, without the event."""
    kind, path, other, links = step
    page = make_page(number, path)
    if kind == "seeds":
        found, event = memory.admit_seeds([([HOME + path, HOME + other], "sitemap")], "sitemap")
        return found, event
    if kind == "admit":
        outcomes, event = memory.admit_pages([page, make_page(number + 1000, other)])
        return outcomes, event
    if kind == "page":
        digest = PageDigest(
            body=f"body of {path}" if links else "the same body",
            title=f"Title of {other}",
            canonical=HOME + other,
            links=tuple(HOME + link for link in links),
            refused=(("/cart", "cart"),),
        )
        conclusion = memory.observe_page(page, digest)
    elif kind == "unchanged":
        conclusion = memory.observe_unchanged(page)
    elif kind == "redirect":
        conclusion = memory.observe_redirect(page, HOME + other)
    elif kind == "failed":
        conclusion = memory.observe_failure(page, ResponseStatus(PageState.FAILED, "timeout"))
    else:
        conclusion = memory.observe_failure(page, ResponseStatus(PageState.GONE, "http 404"))
    values = (conclusion.status, conclusion.canonical, conclusion.links, conclusion.to_try)
    return values, conclusion.event


paths = st.sampled_from(PATHS)
steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["page"] * 4 + ["seeds", "admit", "unchanged", "redirect", "gone", "failed"]
        ),
        paths,
        paths,
        st.lists(paths, max_size=5),
    ),
    max_size=40,
)


@given(steps, steps)
def test_replayed_memory_concludes_the_same(
    before: list[tuple[Any, ...]], after: list[tuple[Any, ...]]
) -> None:
    """After a replay of any steps, any further steps lead to the same conclusions and events."""
    memory, _ = make_memory()
    events: list[NumberedEvent] = []
    for number, step in enumerate(before):
        _, event = take_step(memory, number, step)
        events += [event] if event else []
    replayed, journal = make_memory()
    for decoded in journal.decode(events):
        replayed.replay(decoded)
    for number, step in enumerate(after, len(before)):
        assert take_step(replayed, number, step) == take_step(memory, number, step)


def put_on_trial(memory: CrawlMemory) -> tuple[list[str], list[NumberedEvent]]:
    """Open all trials that a rule may have; returns the originals, the last of which waits.

    Also returns the events of the crawl so far.
    """
    events = []
    for number in range(DEFAULT_CONFIG.canonical_agreeing_pages):
        fetched = make_page(number, f"/p/{number}"), make_page(number + 100, f"/c/sale/p/{number}")
        digests = [
            PageDigest(body=page.url, title=f"Lamp {number}", canonical=fetched[0].url)
            for page in fetched
        ]
        events += [memory.observe_page(*pair).event for pair in zip(fetched, digests, strict=True)]
    originals = [f"{HOME}/c/sale/p/a{number}" for number in range(TRIALS + 1)]
    listing = PageDigest(body="list", title="All", links=tuple(originals))
    events.append(memory.observe_page(make_page(200, "/all"), listing).event)
    for number in range(TRIALS + 1):
        page = make_page(300 + number, f"/p/a{number}")
        conclusion = memory.observe_failure(page, ResponseStatus(PageState.GONE, "http 404"))
        events.append(conclusion.event)
    assert not conclusion.to_try
    return originals, [event for event in events if event]


@pytest.mark.parametrize("kind", ["failed", "redirect"])
def test_a_trial_without_a_verdict_is_replaced(kind: str) -> None:
    """If the original link of a rule fails or leads elsewhere, the next one that waits is tried, also after a replay."""
    memory, _ = make_memory()
    originals, events = put_on_trial(memory)
    replayed, journal = make_memory()
    for decoded in journal.decode(events):
        replayed.replay(decoded)
    for each in (memory, replayed):
        values, event = take_step(each, 400, (kind, "/c/sale/p/a0", "/p/3", []))
        assert [link.url for link in values[-1]] == [originals[-1]]
        assert event


def test_a_trial_on_which_our_code_fails_is_replaced() -> None:
    """The page of a trial fails with its reason, and the next original that waits becomes due."""
    memory, _ = make_memory()
    originals, _ = put_on_trial(memory)
    outcomes: list[FetchOutcome] = []
    released: list[int] = []
    spider: Any = SimpleNamespace(
        _handler=ResponseHandler(memory),
        frontier=SimpleNamespace(record_results=outcomes.extend),
        dispatcher=SimpleNamespace(release=released.append),
    )
    page = make_page(400, "/c/sale/p/a0")
    request = Request(page.url, meta={"page": page})
    ShopSpider.fail_request(spider, request, "error: KeyError")
    (outcome,) = outcomes
    assert (outcome.state, outcome.columns["reason"]) == (PageState.FAILED, "error: KeyError")
    assert [link.url for link in outcome.links] == [originals[-1]]
    assert outcome.event
    assert released == [400]


def test_pages_in_flight_keep_their_batches() -> None:
    """Leased pages come in the batches of their admission; those not yet admitted are apart."""
    memory, _ = make_memory()
    batches = [[make_page(1, "/a"), make_page(2, "/b")], [make_page(3, "/c")]]
    events = [memory.admit_pages(batch)[1] for batch in batches]
    replayed, journal = make_memory()
    for event in journal.decode(event for event in events if event):
        replayed.replay(event)
    # Page 2 has failed once, and was leased again.
    leased = [make_page(3, "/c"), make_page(1, "/a"), make_page(2, "/b", attempts=2)]
    groups, claimed = replayed.admitted.group(leased)
    assert [[page.id for page in group] for group in groups] == [[1], [3]]
    assert [page.id for page in claimed] == [2]


def test_events_of_a_lost_page() -> None:
    """If the page that is the dictionary is lost, events before it count, and numbers go on."""
    journal = CrawlJournal(is_kept=True)
    events = [
        journal.make_event("seeds", [["https://shop.example/"], "root"]),
        journal.make_event("page", "x" * 500),
        journal.make_event("gone", "x" * 500),
    ]
    read = CrawlJournal(is_kept=True)
    stored = [event for event in events[::2] if event]
    assert [event[0] for event in read.decode(stored)] == ["seeds"]
    following = read.make_event("gone", "y")
    assert following is not None
    assert following[0] == 3


def test_events_are_small() -> None:
    """A page whose links are those of another takes a tenth of its text."""
    journal = CrawlJournal(is_kept=True)
    menu = [f"{HOME}/category-{number}/sub-category-{number * 7}" for number in range(100)]
    sizes = []
    for number in range(2):
        event = journal.make_event("page", [number], ["title", *menu])
        assert event is not None
        sizes.append(len(event[1]))
    assert sizes[1] < len("".join(menu)) / 10
