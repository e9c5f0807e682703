"""The same figures everywhere: command line, HTML, CSV, XLSX, JSON, feeds, API, web page and metrics.

The shop has offers in two currencies, review decisions, an earlier run, and a run under way.
"""

import csv
import io
import json
import re
import zipfile
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from lxml import etree, html
from prometheus_client.parser import text_string_to_metric_families

from catalog.models import ReviewDecision, RunState, Shop, Stage
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from tests.reports.conftest import StoreBuilder
from tests.scout.conftest import Scout, web_client

XLSX = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
FINISHED = 2


@dataclass(frozen=True)
class Figures:
    """The figures of a run as one of the outputs has them."""

    verdicts: dict[str, int]
    values: dict[str, Decimal]
    missing: tuple[str, ...]


@pytest.fixture
def client(settings: Settings, store: Store) -> TestClient:
    """Return a client of the web application."""
    return web_client(settings, store)


@pytest.fixture
def expected(store: Store, shop: Shop, scout: Scout) -> Figures:
    """Fill two finished runs and one under way, and write the report; returns the true figures."""
    fill = StoreBuilder(store, shop)
    before, run = fill.run(), fill.run()
    fill.finding(before, "e1", price=10)
    fill.finding(before, "lost", price=10)
    for number in range(4):
        fill.listed(run, f"l{number}", price=10 + number)
    for number in range(5):
        fill.finding(run, f"e{number}", price=20 + number, brand="Ada", category="Garden > Hoses")
    for number in range(3):
        fill.finding(run, f"d{number}", price=4313 + number, currency="USD", brand="Bea")
    fill.finding(run, "unpriced")
    fill.finding(run, "u1", "unsure", price=3)
    fill.finding(run, "u2", "unsure", price=4)
    fill.finding(run, "ignored", price=1000)
    fill.finding(run, "rejected", price=2000)
    fill.decide("ignored", ReviewDecision.IGNORE, "seasonal")
    fill.decide("rejected", ReviewDecision.REJECT)
    fill.decide("u2", ReviewDecision.ACCEPT)
    fill.save()
    under_way = fill.run(RunState.RUNNING, stage=Stage.PARSE)
    fill.finding(under_way, "later", price=99)
    fill.save()
    assert scout("report", "demo").code == 0
    url = fill.url
    return Figures(
        verdicts={"listed": 5, "missing": 10, "unsure": 1, "ignored": 1},
        values={"EUR": Decimal(114), "USD": Decimal(12942)},
        # Each currency by itself: the first of each, then the second of each.
        missing=tuple(map(url, ("e4", "d2", "e3", "d1", "e2", "d0", "e1", "e0", "u2", "unpriced"))),
    )


def test_command_line(scout: Scout, expected: Figures) -> None:
    """`scout offers`, `shop list` and `shop show` have the figures of the last finished run."""
    rows = [
        json.loads(line) for line in scout("offers", "demo", "--all", "--json").out.splitlines()
    ]
    assert _figures_of_rows(rows) == expected
    (shop,) = [json.loads(line) for line in scout("shop", "list", "--json").out.splitlines()]
    shown = json.loads(scout("shop", "show", "demo", "--json").out)
    for row in (shop, shown):
        assert _figures_of_shop(row, expected) == expected
        assert (row["run"], row["state"], row["finished_run"]) == (3, "running", FINISHED)
    result = scout("offers", "demo")
    assert "10 offers (missing)" in result.out
    assert "value of all 10 missing offers: €114 + $12,942" in result.out
    assert "ignored by reviewers, not listed here: 1" in result.out
    assert "run 3 is under way (parse); these are the figures of run 2" in result.err


def test_json_report(settings: Settings, expected: Figures) -> None:
    """report.json has the figures in its totals and in its lists, and no 0 of a foreign currency."""
    report = json.loads(_report(settings, "json").read_text("utf-8"))
    rows = [row for name in ("missing", "unsure", "ignored") for row in report[name]]
    totals = report["totals"]
    listed = {"listed": totals["listed"]}
    figures = _figures_of_rows(rows)
    assert Figures(figures.verdicts | listed, figures.values, figures.missing) == expected
    assert {name: totals[name] for name in expected.verdicts} == expected.verdicts
    assert _decimals(totals["missing_values"]) == expected.values
    by_brand = {group["brand"]: group for group in report["by_brand"]}
    assert by_brand["Bea"]["missing_value"] is None
    assert by_brand["Bea"]["missing_values"] == {"USD": "12942"}
    assert sum(cause["missing"] for cause in report["causes"]) == expected.verdicts["missing"]
    in_causes: Counter[str] = Counter()
    for cause in report["causes"]:
        in_causes.update(_decimals(cause["missing_values"]))
    assert dict(in_causes) == expected.values


def test_csv_report(settings: Settings, expected: Figures) -> None:
    """report.csv lists the missing, unsure and ignored offers in the same order."""
    rows = list(csv.DictReader(io.StringIO(_report(settings, "csv").read_text("utf-8"))))
    for row in rows:
        row["ignored"] = row["verdict"] == "ignored"  # type: ignore[assignment]
    figures = _figures_of_rows(rows)
    assert figures.missing == expected.missing
    assert figures.values == expected.values
    assert figures.verdicts == {name: expected.verdicts[name] for name in figures.verdicts}


def test_xlsx_report(settings: Settings, expected: Figures) -> None:
    """Each sheet of report.xlsx has a column or row for every currency."""
    sheets = _read_workbook(_report(settings, "xlsx"))
    summary = {
        (row[0], row[2] if row[0] == "missing value" else ""): row[1] for row in sheets["Summary"]
    }
    for verdict, number in expected.verdicts.items():
        assert summary[verdict, ""] == str(number)
    values = {key[1]: Decimal(value) for key, value in summary.items() if key[0] == "missing value"}
    assert values == expected.values
    header, *rows = sheets["Missing"]
    assert tuple(row[header.index("url")] for row in rows) == expected.missing
    assert "probability listed" in header
    for name in ("Brands", "Categories", "Causes"):
        header, *rows = sheets[name]
        for currency, value in expected.values.items():
            column = header.index(f"missing value {currency}")
            assert sum(Decimal(row[column] or 0) for row in rows) == value


def test_html_report(settings: Settings, expected: Figures) -> None:
    """report.html has the figures in its head and the offers in the same order."""
    tree = html.fromstring(_report(settings, "html").read_text("utf-8"))
    legend = dict(
        re.match(r"\s*(\d+)\s+(\w+)", item.text_content()).groups()[::-1]  # type: ignore[union-attr]
        for item in tree.xpath("//ul[@class='legend']/li")
    )
    assert {name: int(number) for name, number in legend.items()} == expected.verdicts
    assert "Together the missing offers cost €114 + $12,942" in tree.text_content()
    rows = tree.xpath("//section[@id='missing']//tbody/tr")
    assert tuple(row.xpath(".//a/@href")[0] for row in rows) == expected.missing
    assert "EUR and USD are ranked separately" in tree.xpath("string(//section[@id='missing'])")
    assert "score" not in tree.xpath("string(//section[@id='missing'])")
    assert "A newer run has crawled this shop since" in tree.text_content()


def test_feeds(scout: Scout, settings: Settings, expected: Figures) -> None:
    """Each feed has the missing offers in the same order, with price and currency."""
    assert scout("report", "demo", "--format", "feed-xml,feed-csv,feed-jsonl").code == 0
    (folder,) = settings.data_dir.glob(f"reports/*/{FINISHED}")
    texts = (folder / "missing.csv").read_text("utf-8")
    feeds = {
        "csv": list(csv.DictReader(io.StringIO(texts))),
        "jsonl": [
            json.loads(line) for line in (folder / "missing.jsonl").read_text("utf-8").splitlines()
        ],
        "xml": [
            {etree.QName(field).localname: field.text for field in item}
            for item in etree.parse(folder / "missing.xml").iter("item")
        ],
    }
    for name, rows in feeds.items():
        assert tuple(row["link"] for row in rows) == expected.missing, name
        values: Counter[str] = Counter()
        for row in rows:
            price, _, currency = (row.get("price") or "").partition(" ")
            if price:
                values[currency or row["currency"]] += Decimal(price)  # type: ignore[assignment]
        assert dict(values) == expected.values, name


def test_api(client: TestClient, expected: Figures) -> None:
    """The API has the figures of the last finished run for shops, offers and the run itself."""
    response = client.get("/api/shops/demo/offers?verdict=all")
    assert _figures_of_rows(response.json()) == expected
    for verdict, number in expected.verdicts.items():
        response = client.get(f"/api/shops/demo/offers?verdict={verdict}&limit=1")
        assert response.headers["x-total-count"] == str(number), verdict
    for row in (client.get("/api/shops").json()[0], client.get("/api/shops/demo").json()):
        assert _figures_of_shop(row, expected) == expected
    run = client.get(f"/api/runs/{FINISHED}").json()
    assert (run["offers"] | {"ignored": run["ignored"]}, run["missing"]) == (expected.verdicts, 10)
    assert _decimals(run["values"]) == expected.values


def test_web_pages(client: TestClient, expected: Figures) -> None:
    """The pages of all shops and of one have the figures, and the run under way beside them."""
    start = html.fromstring(client.get("/").text)
    cells = [cell.text_content().strip() for cell in start.xpath("//tbody/tr[1]/td")]
    assert (cells[1], cells[3]) == ("10", "5")
    assert "running reading offers" in " ".join(cells[6].split())
    assert start.xpath("//a[.='Report']/@href") == [f"/runs/{FINISHED}/report.html"]
    tree = html.fromstring(client.get("/shops/demo").text)
    assert _tiles(tree) == {
        "/shops/demo/findings": "10",
        "/shops/demo/findings?verdict=unsure": "1",
        "/shops/demo/findings?verdict=listed": "5",
        "/shops/demo/findings?verdict=ignored": "1",
    }
    text = " ".join(tree.text_content().split())
    assert "€114 + $12,942" in text
    assert "Run 3 is under way: reading offers." in text
    assert "The figures below are those of the last finished run." in text
    listed = html.fromstring(client.get("/shops/demo/findings").text)
    urls = []
    for link in listed.xpath("//td[@class='offer']/a/@href"):
        drawer = html.fromstring(client.get(link).text)
        urls.append(drawer.xpath("//p[@class='links']/a/@href")[0])
    assert tuple(urls) == expected.missing
    assert client.get(f"/runs/{FINISHED}/report.html").status_code == 200


def _tiles(tree: html.HtmlElement) -> dict[str, str]:
    """Return the figures of a shop's page by the list that each leads to."""
    tiles = tree.xpath("//a[contains(@class, 'tile') and contains(@href, '/findings')]")
    return {tile.get("href"): tile.findtext("b") for tile in tiles}


def test_metrics(client: TestClient, expected: Figures) -> None:
    """The metrics have the figures of the last finished run, and the state of the newest one."""
    samples = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(client.get("/metrics").text)
        for sample in family.samples
    }
    for verdict, number in expected.verdicts.items():
        assert samples["scout_offers", "demo", verdict] == number
    for currency, value in expected.values.items():
        assert samples["scout_missing_value", currency, "demo"] == float(value)
    assert samples["scout_finished_run", "demo"] == FINISHED
    assert samples["scout_run_state", "demo", "parse", "running"] == 1


def test_a_decision_moves_all_of_them(scout: Scout, client: TestClient, expected: Figures) -> None:
    """After a decision, command line, API and metrics agree at once, and the report when it is written again."""
    url = expected.missing[0]
    assert scout("decide", "demo", url, "ignore").code == 0
    assert json.loads(scout("shop", "show", "demo", "--json").out)["missing"] == 9
    assert client.get("/api/shops/demo").json()["values"] == {"EUR": "90", "USD": "12942"}
    tiles = _tiles(html.fromstring(client.get("/shops/demo").text))
    assert list(tiles.values()) == ["9", "1", "5", "2"]
    assert scout("report", "demo").code == 0
    ignored = client.get("/api/shops/demo/offers?verdict=ignored").json()
    assert url in {row["url"] for row in ignored}
    assert client.get(f"/api/runs/{FINISHED}").json()["missing"] == 9


def _figures_of_rows(rows: list[dict[str, Any]]) -> Figures:
    """Return the figures of a list of offers, counted by hand."""
    verdicts = Counter("ignored" if row["ignored"] else row["verdict"] for row in rows)
    missing = [row for row in rows if row["verdict"] == "missing" and not row["ignored"]]
    values: Counter[str] = Counter()
    for row in missing:
        if row["price"]:
            values[row["currency"]] += Decimal(row["price"])  # type: ignore[assignment]
    return Figures(dict(verdicts), dict(values), tuple(row["url"] for row in missing))  # type: ignore[arg-type]


def _figures_of_shop(row: dict[str, Any], expected: Figures) -> Figures:
    """Return the figures of a shop's row, which has no list of offers."""
    verdicts = {name: row[name] for name in expected.verdicts}
    return Figures(verdicts, _decimals(row["values"]), expected.missing)


def _decimals(values: dict[str, str]) -> dict[str, Decimal]:
    return {currency: Decimal(value) for currency, value in values.items()}


def _report(settings: Settings, kind: str) -> Path:
    (path,) = settings.data_dir.glob(f"reports/*/{FINISHED}/report.{kind}")
    return path


def _read_workbook(path: Path) -> dict[str, list[list[str]]]:
    """Return the rows of each sheet as texts; an empty cell is empty."""
    with zipfile.ZipFile(path) as book:
        names = etree.fromstring(book.read("xl/workbook.xml")).xpath(
            "//m:sheet/@name", namespaces=XLSX
        )
        sheets = {}
        for number, name in enumerate(names, 1):
            tree = etree.fromstring(book.read(f"xl/worksheets/sheet{number}.xml"))
            sheets[name] = [_cells(row) for row in tree.xpath("//m:row", namespaces=XLSX)]
    return sheets


def _cells(row: Any) -> list[str]:
    cells = [""] * 40
    for cell in row.xpath("m:c", namespaces=XLSX):
        letters = re.match("[A-Z]+", cell.get("r"))[0]  # type: ignore[index]
        column = 0
        for letter in letters:
            column = 26 * column + ord(letter) - 64
        cells[column - 1] = "".join(cell.xpath("string(.)"))
    return cells
