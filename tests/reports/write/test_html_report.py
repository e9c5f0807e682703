"""HTML report: safe with hostile texts, self-contained, accessible, shortened, and working in a real browser."""

import base64
import csv
import hashlib
import json
import re
import subprocess
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from catalog.models import PageState, ReviewDecision, Shop, ShopOffer
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from reports.write import html_report
from reports.write.report_files import report_shop
from tests.reports.write.conftest import CHROMIUM

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def filled(fill: Any) -> int:
    """Fill a run in which every text from outside is hostile."""
    before, run = fill.run(), fill.run()
    fill.finding(before, "m1")
    for n in range(30):
        fill.listed(
            run,
            f"l{n}",
            price=10 + n,
            category="Garden",
            brand=f"B{n % 3}",
            nearest={"price": 9} if n < 3 else {},
        )
    fill.listed(run, "t", title=f"{EVIL} lamp", nearest={"title": f"Article {EVIL}"})
    near = {"title": f"Near {EVIL}", "url": "javascript:alert(1)"}
    for n in range(8):
        hostile = {
            "title": f"{n} {EVIL}",
            "brand": f'"{EVIL}',
            "category": f"'{EVIL} > {EVIL}",
            "sku": EVIL,
            "ean": EVIL,
        }
        fill.finding(
            run,
            f"m{n}",
            price=10 + n,
            nearest=near,
            images=["https://img.example/a.jpg"],
            **hostile,
        )
    fill.finding(run, "javascript://x", title="javascript:alert(2)", price=2)
    fill.finding(run, "u", "unsure", price=3, score=0.5, nearest=near)
    fill.finding(run, "i", price=3)
    fill.decide("i", ReviewDecision.IGNORE, EVIL)
    fill.decide("m1", ReviewDecision.ACCEPT, EVIL)
    fill.catalog_offer("gone", title=EVIL, price=4)
    fill.page("gone", PageState.GONE, reason=EVIL)
    fill.page("f", PageState.FAILED, reason=EVIL)
    fill.rejected_row(EVIL, EVIL)
    fill.save()
    return run


@pytest.fixture
def written(settings: Settings, store: Store, shop: Shop, filled: int) -> Path:
    """Write the report of that run."""
    return report_shop(settings, store, shop, filled, formats=["html"])["html"]


def test_hostile_texts_stay_texts(written: Path) -> None:
    """The only script is the one whose hash the content security policy names; titles are shown as text."""
    tree = html.fromstring(written.read_text("utf-8"))
    (script,) = tree.xpath("//script[not(@type='text/plain')]")
    policy = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert not [name for element in tree.iter() for name in element.attrib if name.startswith("on")]
    assert EVIL in tree.xpath("string(//section[@id='missing']//tbody)")


def test_nothing_is_loaded_from_anywhere(written: Path) -> None:
    """Nothing is loaded; links lead to http(s) only and send no referrer."""
    tree = html.fromstring(written.read_text("utf-8"))
    assert not tree.xpath(
        "//*[@src or @srcset or @background or @poster or @data] | //link | //img | //iframe | //object"
    )
    assert "url(" not in tree.xpath("string(//style)")
    assert "@import" not in tree.xpath("string(//style)")
    for link in tree.xpath("//*[@href]"):
        target = link.get("href")
        assert link.tag == "a"
        if not target.startswith("#"):
            assert target.startswith(("http://", "https://"))
            assert link.get("rel") == "noopener noreferrer nofollow"
    fragments = {link[1:].split("?")[0] for link in tree.xpath("//a/@href") if link.startswith("#")}
    assert fragments <= set(tree.xpath("//@id"))


def test_the_answer_comes_first_and_coverage_goes_with_each_figure(written: Path) -> None:
    """The headline is the answer, and each section with figures states the coverage of the crawl."""
    tree = html.fromstring(written.read_text("utf-8"))
    (headline,) = tree.xpath("//h1")
    assert (
        " ".join(headline.text_content().split())
        == "9 of 41 offers of demo are missing from the catalog."
    )
    assert tree.xpath("string(//header//section[2]//h2)") == "Coverage of the crawl"
    for section in ("where", "why", "missing", "unsure", "feed"):
        assert tree.xpath(f"//section[@id='{section}']//p[@class='coverage']"), section


def test_it_can_be_read_by_everyone(written: Path) -> None:
    """Tables have captions and column headers, drawings a text, heading levels no gap, ids no duplicate."""
    tree = html.fromstring(written.read_text("utf-8"))
    assert tree.get("lang") == "en"
    assert not [table for table in tree.xpath("//table") if not table.xpath("./caption")]
    assert not tree.xpath("//th[not(@scope)]")
    assert not [
        drawing for drawing in tree.xpath("//svg") if not (drawing.get("aria-label") or "").strip()
    ]
    assert not tree.xpath("//input[not(ancestor::label)] | //select[not(ancestor::label)]")
    levels = [int(heading.tag[1]) for heading in tree.xpath("//h1 | //h2 | //h3 | //h4")]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = tree.xpath("//@id")
    assert len(ids) == len(set(ids))


def test_colours_have_contrast() -> None:
    """Text has a contrast of at least 4.5 to 1 to its background, in light and dark mode (WCAG 2.2, 1.4.3)."""
    schemes = html_report._static_file("report.css").split(
        "@media screen and (prefers-color-scheme: dark)"
    )
    for scheme in schemes[:2]:
        colours = dict(re.findall(r"--(\w+): (#\w+);", scheme.split("}")[0]))
        for text in ("ink", "soft", "link", "bad", "missing"):
            for ground in ("paper", "card"):
                light, dark = sorted(
                    (_luminance(colours[text]), _luminance(colours[ground])), reverse=True
                )
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground)


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[index : index + 2], 16) / 255 for index in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_a_long_list_is_shortened_and_says_so(
    settings: Settings, store: Store, shop: Shop, filled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long list shows the most valuable offers and names the files with all of them."""
    monkeypatch.setattr(html_report, "MAX_OFFERS", 4)
    path = report_shop(settings, store, shop, filled, formats=["html"])["html"]
    section = html.fromstring(path.read_text("utf-8")).get_element_by_id("missing")
    assert len(section.xpath(".//tbody/tr")) == 4
    assert (
        "The 4 most valuable of 9 missing offers; all of them are in the CSV"
        in section.text_content()
    )


def test_a_run_that_found_nothing_has_a_page(
    settings: Settings, store: Store, shop: Shop, fill: Any
) -> None:
    """A run without offers, pages and catalog gives a page that says so."""
    path = report_shop(settings, store, shop, fill.run(), formats=["html"])["html"]
    assert "No offer was found on the pages of" in path.read_text("utf-8")


def test_a_complete_catalog_is_good_news(
    settings: Settings, store: Store, shop: Shop, fill: Any
) -> None:
    """If no offer is missing, the headline says so."""
    run = fill.run()
    fill.listed(run, "a", price=3)
    fill.save()
    path = report_shop(settings, store, shop, run, formats=["html"])["html"]
    assert "The catalog lacks <strong>none</strong> of the 1 offers" in path.read_text("utf-8")


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")
def test_a_real_browser_runs_our_script_and_nothing_else(written: Path, tmp_path: Path) -> None:
    """In Chromium the filters appear (so the policy admits our script), no policy is violated, and the page is drawn."""
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    flags += (
        " --disable-component-update --disable-sync --enable-logging=stderr --window-size=1280,1600"
    )
    command = [str(CHROMIUM), *flags.split(), f"--user-data-dir={tmp_path / 'profile'}"]
    drawing = tmp_path / "page.png"
    outputs = [
        subprocess.run(
            [*command, option, written.as_uri()],
            capture_output=True,
            text=True,
            timeout=90,
            check=True,
        )
        for option in ("--dump-dom", f"--screenshot={drawing}")
    ]
    tree = html.fromstring(outputs[0].stdout)
    assert tree.xpath("//form[@class='tools'][not(@hidden)]")
    assert tree.xpath("//th/button")
    assert "Content Security Policy" not in outputs[0].stderr
    assert "Uncaught" not in outputs[0].stderr
    assert drawing.stat().st_size > 30_000


def test_a_crawl_that_saw_less_than_before_has_an_amber_head(
    fill: Any, settings: Settings, store: Store, shop: Shop
) -> None:
    """Where coverage fell the head is marked and says so; where it did not, it is not."""
    before = fill.run(figures={"coverage": {"pages": 100, "fetched": 100}})
    fill.finding(before, "m0", price=5)
    run = fill.run()
    fill.finding(run, "m0", price=5)
    fill.page("m0")
    fill.save()
    intact = report_shop(settings, store, shop, run, formats=["html"])["html"]
    assert "doubtful" not in html.fromstring(intact.read_text("utf-8")).find(".//header").get(
        "class"
    )
    for n in range(3):
        fill.page(f"w{n}", PageState.PENDING)
    fill.save()
    fallen = report_shop(settings, store, shop, run, formats=["html"])["html"]
    head = html.fromstring(fallen.read_text("utf-8")).find(".//header")
    assert "doubtful" in head.get("class")
    assert "saw less of the shop than the one before" in head.text_content()


def test_causes_are_the_same_in_every_format(
    fill: Any, settings: Settings, store: Store, shop: Shop
) -> None:
    """Each cause stands with its evidence in HTML, JSON, CSV and the workbook, ranked alike."""
    run = fill.run()
    for n in range(60):
        fill.listed(run, f"l{n}", price=10 + n, category="Garden")
    for n in range(10):
        fill.finding(run, f"k{n}", price=20 + n, category="Kitchen")
        fill.finding(run, f"d{n}", price=2000 + n, category="Garden")
    fill.finding(run, "r", price=30, category="Garden")
    fill.save()
    paths = report_shop(settings, store, shop, run)
    causes = json.loads(paths["json"].read_text("utf-8"))["causes"]
    evidence = [cause["evidence"][0]["text"] for cause in causes]
    assert [cause["cause"] for cause in causes] == [
        "price band absent from the feed",
        "category absent from the feed",
        "not in the feed",
    ]
    assert causes[0]["group"]["missing_share"] == 1
    assert causes[0]["group"]["p_value"] < 0.001
    page = html.fromstring(paths["html"].read_text("utf-8"))
    shown = [
        " ".join(item.text_content().split()) for item in page.cssselect("ol.causes .evidence")
    ]
    for sentence, item in zip(evidence, shown, strict=True):
        assert item.startswith(sentence)
    rows = list(csv.DictReader(paths["csv"].open(encoding="utf-8")))
    assert {row["evidence"] for row in rows if row["verdict"] == "missing"} == set(evidence)
    with zipfile.ZipFile(paths["xlsx"]) as book:
        texts = "".join(book.read(name).decode() for name in book.namelist() if "sheet" in name)
    assert all(sentence in texts for sentence in evidence)


def test_the_report_says_that_no_pattern_was_found(
    fill: Any, settings: Settings, store: Store, shop: Shop
) -> None:
    """Where no group is a cause the report says that no pattern was found."""
    run = fill.run()
    for n in range(30):
        fill.listed(run, f"l{n}", price=10 + n)
    fill.finding(run, "m", price=20)
    fill.save()
    path = report_shop(settings, store, shop, run, formats=["html"])["html"]
    assert "No pattern found" in path.read_text("utf-8")


@pytest.fixture
def large_report(fill: Any, settings: Settings, store: Store, shop: Shop) -> Path:
    """Write a report with more missing offers than the page draws, some with an explanation."""
    before, run = fill.run(), fill.run()
    fill.finding(before, "g0", price=5)
    for n in range(40):
        fill.listed(run, f"l{n}", price=10 + n, category="Garden > Mowers", brand="Acme")
    for n in range(130):
        category = "Garden > Mowers" if n % 2 else "Garden > Hoses"
        brand = f"Brand {n % 5}" if n % 10 else None
        fill.finding(run, f"g{n}", price=5 + n, category=category, brand=brand)
    evidence = [
        {"kind": "price", "speaks": "against", "weight": -1.5},
        {"kind": "title", "speaks": "for", "weight": 0.5},
    ]
    candidate = {
        "ref": "K1",
        "title": "Lamp small",
        "url": "https://shop.example/k",
        "score": 0.1,
        "weights": {"rare words": 1.25},
    }
    fill.finding(
        run,
        "k",
        price=9000,
        title="=1+1 lamp",
        category="Kitchen",
        reasons=["prices differ"],
        why={"evidence": evidence, "candidates": [candidate]},
        nearest={"title": "Lamp small", "price": 2},
    )
    fill.finding(run, "x", price=None, category="Kitchen", currency=None)
    fill.finding(run, "n", price=7, currency="USD", title="-2+3")
    fill.page("k", id=1, body="5f3a")
    fill.save()
    readings = {"price": {"weight": 0.9, "votes": 4, "raw": "9.000,00 €", "rule": "b.price"}}
    with store.write() as session:
        session.add(ShopOffer(shop_id=shop.id or 0, page_id=1, readings=readings))
    return report_shop(settings, store, shop, run, formats=["html"])["html"]


def test_every_figure_leads_to_its_rows(browser_page: Any, large_report: Path) -> None:
    """A figure's link filters the list to as many rows as the figure says."""
    browser_page.goto(large_report.as_uri())
    browser_page.wait_for_selector("#missing .open")
    links = browser_page.eval_on_selector_all(
        "a.rows-link[href^='#missing']",
        "links => links.map((link) => [link.getAttribute('href'), link.textContent])",
    )
    names = {href.partition("?")[2].partition("=")[0] for href, _ in links}
    assert {"category", "brand", "price", "cause", "change"} <= names
    for href, figure in links:
        browser_page.evaluate("address => { location.hash = address; }", href)
        browser_page.wait_for_function(
            "text => document.querySelector('#missing output').textContent.startsWith(text)",
            arg=f"{figure} of 133 offers",
            timeout=5000,
        )


def test_the_address_keeps_filters_and_order(browser_page: Any, large_report: Path) -> None:
    """Filters and the order of rows are read from the address, and written to it."""
    address = "#missing?category=Garden&brand=brand+3&price=50-100&sort=-title"
    browser_page.goto(large_report.as_uri() + address)
    browser_page.wait_for_selector("#missing .open")
    titles = browser_page.locator("#missing tbody [data-field=title]").all_text_contents()
    assert titles == [f"Offer g{n}" for n in range(93, 47, -5)]
    # At the width of a phone, too, the headings are there to sort by.
    browser_page.click("#missing th[data-key=price] button")
    browser_page.select_option("#missing select[name=category]", "Garden > Hoses")
    assert "category=Garden+%3E+Hoses" in browser_page.url
    assert "sort=price" in browser_page.url


def test_more_rows_are_drawn_on_demand(browser_page: Any, large_report: Path) -> None:
    """The list draws a hundred rows, and more when asked; on paper it has all."""
    browser_page.goto(large_report.as_uri())
    browser_page.wait_for_selector("#missing .open")
    rows = browser_page.locator("#missing tbody tr")
    assert rows.count() == 100
    browser_page.click("#missing [data-action=more]")
    assert rows.count() == 133
    browser_page.click("#missing [type=reset]")
    browser_page.wait_for_function(
        "() => document.querySelectorAll('#missing tbody tr').length === 100"
    )
    browser_page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert rows.count() == 133


def test_the_filtered_rows_can_be_downloaded(
    browser_page: Any, large_report: Path, tmp_path: Path
) -> None:
    """The download has the rows of the filters, without a network, and no cell is a formula."""
    browser_page.goto(large_report.as_uri() + "#missing?category=Kitchen")
    browser_page.wait_for_selector("#missing .open")
    with browser_page.expect_download() as download:
        browser_page.click("#missing [data-action=download]")
    download.value.save_as(tmp_path / "rows.csv")
    rows = list(csv.DictReader((tmp_path / "rows.csv").open(encoding="utf-8", newline="")))
    assert [row["title"] for row in rows] == ["'=1+1 lamp", "Offer x"]
    assert [row["price"] for row in rows] == ["9000", ""]
    assert {row["verdict"] for row in rows} == {"missing"}


def test_a_row_opens_to_its_details(browser_page: Any, large_report: Path) -> None:
    """An opened row shows both values, the nearest offers, and the evidence with its weights."""
    browser_page.goto(large_report.as_uri() + "#missing?text=lamp")
    browser_page.click("#missing .open")
    browser_page.wait_for_selector("#missing .detail")
    text = " ".join(browser_page.inner_text("#missing .detail").split())
    for part in ("9,000.00", "Lamp small", "K1", "prices differ", "−1.50", "+0.50", "none yet"):
        assert part in text
    for part in ("confidence 90.0%, rules: 4", "“9.000,00 €”", "rule: b.price", "snapshot 5f3a"):
        assert part in text
    browser_page.click("#missing .candidates summary")
    assert "+1.25" in browser_page.inner_text("#missing .candidates")
    # A file on a disk has no application beside it.
    assert browser_page.locator("#missing .detail a[href*=snapshots]").count() == 0
    browser_page.click("#missing .open")
    assert browser_page.locator("#missing .detail").count() == 0


def test_table_heads_are_repeated_on_paper(browser_page: Any, large_report: Path) -> None:
    """On paper no table head has a button, for Chromium would not repeat it on every page."""
    browser_page.goto(large_report.as_uri())
    browser_page.wait_for_selector("#missing .open")
    browser_page.emulate_media(media="print")
    heading = browser_page.locator("#missing th[data-key=price]")
    assert heading.inner_text() == "Price"
    assert not heading.locator("button").is_visible()
    assert heading.locator("xpath=../..").evaluate("head => getComputedStyle(head).display") == (
        "table-header-group"
    )
