"""Report files: every format complete, the same facts in each, and no cell that a spreadsheet evaluates."""

import csv
import io
import json
import subprocess
import sys
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from catalog.errors import StorageFull, StoreError, UsageError
from catalog.models import ReviewDecision, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from catalog.values.spreadsheet_cells import escape_formula, unescape_formula
from reports.write import report_files
from reports.write.cell_escaping import escape_row
from reports.write.report_files import report_shop

DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
XLSX = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


@given(st.text())
def test_no_cell_begins_like_a_formula(text: str) -> None:
    """No escaped text begins like a formula, and the text itself is kept."""
    escaped = escape_formula(text)
    assert not escaped.lstrip(" ").startswith(DANGEROUS)
    assert escaped.removeprefix("'") == text or escaped == text


@given(st.text(max_size=20).filter(lambda text: not text.startswith("'")))
def test_an_escaped_text_can_be_read_back(text: str) -> None:
    """Reading a cell removes the apostrophe that escaping put there."""
    assert unescape_formula(escape_formula(text)) == text


@given(st.sampled_from(DANGEROUS), st.text())
def test_each_dangerous_beginning_is_escaped(sign: str, text: str) -> None:
    """A text that begins with a formula sign, with or without spaces in front, gets an apostrophe."""
    assert escape_formula(sign + text) == f"'{sign}{text}"
    assert escape_formula(f"  {sign}{text}").startswith("'")


def test_numbers_of_our_own_stay_numbers() -> None:
    """A negative number stays a number; the same as text is escaped."""
    assert escape_row([-0.2, Decimal(-3), None, "-3"]) == [-0.2, Decimal(-3), None, "'-3"]


@pytest.fixture
def filled(fill: Any) -> int:
    """Fill a run with rows for every part of the report, hostile texts among them; returns its id."""
    before, run = fill.run(), fill.run()
    fill.listed(before, "a")
    for n in range(12):
        fill.listed(
            run,
            f"l{n}",
            price=10 + n,
            category="Garden > Hoses",
            nearest={"price": 9} if n == 3 else {},
        )
    fill.listed(run, "t", title="Red lamp", nearest={"title": "Article 7"})
    fill.finding(
        run,
        "m1",
        title='=HYPERLINK("http://evil.example";"x")',
        price="1299.90",
        brand="@Brand",
        sku="-1+1",
    )
    fill.finding(
        run,
        "m2",
        title="<script>alert(1)</script>",
        price=5,
        category='"><img src=x onerror=alert(1)>',
    )
    fill.finding(
        run, "m3", price=7, currency="CHF", nearest={"title": "Near", "url": "javascript:alert(1)"}
    )
    fill.finding(run, "u", "unsure", price=3, score=0.5, nearest={"title": "Almost"})
    fill.finding(run, "i", price=3)
    fill.decide("i", ReviewDecision.IGNORE, "+seasonal")
    fill.catalog_offer("gone", title="Gone", price=4)
    fill.rejected_row("a;b;c")
    fill.page("m1")
    fill.page("x", reason="=1+1")
    fill.save()
    return run


def test_all_formats_hold_the_same_findings(
    settings: Settings, store: Store, shop: Shop, filled: int
) -> None:
    """CSV and JSON hold every finding; JSON has the keys that docs/reports.md documents."""
    paths = report_shop(settings, store, shop, filled)
    assert set(paths) == {"html", "csv", "xlsx", "json"}
    assert (
        paths["html"]
        == settings.data_dir / "reports" / f"{shop.id}-demo" / str(filled) / "report.html"
    )
    report = json.loads(paths["json"].read_text("utf-8"))
    assert set(report) == {
        "format", "shop", "run", "told_at", "superseded", "rules", "totals", "coverage", "completeness", "by_category", "by_price_band",
        "by_price_band_elsewhere", "other_currencies",
        "without_price", "by_brand", "causes", "trend", "feed", "missing", "unsure", "ignored",
        "price_differences", "title_differences", "not_seen_on_the_shop",
    }  # fmt: skip
    assert report["totals"]["missing"] == len(report["missing"]) == 3
    assert report["missing"][0]["price"] == "1299.90"
    assert report["missing"][0]["title"] == '=HYPERLINK("http://evil.example";"x")'
    rows = list(csv.DictReader(io.StringIO(paths["csv"].read_text("utf-8"))))
    assert [line["verdict"] for line in rows].count("missing") == 3
    assert {line["url"] for line in rows} == {
        row["url"] for name in ("missing", "unsure", "ignored") for row in report[name]
    }
    assert rows[0]["title"].startswith("'=HYPERLINK")
    assert not [cell for line in rows for cell in line.values() if cell.startswith(DANGEROUS)]


def test_the_workbook_has_no_formula_and_no_link(
    settings: Settings, store: Store, shop: Shop, filled: int
) -> None:
    """Every sheet has a frozen header and a filter; texts are escaped, prices are numbers."""
    path = report_shop(settings, store, shop, filled, formats=["xlsx"])["xlsx"]
    with zipfile.ZipFile(path) as book:
        sheets = [
            etree.fromstring(book.read(name))
            for name in book.namelist()
            if "worksheets/sheet" in name
        ]
        names = etree.fromstring(book.read("xl/workbook.xml")).xpath(
            "//m:sheet/@name", namespaces=XLSX
        )
    assert names[:3] == ["Summary", "Missing", "Unsure"]
    for sheet in sheets:
        assert not sheet.xpath("//m:f | //m:hyperlink", namespaces=XLSX)
        assert sheet.xpath("//m:pane[@state='frozen']", namespaces=XLSX)
        assert sheet.xpath("//m:autoFilter", namespaces=XLSX)
        assert not [
            text
            for text in sheet.xpath("//m:t/text()", namespaces=XLSX)
            if text.startswith(DANGEROUS)
        ]
    assert sheets[1].xpath("//m:c[@r='C2']/m:v/text()", namespaces=XLSX) == ["1299.90"]


def test_a_report_file_is_complete_or_absent(
    settings: Settings,
    store: Store,
    shop: Shop,
    filled: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A writer that fails halfway leaves the previous file, and no partial one."""
    out = tmp_path / "out"
    before = report_shop(settings, store, shop, filled, formats=["csv"], out=out)[
        "csv"
    ].read_bytes()

    def fail_halfway(path: Path, report: object) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report_files, "write_csv", fail_halfway)
    with pytest.raises(StorageFull, match="free some"):
        report_shop(settings, store, shop, filled, formats=["csv"], out=out)
    assert [path.name for path in out.iterdir()] == ["report.csv"]
    assert (out / "report.csv").read_bytes() == before


def test_errors_are_one_clear_line(
    settings: Settings, store: Store, shop: Shop, filled: int, tmp_path: Path
) -> None:
    """An unknown format raises UsageError, a folder that cannot be made StoreError."""
    with pytest.raises(UsageError, match="choose from html, csv, xlsx, json"):
        report_shop(settings, store, shop, filled, formats=["pdf"])
    (tmp_path / "file").write_text("")
    for name in report_files.FORMATS:
        with pytest.raises(StoreError, match="cannot be written"):
            report_shop(
                settings, store, shop, filled, formats=[name], out=tmp_path / "file" / "below"
            )


def test_progress_is_reported(settings: Settings, store: Store, shop: Shop, filled: int) -> None:
    """Progress is reported for every file."""
    messages: list[tuple[str, int, int | None]] = []
    report_shop(
        settings,
        store,
        shop,
        filled,
        progress=lambda what, done, total=None: messages.append((what, done, total)),
    )
    assert messages[-1] == ("report files", 4, 4)


def test_reports_load_no_classifier() -> None:
    """Writing a report loads neither SciPy nor scikit-learn, which take seconds and much memory."""
    heavy = "{'scipy', 'sklearn', 'polars', 'pandas'}"
    code = f"import sys, reports.write.report_files; print({heavy} & set(sys.modules))"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert result.stdout.strip() == "set()"
