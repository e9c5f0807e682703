"""A shop of traps: all offers are found, and the traps cost little."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from crawler.urls.session_ids import Sessions
from crawler.urls.url_shape import Address
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
    assert not [path for path in made.pages() if len(Address(path).segments) > 12]


def test_generated_pages_are_cut_off(make_bench: Callable[..., Bench]) -> None:
    """Pages that say the same under ever new names are given up; the offers, found among them, are not."""
    made = make_bench(max_pages=1500)
    made.server.fallback = Tarpit().answer
    crawled = made.crawl()
    fetched = {path for path, (state, _) in made.states().items() if state == "fetched"}
    assert Tarpit().paths() <= fetched
    assert crawled.requests < 400
    assert crawled.reasons["trap: pages alike"] > 100


def pages_of(*sessions: str) -> list[tuple[Address, list[Address]]]:
    """Pages whose links all carry the page's session, or as many as are given to each."""
    root = "https://a.example"
    made = []
    for number, ids in enumerate(sessions):
        links = [Address(f"{root}/{one}/p/{n}") for n in range(3) for one in ids.split()]
        made.append((Address(f"{root}/c/{number}"), links))
    return made


IDS = [f"{number:x}" * 3 for number in range(0xABCDE1, 0xABCDE9)]


def test_sessions_are_learnt() -> None:
    """An id that is the only one of its page, and another on each, is a session's: without it the page is the same."""
    sessions = Sessions()
    one, other = (Address(f"https://a.example/{name}/p/7") for name in IDS[:2])
    for page, links in pages_of(*IDS[:3]):
        assert sessions.key(one) != sessions.key(other)
        sessions.observe(page, links)
    assert sessions.key(one) == sessions.key(other)
    assert sessions.key(one) != sessions.key(Address(f"https://a.example/{IDS[0]}/p/8"))


@pytest.mark.parametrize(
    "pages", [[f"{one} {IDS[0]}" for one in IDS[1:]], IDS[:1] * 9, ["bikes", "trees", "books"] * 3]
)
def test_other_ids_are_no_sessions(pages: list[str]) -> None:
    """Ids that stand beside each other, that stay, or that are plain words make different pages."""
    sessions = Sessions()
    for page, links in pages_of(*pages):
        sessions.observe(page, links)
    assert not sessions.holds(Address(f"https://a.example/{IDS[0]}/p/7"))


def test_known_offers_refute_sessions() -> None:
    """What stands in the link of a known offer is no session's id."""
    sessions = Sessions()
    sessions.refute(Address(f"https://a.example/{IDS[0]}/p/7"))
    for page, links in pages_of(*IDS):
        sessions.observe(page, links)
    assert not sessions.holds(Address(f"https://a.example/{IDS[1]}/p/7"))
