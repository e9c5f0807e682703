"""Values that heuristics read from labelled pages, without any example, per attribute and per shop.

    python -m benchmarks.cold_start DATA_DIR [--view full|nosd|html] [--pages N] [--per-shop]

DATA_DIR holds labelled shops (`SHOP.tar.xz` or `SHOP/` with `pages/` and `truth.jsonl`). A shop
reads its first pages for the texts that they share, as self-training does. Cells: right / found /
known values, and values found where none is known. With --per-shop, also how many pages are taken
for offer pages.
"""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

from catalog.models import Attribute
from parser.heuristics.heuristic_reader import read_page_by_heuristics
from parser.heuristics.titles import find_site_texts
from rules_generator.evaluation.ablated_pages import View
from rules_generator.evaluation.corpus import open_shop, shop_paths
from rules_generator.evaluation.labelled_shop import LabelledShop
from rules_generator.evaluation.shop_pages import open_page
from rules_generator.evaluation.value_counts import SCORED, ValueCounts, count_values
from rules_generator.induction.self_training import SITE_SAMPLE

# Pages of a shop that are read by default.
MAX_PAGES = 60
# Levels of `HeuristicReading.evidence`.
EVIDENCE_NAMES = {2: "declare a single offer", 1: "look like an offer page", 0: "do neither"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print; return 0."""
    reader = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    reader.add_argument("data", type=Path, metavar="DATA_DIR")
    reader.add_argument("--view", choices=get_args(View), default="full")
    reader.add_argument("--pages", type=int, default=MAX_PAGES, help="at most so many pages a shop")
    reader.add_argument("--per-shop", action="store_true", help="a line per shop and attribute")
    options = reader.parse_args(arguments)
    totals = {attribute: ValueCounts() for attribute in SCORED}
    for path in shop_paths(options.data):
        shop = open_shop(path)
        counts, evidence = _read(shop, options.view, options.pages)
        if options.per_shop:
            pages = [f"{evidence.count(level)} {name}" for level, name in EVIDENCE_NAMES.items()]
            print(f"{shop.name}: pages that {', '.join(pages)}")
            _print_counts(counts.items(), "  ")
        for attribute, count in counts.items():
            totals[attribute].update(count)
    _print_counts(totals.items(), "")
    return 0


def _read(
    shop: LabelledShop, view: View, max_pages: int
) -> tuple[dict[Attribute, ValueCounts], list[int]]:
    """Return the counts of a shop's values, and the evidence of each page."""
    pages = shop.pages[:max_pages]
    opened = [(page, open_page(page, view)) for page in pages]
    documents = [(page, document) for page, document in opened if document is not None]
    site = find_site_texts([document for _, document in documents[:SITE_SAMPLE]])
    readings = []
    evidence = []
    for page, document in documents:
        reading = read_page_by_heuristics(document, site)
        evidence.append(reading.evidence)
        readings.append((page, {name: value.value for name, value in reading.values.items()}))
    return count_values(readings), evidence


def _print_counts(counts: Iterable[tuple[Attribute, ValueCounts]], indent: str) -> None:
    for attribute, count in counts:
        if count.truth or count["extra"]:
            values = f"{count['right']:5} /{count.found:5} /{count.truth:5}"
            print(f"{indent}{attribute.value:14}{values}   extra {count['extra']}")


if __name__ == "__main__":
    raise SystemExit(main())
