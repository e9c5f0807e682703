"""Writing: every format whole, the same facts in each, and nothing in a cell that could run."""

import csv
import io
import json
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from catalog.errors import StorageFull, StoreError, UsageError
from catalog.models import Shop, Word
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from reports.write import write
from reports.write.cell_escaping import row, safe
from reports.write.write import report_shop

DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
XLSX = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


@given(st.text())
def test_no_cell_begins_like_a_formula(text: str) -> None:
    """Whatever a stranger writes, a spreadsheet reads it as text, and the text itself is kept."""
    made = safe(text)
    assert not made.lstrip(" ").startswith(DANGEROUS)
    assert made.removeprefix("'") == text or made == text


@given(st.sampled_from(DANGEROUS), st.text())
def test_each_dangerous_beginning_is_disarmed(sign: str, text: str) -> None:
    """The signs that start a formula get an apostrophe in front, behind blanks as well."""
    assert safe(sign + text) == f"'{sign}{text}"
    assert safe(f"  {sign}{text}").startswith("'")


def test_numbers_of_our_own_stay_numbers() -> None:
    """A negative difference is no formula."""
    assert row([-0.2, Decimal(-3), None, "-3"]) == [-0.2, Decimal(-3), None, "'-3"]


@pytest.fixture
def filled(fill: Any) -> int:
    """A run with something in every part of the report, hostile texts among it; gives its id."""
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
    fill.found(
        run,
        "m1",
        title='=HYPERLINK("http://evil.example";"x")',
        price="1299.90",
        brand="@Brand",
        sku="-1+1",
    )
    fill.found(
        run,
        "m2",
        title="<script>alert(1)</script>",
        price=5,
        category='"><img src=x onerror=alert(1)>',
    )
    fill.found(
        run, "m3", price=7, currency="CHF", nearest={"title": "Near", "url": "javascript:alert(1)"}
    )
    fill.found(run, "u", "unsure", price=3, score=0.5, nearest={"title": "Almost"})
    fill.found(run, "i", price=3)
    fill.word("i", Word.IGNORE, "+seasonal")
    fill.known("gone", title="Gone", price=4)
    fill.bad("a;b;c")
    fill.page("m1")
    fill.page("x", reason="=1+1")
    fill.save()
    return run


def test_all_formats_tell_the_same(
    settings: Settings, store: Store, shop: Shop, filled: int
) -> None:
    """CSV, XLSX and JSON hold every finding; JSON has the shape that docs/reports.md promises."""
    paths = report_shop(settings, store, shop, filled)
    assert set(paths) == {"html", "csv", "xlsx", "json"}
    assert (
        paths["html"]
        == settings.data_dir / "reports" / f"{shop.id}-demo" / str(filled) / "report.html"
    )
    told = json.loads(paths["json"].read_text("utf-8"))
    assert set(told) == {
        "format", "shop", "run", "told_at", "superseded", "rules", "totals", "coverage", "by_category", "by_price_band",
        "by_price_band_elsewhere", "other_currencies",
        "without_price", "by_brand", "causes", "trend", "feed", "missing", "unsure", "ignored",
        "price_differences", "title_differences", "not_seen_on_the_shop",
    }  # fmt: skip
    assert told["totals"]["missing"] == len(told["missing"]) == 3
    assert told["missing"][0]["price"] == "1299.90"
    assert told["missing"][0]["title"] == '=HYPERLINK("http://evil.example";"x")'
    rows = list(csv.DictReader(io.StringIO(paths["csv"].read_text("utf-8"))))
    assert [line["verdict"] for line in rows].count("missing") == 3
    assert {line["url"] for line in rows} == {
        one["url"] for name in ("missing", "unsure", "ignored") for one in told[name]
    }
    assert rows[0]["title"].startswith("'=HYPERLINK")
    assert not [cell for line in rows for cell in line.values() if cell.startswith(DANGEROUS)]


def test_the_workbook_has_no_formula_and_no_link(
    settings: Settings, store: Store, shop: Shop, filled: int
) -> None:
    """Every sheet has a frozen header and a filter; texts are texts, prices numbers."""
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


def test_a_report_is_whole_or_not_there(
    settings: Settings,
    store: Store,
    shop: Shop,
    filled: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A writer that fails half way leaves the report of before, and no half file."""
    out = tmp_path / "out"
    before = report_shop(settings, store, shop, filled, formats=["csv"], out=out)[
        "csv"
    ].read_bytes()

    def full(path: Path, story: object) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(write._WRITERS, "csv", full)
    with pytest.raises(StorageFull, match="free some"):
        report_shop(settings, store, shop, filled, formats=["csv"], out=out)
    assert [path.name for path in out.iterdir()] == ["report.csv"]
    assert (out / "report.csv").read_bytes() == before


def test_errors_say_what_to_do(
    settings: Settings, store: Store, shop: Shop, filled: int, tmp_path: Path
) -> None:
    """An unknown format, and a folder that is none, are one clear line."""
    with pytest.raises(UsageError, match="choose of html, csv, xlsx, json"):
        report_shop(settings, store, shop, filled, formats=["pdf"])
    (tmp_path / "file").write_text("")
    for name in write.FORMATS:
        with pytest.raises(StoreError, match="cannot be written"):
            report_shop(
                settings, store, shop, filled, formats=[name], out=tmp_path / "file" / "below"
            )


def test_progress_is_told(settings: Settings, store: Store, shop: Shop, filled: int) -> None:
    """Whoever listens hears of every file."""
    heard: list[tuple[str, int, int | None]] = []
    report_shop(
        settings,
        store,
        shop,
        filled,
        progress=lambda what, done, total=None: heard.append((what, done, total)),
    )
    assert heard[-1] == ("report files", 4, 4)
