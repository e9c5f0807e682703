"""Pages in another language as a cause: from the crawl to the report, on a small shop."""

import csv
import json
from pathlib import Path

from catalog.runtime.settings import Settings
from tests.pages import Product, products
from tests.scout.conftest import Scout

ROOT = "http://shop.example/"
GERMAN = 24
ENGLISH = 12


def _page(product: Product, language: str) -> str:
    button = {"de": "In den Warenkorb", "en": "Add to cart"}[language]
    return (
        f'<!doctype html><html lang="{language}-GB"><head><title>{product.title}</title>'
        f'<link rel="alternate" hreflang="{language}" href="{_url(product)}"></head><body>'
        f'<div class="product"><h1 class="headline">{product.title}</h1>'
        f'<p class="cost">{product.price} €</p><p class="number">{product.sku}</p>'
        f'<p class="maker">{product.brand}</p><button>{button}</button></div></body></html>'
    )


def _url(product: Product) -> str:
    return f"{ROOT}p{product.number}.html"


def test_pages_in_another_language(scout: Scout, settings: Settings, tmp_path: Path) -> None:
    """The feed has the German offers only: the missing ones are explained by the language of their pages."""
    folder = tmp_path / "pages"
    folder.mkdir()
    shown = products(GERMAN + ENGLISH)
    for product in shown:
        language = "de" if product.number < GERMAN else "en"
        (folder / f"p{product.number}.html").write_text(_page(product, language), "utf-8")
    feed = tmp_path / "feed.csv"
    with feed.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "link", "title", "price", "brand", "sku"])
        for product in shown[:GERMAN]:
            row = (product.number, _url(product), product.title, f"{product.price} EUR")
            writer.writerow([*row, product.brand, product.sku])
    assert scout("shop", "add", "small", "--url", ROOT).code == 0
    assert scout("catalog", "import", "small", str(feed)).code == 0
    assert scout("crawl", "small", "--from", str(folder)).code == 0
    for stage in ("learn", "parse", "match"):
        assert scout(stage, "small").code == 0, stage
    assert scout("report", "small", "--format", "json").code == 0
    (path,) = settings.data_dir.glob("reports/*/*/report.json")
    report = json.loads(path.read_text("utf-8"))
    assert (report["totals"]["listed"], report["totals"]["missing"]) == (GERMAN, ENGLISH)
    cause = report["causes"][0]
    assert (cause["cause"], cause["missing"]) == ("page in another language", ENGLISH)
    assert "language “en”" in cause["evidence"][0]["text"]
