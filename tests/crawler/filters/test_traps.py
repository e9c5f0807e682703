"""A shop of traps: all offers are found, and the traps cost little."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from crawler.urls.crawl_url import CrawlUrl
from crawler.urls.session_ids import SessionIdDetector
from tests.crawler.conftest import Bench
from tests.crawler.tarpit import Tarpit
from tests.crawler.trapshop import SESSION, TrapShop

SHOP = TrapShop(offers=120, categories=3)


@pytest.mark.parametrize("session", ["/(S({}))", "/s/{}"])
def test_all_offers_few_requests(make_bench: Callable[..., Bench], session: str) -> None:
    """Calendar, facets, sessions, growing paths, soft 404s: at most five requests an offer, and none is missed."""
    made = make_bench()
    made.server.fallback = replace(SHOP, session=session).answer
    crawled = made.crawl()
    fetched = {
        SESSION.sub("", path) for path, (state, _) in made.states().items() if state == "fetched"
    }
    assert SHOP.paths() <= fetched
    assert crawled.requests <= 5 * SHOP.offers
    assert any(reason.startswith("trap: list filtered") for reason in crawled.reasons)
    assert not [path for path in made.pages() if path.count("/") > 12]


def test_generated_pages_are_cut_off(make_bench: Callable[..., Bench]) -> None:
    """Generated near-duplicate pages are given up; the offers among them are fetched."""
    made = make_bench(max_pages=1500)
    made.server.fallback = Tarpit().answer
    crawled = made.crawl()
    fetched = {path for path, (state, _) in made.states().items() if state == "fetched"}
    assert Tarpit().paths() <= fetched
    assert crawled.requests < 400
    assert crawled.reasons["trap: pages alike"] > 100


def pages_of(*sessions: str) -> list[tuple[CrawlUrl, list[CrawlUrl]]]:
    """Pages whose links carry the page's session ids, one or several each."""
    root = "https://a.example"
    made = []
    for number, ids in enumerate(sessions):
        links = [
            CrawlUrl.parse(f"{root}/{session}/p/{n}") for n in range(3) for session in ids.split()
        ]
        made.append((CrawlUrl.parse(f"{root}/c/{number}"), links))
    return made


IDS = [f"{number:x}" * 3 for number in range(0xABCDE1, 0xABCDE9)]


def test_sessions_are_learnt() -> None:
    """An id that is the only one of its page, and differs between pages, is a session id: without it the page is the same."""
    sessions = SessionIdDetector()
    first, second = (CrawlUrl.parse(f"https://a.example/{name}/p/7") for name in IDS[:2])
    for page, links in pages_of(*IDS[:3]):
        assert sessions.key(first) != sessions.key(second)
        sessions.observe(page, links)
    assert sessions.key(first) == sessions.key(second)
    assert sessions.key(first) != sessions.key(CrawlUrl.parse(f"https://a.example/{IDS[0]}/p/8"))


@pytest.mark.parametrize(
    "pages",
    [[f"{session} {IDS[0]}" for session in IDS[1:]], IDS[:1] * 9, ["bikes", "trees", "books"] * 3],
)
def test_other_ids_are_no_sessions(pages: list[str]) -> None:
    """Ids side by side, constant ids, and plain words make different pages."""
    sessions = SessionIdDetector()
    for page, links in pages_of(*pages):
        sessions.observe(page, links)
    assert not sessions.has_session_id(CrawlUrl.parse(f"https://a.example/{IDS[0]}/p/7"))


def test_known_offers_refute_sessions() -> None:
    """An id in the link of a known offer is no session id."""
    sessions = SessionIdDetector()
    sessions.refute(CrawlUrl.parse(f"https://a.example/{IDS[0]}/p/7"))
    for page, links in pages_of(*IDS):
        sessions.observe(page, links)
    assert not sessions.has_session_id(CrawlUrl.parse(f"https://a.example/{IDS[1]}/p/7"))
