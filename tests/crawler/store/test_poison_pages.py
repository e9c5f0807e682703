"""Poison pages: a page that ends the process working on it costs no other page."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from catalog.runtime.supervised_workers import MAX_TRIES
from crawler.pages.soft404 import nonexistent_path
from reports.statistics.coverage import measure_coverage
from tests.crawler.conftest import Bench, bench
from tests.crawler.server import page, raw, serve
from tests.poison import count_deaths, poison_processes

STATES = {
    "segfault": ("failed", "ended its process: segmentation fault"),
    "kill": ("failed", "ended its process: killed, as for lack of memory"),
    "exit": ("failed", "ended its process: exit code 7"),
    "memory": ("failed", "ended its process: out of memory"),
    "error": ("failed", "error: LookupError"),
    "once": ("fetched", None),
}
# Signals of an offer page, without which many pages of one kind are a trap.
OFFER = "<span itemprop=price>9.99</span> EUR, in stock, add to cart"
INNOCENT = [f"/p/{number}" for number in range(115)]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bench, Path]]:
    """A crawl of six poison pages among 115 innocent ones, and the folder that counts deaths."""
    folder = tmp_path_factory.mktemp("poison")
    with serve() as server, pytest.MonkeyPatch.context() as patched:
        poison_processes(folder, patched)
        poison = [f"/poison/{name}" for name in STATES]
        # Poison pages stand between innocent ones.
        links = [*INNOCENT[:40], *poison[:3], *INNOCENT[40:60], *poison[3:], *INNOCENT[60:]]
        server.routes["/"] = page(*links)
        for link in INNOCENT:
            server.routes[link] = page(title=f"Product {link}", text=OFFER)
        for name in STATES:
            body = f"<html><title>{name}</title><p>poison-{name}</p></html>"
            server.routes[f"/poison/{name}"] = raw(body.encode())
        made = bench(folder, server)
        made.crawl()
        yield made, folder


def test_no_innocent_page_is_lost(crawled: tuple[Bench, Path]) -> None:
    """All pages beside the poison ones are fetched."""
    states = crawled[0].states()
    assert {path: states[path] for path in INNOCENT if states[path] != ("fetched", None)} == {}


def test_innocent_pages_are_requested_once(crawled: tuple[Bench, Path]) -> None:
    """Pages that waited beside a poison one are processed again, but not requested again.

    Only the pages in flight when the crawler itself died are.
    """
    hits = crawled[0].server.hits
    assert sum(hits[path] - 1 for path in INNOCENT) <= 16


@pytest.mark.parametrize("name", STATES)
def test_a_poison_page_is_set_aside_with_its_reason(crawled: tuple[Bench, Path], name: str) -> None:
    """Its state says how it ended the process; a page that did so once is fetched."""
    assert crawled[0].states()[f"/poison/{name}"] == STATES[name]


@pytest.mark.parametrize("name", ["segfault", "kill", "exit", "memory"])
def test_a_suspect_page_gets_three_tries(crawled: tuple[Bench, Path], name: str) -> None:
    """No page is tried more than three times, and none less; one more may end the crawler."""
    deaths = count_deaths(crawled[1], name)
    assert MAX_TRIES <= deaths <= MAX_TRIES + 1


def test_poison_pages_are_counted(crawled: tuple[Bench, Path]) -> None:
    """The coverage of a report lists each reason with its number of pages."""
    made = crawled[0]
    coverage = measure_coverage(made.store, made.shop, made.run_id)
    counted = {count.reason: count.pages for count in coverage.reasons}
    for state, reason in STATES.values():
        if reason is not None:
            assert (state, counted[reason]) == ("failed", 1)


def test_a_crawler_that_dies_at_once_is_started_again(
    make_bench: Callable[..., Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a crawl too small for a worker process, the second crawler has one."""
    poison_processes(tmp_path, monkeypatch)
    made = make_bench()
    made.server.routes["/"] = page("/a", "/b", "/c")
    made.server.routes |= {"/a": page(title="A"), "/c": page(title="C")}
    made.server.routes["/b"] = raw(b"<html><title>B</title>poison-segfault</html>")
    assert made.crawl().pages == {"fetched": 3, "failed": 1}
    assert made.states()["/b"] == STATES["segfault"]


def test_saved_pages(
    make_bench: Callable[..., Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A saved page that ends its process costs only itself, and is counted with its reason."""
    poison_processes(tmp_path, monkeypatch)
    made, saved = make_bench(), tmp_path / "saved"
    saved.mkdir()
    for name in ("a", "b", "c"):
        (saved / f"{name}.html").write_text(f"<title>{name}</title>{OFFER}")
    for name in ("segfault", "error", "once"):
        (saved / f"b-{name}.html").write_text(f"<title>{name}</title><p>poison-{name}</p>")
    result = made.crawl(source=str(saved))
    assert result.pages == {"fetched": 4, "failed": 2}
    states = made.states()
    for name in ("segfault", "error", "once"):
        assert states[f"/b-{name}.html"] == STATES[name]
    assert result.reasons["error: LookupError"] == 1
    assert count_deaths(tmp_path, "segfault") == MAX_TRIES


def test_the_page_of_the_probe(
    make_bench: Callable[..., Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A soft 404 that ends the crawler costs no page: the second crawler leaves it out."""
    poison_processes(tmp_path, monkeypatch)
    made = make_bench()
    made.server.routes["/"] = page("/a")
    made.server.routes["/a"] = page(title="A")
    path = nonexistent_path(made.server.url)
    made.server.routes[path] = raw(b"<html><title>Sorry</title>poison-segfault</html>")
    result = made.crawl()
    assert result.pages == {"fetched": 2}
    assert result.reasons["page of the probe: ended its process: segmentation fault"] == 1
