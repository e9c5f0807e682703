"""Feeds of the missing offers that a filter keeps: `scout report --format feed-... --brand ...`."""

import csv
import json
from pathlib import Path

import pytest
from lxml import etree

from catalog.models import ReviewDecision, Shop
from catalog.storage.store import Store
from tests.reports.conftest import StoreBuilder
from tests.scout.conftest import Scout


@pytest.fixture
def fill(store: Store, shop: Shop) -> StoreBuilder:
    """Two finished runs of a shop with missing offers of two brands, an ignored and a listed one."""
    fill = StoreBuilder(store, shop)
    before, run = fill.run(), fill.run()
    fill.finding(before, "a0", price=10, brand="Ada")
    for number in range(3):
        fill.finding(run, f"a{number}", price=10 + number, brand="Ada", category="Garden > Hoses")
        fill.finding(run, f"b{number}", price=20 + number, brand="Bea", category="Garden")
    fill.finding(run, "ignored", price=3, brand="Ada")
    fill.decide("ignored", ReviewDecision.IGNORE)
    fill.finding(run, "u", "unsure", price=3, brand="Ada")
    fill.listed(run, "l", price=4, brand="Ada")
    fill.save()
    return fill


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--brand", "ada"], ["a2", "a1", "a0"]),
        (["--brand", "Ada", "--price", "11-"], ["a2", "a1"]),
        (["--category", "Garden > Hoses"], ["a2", "a1", "a0"]),
        (["--change", "still"], ["a0"]),
        (["--change", "new", "--brand", "Bea"], ["b2", "b1", "b0"]),
        (["--brand", "nobody"], []),
    ],
)
def test_feeds(
    scout: Scout, fill: StoreBuilder, tmp_path: Path, arguments: list[str], names: list[str]
) -> None:
    """Each feed has the missing offers that the filter keeps, the most valuable first, and no others."""
    urls = [fill.url(name) for name in names]
    formats = "feed-xml,feed-csv,feed-jsonl"
    out = str(tmp_path)
    result = scout("report", "demo", "--format", formats, "--out", out, "--json", *arguments)
    assert result.code == 0, result.err
    paths = json.loads(result.out)
    lines = Path(paths["feed-jsonl"]).read_text("utf-8").splitlines()
    assert [json.loads(line)["link"] for line in lines] == urls
    with Path(paths["feed-csv"]).open(encoding="utf-8", newline="") as file:
        assert [row["link"] for row in csv.DictReader(file)] == urls
    items = etree.parse(paths["feed-xml"]).findall("channel/item")
    assert [item.findtext("link") for item in items] == urls


def test_a_filtered_feed_is_no_report(scout: Scout, fill: StoreBuilder) -> None:
    """A filtered feed leaves the feed of the whole run and the run's record of its report as they are."""
    whole = json.loads(scout("report", "demo", "--format", "feed-jsonl", "--json").out)
    before = scout("shop", "show", "demo", "--json").out
    filtered = json.loads(
        scout("report", "demo", "--format", "feed-jsonl", "--brand", "Bea", "--json").out
    )
    assert len(Path(whole["feed-jsonl"]).read_text("utf-8").splitlines()) == 6
    assert len(Path(filtered["feed-jsonl"]).read_text("utf-8").splitlines()) == 3
    assert Path(filtered["feed-jsonl"]).parent == Path(whole["feed-jsonl"]).parent
    assert scout("shop", "show", "demo", "--json").out == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--brand", "Ada"], "filters apply to feeds only, not to 'html'"),
        (["--format", "feed-csv,xlsx", "--brand", "Ada"], "not to 'xlsx'"),
        (["--format", "feed-csv", "--price", "x"], "is no range"),
        (["--format", "feed-csv", "--brand", "Ada", "--run", "99"], "has no run 99"),
    ],
)
def test_wrong_usage(scout: Scout, fill: StoreBuilder, arguments: list[str], message: str) -> None:
    """A filter on a format that is no feed is refused, as is one that cannot be read."""
    result = scout("report", "demo", *arguments)
    assert (result.code, message in result.error) == (2, True)
