"""A run killed with -9 in one stage after another has the findings of an undisturbed run."""

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

from scout.cli import main
from scout.demo.assortment.demo_shop import DemoShop
from scout.demo.server import ServedShop, serve

STAGE = "SELECT stage FROM run"
FETCHED = "SELECT count(*) FROM page WHERE state = 'fetched'"
OFFER_PAGES = "SELECT count(*) FROM page WHERE kind = 'offer'"
IN_FLIGHT = 16  # requests under way, or answered and not yet stored
EACH_CRAWL = (".txt", ".xml", "-not-a-page")
COMPARED_FIELDS = set(
    "title price currency brand category ean han sku availability verdict cause other_urls".split()
)
READ = "SELECT count(*) FROM page WHERE rules_version IS NOT NULL"


@pytest.fixture(scope="module")
def shop() -> Iterator[ServedShop]:
    """The demo shop, served."""
    with serve(DemoShop.make()) as served:
        yield served


class Calls:
    """Calls of `scout` on a data folder."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder, self.database = folder, folder / "scout.db"
        self._capsys = capsys

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a call in a process of its own."""
        command = [sys.executable, "-m", "scout", "--data-dir", str(self._folder), *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *arguments: str) -> str:
        """Make a call that has to succeed in this process; return its standard output."""
        code = main(["--data-dir", str(self._folder), *arguments])
        captured = self._capsys.readouterr()
        assert code == 0, captured.err
        return captured.out

    def resume(self) -> None:
        """Make the run of the shop end, in a process of its own."""
        process = self.start("run", "demo")
        _, error = process.communicate(timeout=200)
        assert process.returncode == 0, error

    def prepare(self, shop: ServedShop) -> None:
        """Add the shop and its known offers."""
        feed = self._folder.parent / "feed.xml"
        feed.write_bytes(DemoShop.make().feed(shop.url))
        self.run("shop", "add", "demo", "--url", shop.url, "--allow-private")
        self.run("catalog", "import", "demo", str(feed))

    def ask(self, query: str) -> Any:
        """Read one value from the database."""
        with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=30) as connection:
            return (connection.execute(query).fetchone() or [None])[0]

    def findings(self) -> dict[str, dict[str, Any]]:
        """Return the findings by URL, without values that depend on the port."""
        lines = re.sub(
            r"127\.0\.0\.1:\d+", "shop", self.run("offers", "demo", "--all", "--json")
        ).splitlines()
        return {
            row["url"]: {name: value for name, value in row.items() if name in COMPARED_FIELDS}
            for row in map(json.loads, lines)
        }


def _differences(
    actual: dict[str, dict[str, Any]], expected: dict[str, dict[str, Any]]
) -> list[tuple[Any, ...]]:
    """Return every unexpected value as (URL, name, actual, expected)."""
    urls = sorted(actual.keys() | expected.keys())
    differences = []
    for url in urls:
        left, right = actual.get(url, {}), expected.get(url, {})
        for name in sorted(left.keys() | right.keys()):
            if left.get(name) != right.get(name):
                differences.append((url, name, left.get(name), right.get(name)))
    return differences


def _kill(calls: Calls, when: Callable[[], bool]) -> None:
    """Start a run, kill it once `when()` is true, and wait until its processes have ended."""
    process = calls.start("run", "demo")
    until = time.monotonic() + 120
    while not when():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=20)


def test_kill(
    tmp_path: Path, shop: ServedShop, demo: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Killed in crawling, learning, parsing and matching, a run loses and doubles nothing."""
    killed = Calls(tmp_path / "killed", capsys)
    undisturbed = Calls(demo["folder"] / "var" / "demo", capsys)
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
    killed.resume()
    assert _differences(killed.findings(), undisturbed.findings()) == []
    assert killed.ask("SELECT count(*) FROM run") == 1
    assert killed.ask(OFFER_PAGES) == undisturbed.ask(OFFER_PAGES)
    requests = Counter(
        request.path for request in shop.log if not request.path.endswith(EACH_CRAWL)
    )
    assert sum(number - 1 for number in requests.values()) <= 2 * IN_FLIGHT, requests.most_common(
        20
    )
