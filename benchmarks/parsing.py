"""Parse workers: pages per second of one and of two, and the memory of each over many pages.

usage: python -m benchmarks.parsing SITE [--pages 10000] [--memory-pages 200000] [--rounds 3]

SITE is a folder with a mirrored shop (`benchmarks.served_site`). It is crawled and its rules are
learnt; then the table of its pages is filled with rows that share the bodies of the pages crawled,
and all are parsed as in a run: bodies read, offers and readings stored. One worker and two take
turns. Memory is the resident set of the largest worker process, sampled while `--memory-pages`
pages are parsed, a tenth of them at a time.

The exit status is 1 if two workers are below 1.7 times one, or if the memory of the last tenth is
above that of the second by more than a twentieth. A machine with two cores runs the process that
stores the offers on the same two.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from statistics import median

from sqlalchemy import delete, insert, select, update
from sqlmodel import col

from benchmarks.fleet import Scout
from benchmarks.served_site import served
from catalog.models import Page, PageState, Run, ShopOffer
from catalog.runtime.batches import iterate_batches
from catalog.runtime.settings import Settings
from catalog.storage.bulk.page_batches import PAGES
from catalog.storage.store import Store
from parser.parse_job import parse_shop

# Speed of two workers relative to one.
SPEEDUP = 1.7
# Memory of the last tenth of the pages relative to the second.
GROWTH = 1.05
# Parts in which pages are parsed while memory is sampled.
PARTS = 10
# Rows of one INSERT.
BATCH = 5_000


class ParsedShop:
    """A crawled shop with rules, whose pages can be multiplied and parsed again."""

    def __init__(self, folder: Path) -> None:
        self.settings = Settings.load(data_dir=folder)
        self.store = Store.open(self.settings)
        self.shop = self.store.shop("shop")

    def fill(self, count: int) -> None:
        """Let the shop have at least `count` pages, whose bodies are those of the crawled ones."""
        with self.store.write() as session:
            connection = session.connection()
            of_shop = (PAGES.c.shop_id == self.shop.id) & (PAGES.c.state == PageState.FETCHED)
            pages = connection.execute(select(PAGES).where(of_shop)).mappings().all()
            templates = [{name: page[name] for name in page if name != "id"} for page in pages]
            present = len(templates)
            added = islice(cycle(templates), max(0, count - present))
            rows = (
                {**row, "url": f"{row['url']}#{number}"}
                for number, row in enumerate(added, present)
            )
            for batch in iterate_batches(rows, BATCH):
                connection.execute(insert(PAGES), batch)

    def forget_readings(self) -> None:
        """Let no page have been parsed."""
        with self.store.write() as session:
            session.exec(delete(ShopOffer).where(col(ShopOffer.shop_id) == self.shop.id))
            unread = update(Page).where(col(Page.shop_id) == self.shop.id)
            session.exec(unread.values(rules_version=None, read_key=None))

    def parse(self, workers: int, memory: "MemorySamples | None" = None) -> float:
        """Parse all pages; returns pages per second."""
        self.forget_readings()
        with self.store.write() as session:
            run = Run(shop_id=self.shop.id or 0)
            session.add(run)
            session.flush()
            run_id = run.id or 0

        def report(label: str, done: int, total: int | None = None, **also: int) -> None:
            if memory is not None and total:
                memory.sample(done / total)

        begin = time.perf_counter()
        summary = parse_shop(
            self.settings, self.store, self.shop, run_id, workers=workers, progress=report
        )
        if summary.failed:
            sys.exit(f"{summary.failed} pages could not be read")
        return summary.pages / (time.perf_counter() - begin)


class MemorySamples:
    """Largest resident set, in MB, of a worker process, by part of the pages."""

    def __init__(self) -> None:
        self.megabytes = [0.0] * PARTS

    def sample(self, share_done: float) -> None:
        """Add a sample to the part of the pages that is being parsed."""
        part = min(int(share_done * PARTS), PARTS - 1)
        largest = max(map(_resident_megabytes, _workers(os.getpid())), default=0.0)
        self.megabytes[part] = max(self.megabytes[part], largest)


def _workers(process_id: int) -> Iterator[int]:
    """Yield the descendants of a process that have no children: the server that forks has some."""
    children: list[str] = []
    for task in Path(f"/proc/{process_id}/task").iterdir():
        children += (task / "children").read_text().split()
    for child in map(int, children):
        grandchildren = [*_workers(child)]
        yield from grandchildren or [child]


def _resident_megabytes(process_id: int) -> float:
    try:
        pages = Path(f"/proc/{process_id}/statm").read_text().split()[1]
    except OSError:
        return 0.0
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _prepare(site: Path, folder: Path) -> ParsedShop:
    """Crawl a mirrored shop and learn its rules."""
    with served(str(site)) as roots:
        scout = Scout(folder / "var")
        scout.add_shop(site, roots[0])
        scout("run", "shop", "--json")
    return ParsedShop(folder / "var")


def main() -> None:
    """Measure and print everything."""
    argument_parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    argument_parser.add_argument("site", type=Path)
    argument_parser.add_argument("--pages", type=int, default=10_000)
    argument_parser.add_argument("--memory-pages", type=int, default=200_000)
    argument_parser.add_argument("--rounds", type=int, default=3)
    arguments = argument_parser.parse_args()
    missed = False
    with tempfile.TemporaryDirectory(prefix="scout-parsing-") as name:
        parsed = _prepare(arguments.site, Path(name))
        parsed.fill(arguments.pages)
        ratios = []
        for _ in range(arguments.rounds):
            one, two = parsed.parse(1), parsed.parse(2)
            ratios.append(two / one)
            print(f"{one:8.1f} pages/s by one worker, {two:8.1f} by two: {two / one:.2f} x")
        print(f"two workers, median: {median(ratios):.2f} x (target {SPEEDUP})", flush=True)
        missed |= median(ratios) < SPEEDUP
        if arguments.memory_pages:
            parsed.fill(arguments.memory_pages)
            memory = MemorySamples()
            rate = parsed.parse(2, memory)
            shown = " ".join(f"{megabytes:.0f}" for megabytes in memory.megabytes)
            growth = memory.megabytes[-1] / memory.megabytes[1]
            print(
                f"{arguments.memory_pages:,} pages at {rate:.1f} pages/s; MB of the largest worker:"
            )
            print(f"{shown}; last to second tenth: {growth:.3f} (limit {GROWTH})")
            missed |= growth > GROWTH
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
