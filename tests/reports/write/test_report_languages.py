"""Languages of the HTML report: no text without a translation, and the same figures in each language."""

import re
import zipfile
from functools import partial
from gettext import NullTranslations
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from catalog.language.languages import ENGLISH, Language, load_language
from catalog.models import PageState, ReviewDecision, RunState, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from reports.model.offer_details import read_offer_details
from reports.model.report_model import Report, build_report
from reports.write.html_report import write_html
from reports.write.report_files import report_shop
from reports.write.spreadsheets import write_xlsx

# Texts from outside are Cyrillic here, so that every Latin word is a text of Scout.
TITLE = "Товар"
# Names and units that are the same in every language, and begins of addresses.
UNTRANSLATED = re.compile(
    r"\b(Scout|EAN|SKU|HAN|EUR|USD|UTC|demo|k\d+|https?://\S+|127\.0\.0\.1)\b"
    r"|\b(January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
NUMBER = re.compile(r"\d[\d.,]*")


class MarkedTranslations(NullTranslations):
    """Translations that put each message in brackets, so that texts without one stand out."""

    def gettext(self, message: str) -> str:
        """Return the message in brackets."""
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """Return the form for a number in brackets."""
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"


MARKED = Language("en", MarkedTranslations())


@pytest.fixture
def report(fill: Any, store: Store, shop: Shop) -> Report:
    """Return a report with every part that a report can have."""
    before = fill.run(figures={"coverage": {"pages": 100, "fetched": 100}})
    for n in range(12):
        fill.finding(before, f"k{n}", price=20 + n)
    fill.finding(before, "lost", price=20, title=f"{TITLE} 0")
    run = fill.run(figures={"learn": {"version": 2, "drift": "some rules have drifted: read"}})
    for n in range(60):
        fill.listed(
            run,
            f"l{n}",
            price=10 + n,
            title=f"{TITLE} {n}",
            category="Сад",
            brand=f"М{n % 14}",
            ean="4006381333931",
            nearest={"price": 9, "title": f"Другое {n}"} if n < 3 else {},
        )
    fill.listed(run, "k11", price=31, title=f"{TITLE} 11")
    near = {"title": f"{TITLE} рядом", "price": 12}
    for n in range(10):
        fill.finding(
            run,
            f"k{n}",
            price=20 + n,
            title=f"{TITLE} к{n}",
            category="Кухня",
            sku=f"1-{n}",
            availability="out_of_stock" if n < 3 else "in_stock",
            nearest=near,
            reasons=["titles 63% alike", "price 12.50 in the shop, 13.00 in the catalog"],
        )
        fill.finding(run, f"d{n}", price=2000 + n, title=f"{TITLE} д{n}", category="Сад")
    fill.finding(run, "r", price=30, title=f"{TITLE} r", ean="4006381333948", category="Сад")
    fill.rejected_row("4006381333948;x", reason="has neither a title nor a link")
    fill.finding(run, "x", price=None, currency=None, title=f"{TITLE} x")
    fill.finding(run, "u", "unsure", price=3, score=0.5, title=f"{TITLE} u", nearest=near)
    fill.finding(run, "i", price=3, title=f"{TITLE} i")
    fill.decide("i", ReviewDecision.IGNORE, "Замечание")
    fill.decide("k0", ReviewDecision.ACCEPT)
    for n in range(24):
        fill.listed(run, f"v{n}", price=5 + n, title=f"{TITLE} в{n}", currency="USD")
    fill.catalog_offer("gone", title=TITLE, price=4)
    fill.page("gone", PageState.GONE, reason="http 404")
    fill.page("w", PageState.PENDING)
    for n, reason in enumerate(("robots.txt", "trap: endless 7", "soft 404", "dead link")):
        fill.page(f"f{n}", PageState.REFUSED, reason=reason)
    fill.page("k1", read_reason="like template 3")
    fill.save()
    return build_report(store, shop, run)


def write(report: Report, store: Store, language: Language, folder: Path) -> html.HtmlElement:
    """Write a report in a language and parse it."""
    path = folder / f"{language.code}.html"
    with store.read() as session:
        read_details = partial(read_offer_details, session, report.shop.id or 0)
        write_html(path, report, read_details, language)
    return html.fromstring(path.read_text("utf-8"))


def shown_texts(page: html.HtmlElement) -> list[str]:
    """Return all texts that a reader sees or hears: texts of elements and of attributes."""
    texts: list[str] = []
    for element in page.iter():
        if element.tag in ("script", "style", "code", html.etree.Comment):
            texts.append(element.tail or "")
            continue
        texts += [element.text or "", element.tail or ""]
        texts += [element.get(name) or "" for name in ("aria-label", "data-label", "placeholder")]
    return [text for text in texts if text.strip()]


def test_every_text_is_a_message(report: Report, store: Store, tmp_path: Path) -> None:
    """With every message in brackets, no Latin word stands outside of them."""
    page = write(report, store, MARKED, tmp_path)
    # A message may be cut by tags of its own: the texts are joined before brackets are removed.
    text = "\n".join(shown_texts(page))
    while True:
        shorter = re.sub(r"⟦[^⟦⟧]*⟧", "", text)
        if shorter == text:
            break
        text = shorter
    leftover = UNTRANSLATED.sub("", text)
    assert not re.findall(r".*[A-Za-z]{2,}.*", leftover)


def test_every_text_of_the_script_is_a_message(
    report: Report, store: Store, tmp_path: Path, browser_page: Any
) -> None:
    """Rows that the script draws, and the details of an opened one, have no other Latin word either."""
    write(report, store, MARKED, tmp_path)
    browser_page.goto((tmp_path / "en.html").as_uri() + "#missing?category=Кухня")
    browser_page.click("#missing .open")
    browser_page.wait_for_selector("#missing .detail")
    text = browser_page.inner_text("#missing")
    for part in ("⟦Values that were compared⟧", "⟦titles 63% alike⟧", "⟦in stock⟧"):
        assert part in text, part
    while "⟦" in text:
        text = re.sub(r"⟦[^⟦⟧]*⟧", "", text)
    assert not re.findall(r".*[A-Za-z]{2,}.*", UNTRANSLATED.sub("", text))


# Codes that the workbook has as the other formats do, and the name of the feed.
CODES = re.compile(
    r"\b(accept|reject|ignore|new|still|in_stock|out_of_stock|reappeared|resolved|csv|offers)\b"
)


def test_every_text_of_the_workbook_is_a_message(report: Report, tmp_path: Path) -> None:
    """With every message in brackets, sheets have no Latin word outside of them but codes and addresses."""
    path = tmp_path / "report.xlsx"
    write_xlsx(path, report, MARKED)
    texts: list[str] = []
    with zipfile.ZipFile(path) as book:
        names = html.etree.fromstring(book.read("xl/workbook.xml")).xpath("//*/@name")
        for name in book.namelist():
            if name.startswith("xl/worksheets/sheet"):
                sheet = html.etree.fromstring(book.read(name))
                texts += sheet.xpath("//*[local-name()='t']/text()")
    assert all(name.startswith("⟦") for name in names if not name.startswith("_"))
    assert len(texts) > 500
    for text in texts:
        while "⟦" in text:
            text = re.sub(r"⟦[^⟦⟧]*⟧", "", text)  # noqa: PLW2901
        leftover = CODES.sub("", UNTRANSLATED.sub("", text))
        assert not re.search("[A-Za-z]{2,}", leftover), text


def figures(page: html.HtmlElement, language: Language) -> dict[str, list[str]]:
    """Return the numbers that each section shows, written as a program would, in ascending order."""
    separators = str.maketrans(",.", ".," if language.code == "de" else ",.")
    sections: dict[str, list[str]] = {}
    for section in page.xpath("//section[@id] | //header"):
        numbers = []
        for text in shown_texts(section):
            # The address of the shop is no figure.
            for number in NUMBER.findall(UNTRANSLATED.sub("", text)):
                plain = number.rstrip(".,").translate(separators)
                numbers.append(plain.replace(",", ""))
        sections[section.get("id") or "head"] = sorted(numbers)
    return sections


def test_figures_are_the_same_in_each_language(
    report: Report, store: Store, tmp_path: Path
) -> None:
    """Each section of the German report has the numbers of the English one, and German texts."""
    german = load_language("de")
    pages = {language: write(report, store, language, tmp_path) for language in (ENGLISH, german)}
    english_figures, german_figures = (figures(page, language) for language, page in pages.items())
    assert len(english_figures) > 8
    assert german_figures == english_figures
    page = pages[german]
    assert page.get("lang") == "de"
    headline = " ".join(page.find(".//h1").text_content().split())
    assert headline == "22 von 108 Angeboten von demo fehlen im Katalog."
    assert "die ganze Kategorie „Кухня“ fehlt" in page.text_content()
    assert "2.009,00\N{NO-BREAK SPACE}€" in page.text_content()


def test_the_language_of_the_settings(
    fill: Any, settings: Settings, store: Store, shop: Shop
) -> None:
    """The report is in the language of the settings; evidence in the store has none."""
    run = fill.run(RunState.DONE)
    fill.finding(run, "a", price=3)
    fill.save()
    german = settings.model_copy(update={"language": "de"})
    for chosen, text in ((german, "der Katalog hat keine Angebote"), (settings, "the catalog has")):
        path = report_shop(chosen, store, shop, run, formats=["html"])["html"]
        assert text in path.read_text("utf-8")
