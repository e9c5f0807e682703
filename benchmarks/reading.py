"""Pages per second: the whole reading beside a bare parse of the same engine, extruct and autoscraper, in one run.

    python -m benchmarks.reading DATA_DIR [--pages N] [--shops N] [--taught N] [--rules N]

DATA_DIR holds labelled shops (`SHOP.tar.xz` or `SHOP/` with `pages/` and `truth.jsonl`). For each, rules are learnt
from the first pages and the others are read as `scout parse` does: from the bytes of a page that was crawled to its
offer with all votes, gate included. So that the gate has work to do as on a crawled shop, other shops' pages serve as
those that are no offers, without the structured data that those have not either: gates learnt from whole crawls of six
of these shops look at names and data only. Shops whose rules are fewer than `--rules` are given general ones until they
have as many. autoscraper learns from the same pages, and reads the same ones after the others: its trees fill memory,
which would slow them.
"""

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from benchmarks.measure import Clock, race
from catalog.html import decode
from catalog.models import Attribute
from catalog.runtime.processes import settle
from catalog.values import Hint, fields
from parser.compiled_rules import Plan
from parser.crawled_pages import CrawledPage
from parser.page.document import Document
from parser.rules.model import Rule, RuleSet
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, TextAt
from rules_generator.evaluation.ablated_pages import seen_as
from rules_generator.evaluation.corpus import LabelledPage, LabelledShop, open_shop, shop_paths
from rules_generator.induction.induce import induce
from rules_generator.training.examples import Example
from rules_generator.training.training_example import Taught

PARSE = "bare parse"
READ = "Scout, whole reading"
EXTRUCT = "extruct"
AUTOSCRAPER = "autoscraper"
TARGETS = {PARSE: 0.5, EXTRUCT: 1.5, AUTOSCRAPER: 15.0}
GENERAL: tuple[tuple[Attribute, AnySelector], ...] = (
    (Attribute.TITLE, TextAt(css="h1")),
    (Attribute.TITLE, AttributeAt(css='meta[property="og:title"]', name="content")),
    (
        Attribute.TITLE,
        JsonAt(css='script[type="application/ld+json"]', block="ld+json Product", path="$.name"),
    ),
    (Attribute.PRICE, AttributeAt(css='meta[property="product:price:amount"]', name="content")),
    (Attribute.PRICE, AttributeAt(css='meta[itemprop="price"]', name="content")),
    (Attribute.PRICE, TextAt(css='span[itemprop="price"]')),
    (Attribute.CURRENCY, AttributeAt(css='meta[itemprop="priceCurrency"]', name="content")),
    (Attribute.IMAGE, AttributeAt(css='meta[property="og:image"]', name="content")),
    (Attribute.IMAGE, AttributeAt(css='link[rel="image_src"]', name="href")),
    (Attribute.BRAND, TextAt(css='span[itemprop="brand"]')),
    (Attribute.SKU, TextAt(css='span[itemprop="sku"]')),
    (Attribute.EAN, AttributeAt(css='meta[itemprop="gtin13"]', name="content")),
    (Attribute.HAN, TextAt(css='span[itemprop="mpn"]')),
    (Attribute.AVAILABILITY, AttributeAt(css='link[itemprop="availability"]', name="href")),
    (Attribute.DESCRIPTION, AttributeAt(css='meta[name="description"]', name="content")),
    (Attribute.CATEGORY, TextAt(css="nav.breadcrumb")),
)


@dataclass(frozen=True)
class Page:
    """A page as each rival wants it."""

    body: bytes
    text: str
    url: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print; 0 where every target that could be measured is reached."""
    words = _words(arguments)
    shops = [open_shop(path) for path in shop_paths(words.data)[: words.shops]]
    extruct, taught_autoscraper = _extruct(), _autoscraper()
    clocks = {name: Clock() for name in (PARSE, READ, EXTRUCT, AUTOSCRAPER)}
    counts = []
    for shop in shops:
        rules = _filled(_learnt(shop, shops, words.taught), words.rules)
        counts.append(
            sum(len(template.rules) for template in rules.templates) / len(rules.templates)
        )
        plan = Plan(rules)
        pages = [Page(one.html, decode(one.html), one.url) for one in shop.testing[: words.pages]]
        rivals: dict[str, Callable[[Page], object]] = {
            PARSE: lambda page: LexborHTMLParser(page.text),
            READ: lambda page, plan=plan: plan.read(Document(page.body, page.url, trusted=True)),  # type: ignore[misc]
        }
        if extruct:
            rivals[EXTRUCT] = extruct
        settle()
        race(pages, rivals, clocks)
        if taught_autoscraper:
            race(pages, {AUTOSCRAPER: taught_autoscraper(shop.training[: words.taught])}, clocks)
        print(f"{shop.name}: {len(pages)} pages", file=sys.stderr)
    size = sum(len(one.html) for shop in shops for one in shop.testing[: words.pages]) / max(
        1, clocks[PARSE].pages
    )
    print(
        f"{clocks[PARSE].pages} pages of {len(shops)} shops, {size / 1000:.0f} KB on average, "
        f"{sum(counts) / len(counts):.0f} rules a template"
    )
    return _told(clocks)


def _words(arguments: Sequence[str] | None) -> argparse.Namespace:
    reader = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    reader.add_argument("data", type=Path, metavar="DATA_DIR")
    reader.add_argument("--pages", type=int, default=100, help="at most so many pages a shop")
    reader.add_argument("--shops", type=int, default=None, help="at most so many shops")
    reader.add_argument("--taught", type=int, default=10, help="pages that rules are learnt from")
    reader.add_argument("--rules", type=int, default=30, help="rules that each shop has at least")
    return reader.parse_args(arguments)


def _learnt(shop: LabelledShop, shops: Sequence[LabelledShop], most: int) -> RuleSet:
    taught = [taught_by(page) for page in shop.training[:most]]
    others = (page for other in shops if other is not shop for page in other.training[:2])
    no_offers = [Document(seen_as(decode(page.html), "nosd"), page.url) for page in others]
    return induce(taught, [one.document for one in taught] + no_offers)[0]


def taught_by(page: LabelledPage) -> Taught:
    """A labelled page as an example, opened from its bytes, as a crawled one is: decoded, it would be held twice."""
    values = {
        Attribute(name): value for name, value in page.attributes.items() if name in set(Attribute)
    }
    values.pop(Attribute.CURRENCY, None)
    offer = fields(values, Hint(base_url=page.url), url=page.url, currency=page.currency)
    return Taught(
        Example.of(CrawledPage(0, page.url, None, page.name), offer), Document(page.html, page.url)
    )


def _filled(rules: RuleSet, least: int) -> RuleSet:
    filled = []
    for template in rules.templates:
        there = {(rule.attribute, rule.selector) for rule in template.rules}
        spare = (
            Rule(attribute=name, selector=one, score=0.3)
            for name, one in GENERAL
            if (name, one) not in there
        )
        more = islice(spare, max(0, least - len(template.rules)))
        filled.append(template.model_copy(update={"rules": (*template.rules, *more)}))
    return rules.model_copy(update={"templates": tuple(filled)})


def _extruct() -> Any:
    extruct = _peer("extruct")
    if extruct is None:
        return None
    syntaxes = ["json-ld", "microdata", "opengraph"]
    return lambda page: extruct.extract(
        page.text, base_url=page.url, syntaxes=syntaxes, errors="ignore"
    )


def _autoscraper() -> Any:
    """From labelled pages to a function that reads a page by what autoscraper has learnt from them."""
    autoscraper = _peer("autoscraper")
    if autoscraper is None:
        return None

    def taught(pages: Sequence[LabelledPage]) -> Callable[[Page], object]:
        scraper = autoscraper.AutoScraper()
        for page in pages:
            wanted = {
                name: [text]
                for name, value in page.attributes.items()
                for text in islice(_texts(value), 1)
            }
            scraper.build(html=decode(page.html), wanted_dict=wanted, update=True)
        return lambda page: scraper.get_result_exact(html=page.text, group_by_alias=True)

    return taught


def _texts(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value]:
        if one:
            yield str(one)


def _peer(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        print(
            f"{name} is not installed and is left out: pip install -r requirements/bench.txt",
            file=sys.stderr,
        )
        return None


def _told(clocks: dict[str, Clock]) -> int:
    reached = True
    print(f"\n{'':24}{'pages/s':>9}{'ms/page':>9}{'Scout is':>12}{'wanted':>9}")
    for name, clock in clocks.items():
        if not clock.pages:
            print(f"{name:24}{'not installed':>18}")
            continue
        ratio = clocks[READ].rate / clock.rate
        wanted = TARGETS.get(name)
        reached &= wanted is None or ratio >= wanted
        said = f"{ratio:11.2f}x{f'{wanted}x' if wanted else '':>9}"
        print(f"{name:24}{clock.rate:9.0f}{1000 / clock.rate:9.2f}{said}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
