"""A shop that is redesigned between two crawls: detected, reported everywhere, and learnt again."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from scout.demo.assortment.demo_shop import DemoShop
from scout.demo.server import ServedShop, serve
from tests.scout.conftest import Scout

CATEGORIES = (
    "akku-werkzeug",
    "backpacks",
    "board-games",
    "buerostuehle",
    "kaffeemaschinen",
    "monitors",
    "running-shoes",
    "tee",
)
OFFERS_PER_CATEGORY = 14


def small(*, redesigned: bool) -> DemoShop:
    """Return a small part of the demo shop: the first offers of a few categories."""
    complete = DemoShop.make(redesigned=redesigned)
    by_category = [
        [offer for offer in complete.offers if offer.category.slug == slug and not offer.parts][
            :OFFERS_PER_CATEGORY
        ]
        for slug in CATEGORIES
    ]
    offers = tuple(chain.from_iterable(by_category))
    paths = {offer.path for offer in (*offers, *complete.gone)}
    return replace(
        complete, offers=offers, rows=tuple(row for row in complete.rows if row.offer.path in paths)
    )


@contextmanager
def served(demo: DemoShop, scout: Scout, folder: Path) -> Iterator[ServedShop]:
    """Serve the shop, added to Scout with its catalog and ready to be run."""
    with serve(demo, 0) as running:
        (folder / "feed.xml").write_bytes(demo.feed(running.url))
        assert scout("shop", "add", "demo", "--url", running.url, "--allow-private").code == 0
        assert scout("catalog", "import", "demo", str(folder / "feed.xml")).code == 0
        yield running


def precision_and_recall(demo: DemoShop, scout: Scout) -> tuple[float, float]:
    """Return precision and recall of the missing offers."""
    rows = [
        json.loads(line) for line in scout("offers", "demo", "--missing", "--json").out.splitlines()
    ]
    score = demo.score(row["url"] for row in rows)
    return score["precision"], score["recall"]


def test_redesign(scout: Scout, tmp_path: Path) -> None:
    """An unchanged shop is reported as such; a redesigned one is learnt again, and locked and manual rules stay."""
    before, after = small(redesigned=False), small(redesigned=True)
    with served(before, scout, tmp_path) as shop:
        assert scout("crawl", "demo").code == 0
        assert scout("learn", "demo").code == 0
        assert scout("rules", "lock", "demo", "price", "--number", "1").code == 0
        assert scout("rules", "set", "demo", "title", "--css", "h1").code == 0
        assert "the rules hold" in scout("drift", "demo").out
    port = urlsplit(shop.url).port
    with serve(after, port or 0):
        run = json.loads(scout("run", "demo", "--fresh", "--json").out)
        assert run["drift"].startswith("the shop was redesigned")
        assert run["kept"] == 2
        assert scout("drift", "demo").out.startswith(
            f"rules version {run['rules']}: the rules hold"
        )
        assert precision_and_recall(after, scout) == pytest.approx((1.0, 1.0), abs=0.03)
    rows = [json.loads(line) for line in scout("rules", "show", "demo", "--json").out.splitlines()]
    assert {row["attribute"] for row in rows if row["locked"]} == {"price"}
    assert {row["selector"] for row in rows if row["origin"] == "manual"} == {"h1"}
    assert "the shop was redesigned" in scout("rules", "history", "demo").out
    report = Path(run["reports"]["html"]).read_text()
    assert "The shop was redesigned" in report
    assert (
        "the shop was redesigned"
        in json.loads(Path(run["reports"]["json"]).read_text())["rules"]["drift"]
    )
