"""A run killed with -9 in one step after another ends with what an undisturbed run finds, and fetches nothing again."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scout.demo.assortment.demo_shop import Demo
from scout.demo.server import Served, serve

STAGE = "SELECT stage FROM run"
FETCHED = "SELECT count(*) FROM page WHERE state = 'fetched'"
OFFER_PAGES = "SELECT count(*) FROM page WHERE kind = 'offer'"
IN_FLIGHT = 16  # being fetched, or fetched and not yet settled
EACH_CRAWL = (".txt", ".xml", "-not-a-page")
SAME = set(
    "title price currency brand category ean han sku availability verdict cause other_urls".split()
)
READ = "SELECT count(*) FROM page WHERE rules_version IS NOT NULL"


@pytest.fixture(scope="module")
def shop() -> Iterator[Served]:
    """The demo shop, running."""
    with serve(Demo.make()) as served:
        yield served


class Calls:
    """Calls of `scout` on a data folder, each in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.database = folder, folder / "scout.db"

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a call."""
        command = [sys.executable, "-m", "scout", "--data-dir", str(self._folder), *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *words: str) -> str:
        """Make a call that has to succeed; gives what it printed."""
        process = self.start(*words)
        out, err = process.communicate(timeout=200)
        assert process.returncode == 0, err
        return out

    def prepare(self, shop: Served) -> None:
        """Add the shop and its known offers."""
        feed = self._folder.parent / "feed.xml"
        feed.write_bytes(Demo.make().feed(shop.url))
        self.run("shop", "add", "demo", "--url", shop.url, "--allow-private")
        self.run("catalog", "import", "demo", str(feed))

    def ask(self, query: str) -> Any:
        """One value from the database."""
        with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=30) as connection:
            return (connection.execute(query).fetchone() or [None])[0]

    def findings(self) -> dict[str, dict[str, Any]]:
        """What was found at each URL, without what depends on the order in which pages came, and on the port."""
        lines = re.sub(
            r"127\.0\.0\.1:\d+", "shop", self.run("offers", "demo", "--all", "--json")
        ).splitlines()
        found = {
            row["url"]: {name: value for name, value in row.items() if name in SAME}
            for row in map(json.loads, lines)
        }
        return {url: row | {"other_urls": sorted(row["other_urls"])} for url, row in found.items()}


def _differences(
    found: dict[str, dict[str, Any]], expected: dict[str, dict[str, Any]]
) -> list[tuple[Any, ...]]:
    """Every value that is not as expected, with its place."""
    urls = sorted(found.keys() | expected.keys())
    both = ((url, found.get(url, {}), expected.get(url, {})) for url in urls)
    return [
        (url, name, one.get(name), other.get(name))
        for url, one, other in both
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name)
    ]


def _kill(calls: Calls, when: Callable[[], bool]) -> None:
    """Start a run, kill it when the time has come, and wait until all its processes have let go of its output."""
    process = calls.start("run", "demo")
    until = time.monotonic() + 120
    while not when():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=20)


def test_kill(tmp_path: Path, shop: Served, demo: dict[str, Any]) -> None:
    """Killed in crawling, learning, parsing and matching, one after another, a run loses and doubles nothing."""
    killed, calm = Calls(tmp_path / "killed"), Calls(demo["folder"] / "var" / "demo")
    killed.prepare(shop)
    for pages in (100, 300):
        _kill(killed, lambda pages=pages: killed.ask(FETCHED) > pages)
    for stage in ("learn", "parse", "match"):
        _kill(
            killed,
            lambda stage=stage: (
                killed.ask(STAGE) == stage and (stage != "parse" or killed.ask(READ) > 50)
            ),
        )
    assert killed.ask("SELECT state FROM run") == "running"
    killed.run("run", "demo")
    assert _differences(killed.findings(), calm.findings()) == []
    assert killed.ask("SELECT count(*) FROM run") == 1
    assert killed.ask(OFFER_PAGES) == calm.ask(OFFER_PAGES)
    again = Counter(request.path for request in shop.log if not request.path.endswith(EACH_CRAWL))
    assert sum(number - 1 for number in again.values()) <= 2 * IN_FLIGHT, again.most_common(20)
