"""Pages per second of the whole reading, beside a bare parse, extruct and autoscraper in one run.

    python -m benchmarks.reading DATA_DIR [--pages N] [--shops N] [--examples N] [--rules N]

DATA_DIR holds labelled shops (`SHOP.tar.xz` or `SHOP/` with `pages/` and `truth.jsonl`). For each
shop, rules are learnt from the first pages. The others are read as `scout parse` does: from the
bytes of a crawled page to its offer with the votes, template matching included. Other shops' pages
serve as background, so that template matching has signatures as on a crawled shop. Their structured
data are removed: on six of these shops, signatures learnt from whole crawls hold names and data
only. Shops with fewer rules than `--rules` get general ones until they have as many. autoscraper
learns from the same pages, and reads after the others: its trees fill memory, which would slow
them.
"""

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from benchmarks.measure import Clock, measure_alternately
from catalog.html import decode_html
from catalog.models import Attribute
from catalog.runtime.garbage_collection import tune_gc
from catalog.values import Hint, make_offer
from parser.compiled_rules import CompiledRules
from parser.crawled_pages import CrawledPage
from parser.page.document import Document
from parser.rules.model import Rule, RuleSet
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, TextAt
from parser.scripts.script_cache import ScriptCache
from rules_generator.evaluation.ablated_pages import ablate_page
from rules_generator.evaluation.corpus import open_shop, shop_paths
from rules_generator.evaluation.labelled_shop import LabelledPage, LabelledShop
from rules_generator.induction.inducer import induce
from rules_generator.training.examples import Example, TrainingExample

PARSE = "bare parse"
READ = "Scout, whole reading"
EXTRUCT = "extruct"
AUTOSCRAPER = "autoscraper"
# Ratios of Scout's rate to those of the others that a run has to reach.
TARGETS = {PARSE: 0.5, EXTRUCT: 1.7, AUTOSCRAPER: 15.0}
# Score of the general rules: they vote, but do not outvote learnt ones.
GENERAL_SCORE = 0.3
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
    """A page as bytes and as text, as the readers need it."""

    body: bytes
    text: str
    url: str


def main(command_line: Sequence[str] | None = None) -> int:
    """Run and print; return 0 if every target that could be measured is reached."""
    arguments = _parse_arguments(command_line)
    shops = [open_shop(path) for path in shop_paths(arguments.data)[: arguments.shops]]
    extruct, train_autoscraper = _extruct(), _autoscraper()
    clocks = {name: Clock() for name in (PARSE, READ, EXTRUCT, AUTOSCRAPER)}
    counts: list[int] = []
    sizes: list[int] = []
    for shop in shops:
        rules = _fill_up(_learn(shop, shops, arguments.examples), arguments.rules)
        counts += [len(template.rules) for template in rules.templates]
        pages = [
            Page(page.html, decode_html(page.html), page.url)
            for page in shop.testing[: arguments.pages]
        ]
        sizes += [len(page.body) for page in pages]
        readers: dict[str, Callable[[Page], object]] = {
            PARSE: lambda page: LexborHTMLParser(page.text),
            READ: _scout(rules),
        }
        if extruct:
            readers[EXTRUCT] = extruct
        tune_gc()
        measure_alternately(pages, readers, clocks)
        if train_autoscraper:
            autoscraper = train_autoscraper(shop.training[: arguments.examples])
            measure_alternately(pages, {AUTOSCRAPER: autoscraper}, clocks)
        print(f"{shop.name}: {len(pages)} pages", file=sys.stderr)
    print(
        f"{clocks[PARSE].pages} pages of {len(shops)} shops, {mean(sizes) / 1000:.0f} KB on average, "
        f"{mean(counts):.0f} rules a template"
    )
    return _print_rates(clocks)


def _scout(rules: RuleSet) -> Callable[[Page], object]:
    """Return a function that reads a page as `scout parse` does; pages share one script cache."""
    compiled, cache = CompiledRules(rules), ScriptCache()

    def read(page: Page) -> object:
        return compiled.read(Document(page.body, page.url, trusted=True, script_cache=cache))

    return read


def _parse_arguments(command_line: Sequence[str] | None) -> argparse.Namespace:
    argument_parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    argument_parser.add_argument("data", type=Path, metavar="DATA_DIR")
    argument_parser.add_argument(
        "--pages", type=int, default=100, help="at most so many pages a shop"
    )
    argument_parser.add_argument("--shops", type=int, default=None, help="at most so many shops")
    argument_parser.add_argument(
        "--examples", type=int, default=10, help="pages that rules are learnt from"
    )
    argument_parser.add_argument(
        "--rules", type=int, default=30, help="rules that each shop has at least"
    )
    return argument_parser.parse_args(command_line)


def _learn(shop: LabelledShop, shops: Sequence[LabelledShop], count: int) -> RuleSet:
    examples = [to_example(page) for page in shop.training[:count]]
    background = [example.document for example in examples]
    for neighbour in shops:
        if neighbour is not shop:
            for page in neighbour.training[:2]:
                background.append(Document(ablate_page(decode_html(page.html), "nosd"), page.url))
    return induce(examples, background)[0]


def to_example(page: LabelledPage) -> TrainingExample:
    """Make a training example of a labelled page.

    It is opened from its bytes, as a crawled page is: a decoded text would be held in memory twice.
    """
    values = {
        Attribute(name): value for name, value in page.attributes.items() if name in set(Attribute)
    }
    values.pop(Attribute.CURRENCY, None)
    offer = make_offer(values, Hint(base_url=page.url), url=page.url, currency=page.currency)
    example = Example.of(CrawledPage(0, page.url, None, page.name), offer)
    return example.with_document(Document(page.html, page.url))


def _fill_up(rules: RuleSet, count: int) -> RuleSet:
    """Add general rules to templates that have fewer than `count` rules."""
    templates = []
    for template in rules.templates:
        existing = {(rule.attribute, rule.selector) for rule in template.rules}
        added = list(template.rules)
        for attribute, selector in GENERAL:
            if len(added) < count and (attribute, selector) not in existing:
                added.append(Rule(attribute=attribute, selector=selector, score=GENERAL_SCORE))
        templates.append(template.model_copy(update={"rules": tuple(added)}))
    return rules.model_copy(update={"templates": tuple(templates)})


def _extruct() -> Any:
    extruct = _peer("extruct")
    if extruct is None:
        return None
    syntaxes = ["json-ld", "microdata", "opengraph"]
    return lambda page: extruct.extract(
        page.text, base_url=page.url, syntaxes=syntaxes, errors="ignore"
    )


def _autoscraper() -> Any:
    """Return a function that trains autoscraper on labelled pages, and returns its reader."""
    autoscraper = _peer("autoscraper")
    if autoscraper is None:
        return None

    def train(pages: Sequence[LabelledPage]) -> Callable[[Page], object]:
        scraper = autoscraper.AutoScraper()
        for page in pages:
            known_texts = {}
            for name, value in page.attributes.items():
                text = _first_text(value)
                if text:
                    known_texts[name] = [text]
            scraper.build(html=decode_html(page.html), wanted_dict=known_texts, update=True)
        return lambda page: scraper.get_result_exact(html=page.text, group_by_alias=True)

    return train


def _first_text(value: Any) -> str | None:
    values = value if isinstance(value, list) else [value]
    return next((str(text) for text in values if text), None)


def _peer(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        print(
            f"{name} is not installed and is left out: pip install -r requirements/bench.txt",
            file=sys.stderr,
        )
        return None


def _print_rates(clocks: dict[str, Clock]) -> int:
    are_reached = True
    print(f"\n{'':24}{'pages/s':>9}{'ms/page':>9}{'Scout is':>12}{'target':>9}")
    for name, clock in clocks.items():
        if not clock.pages:
            print(f"{name:24}{'not installed':>18}")
            continue
        ratio = clocks[READ].rate / clock.rate
        target = TARGETS.get(name)
        are_reached &= target is None or ratio >= target
        shown_target = f"{target}x" if target else ""
        print(f"{name:24}{clock.rate:9.0f}{1000 / clock.rate:9.2f}{ratio:11.2f}x{shown_target:>9}")
    return 0 if are_reached else 1


if __name__ == "__main__":
    sys.exit(main())
