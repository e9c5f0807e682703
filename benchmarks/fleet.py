"""Cost of whole runs: processor time per shop, first and second run, beside a bare Scrapy crawl.

usage: python -m benchmarks.fleet SITE [--small 200] [--pages 12] [--rounds 1]

SITE is a folder with a mirrored shop (`benchmarks.served_site`). Processor time is that of user and
system, of all processes that a command starts. Measured in turn, on the same server:

opens        `scout shop list`, a command that opens the store
bare         a Scrapy spider that downloads the pages of the first run and saves them; of three
             crawls the median
links        the same spider, which finds the pages by a LinkExtractor
first        `scout run` of a new shop with its catalog imported
second       `scout run` again, nothing has changed: a server that answers 304, and one that does
             not
full         `scout run --full`: everything again
fleet        `--small` generated shops of `--pages` pages each, `scout run --all` twice

The exit status is 1 if a target is missed, or if the second run has other findings than a full one.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.served_site import catalog_lines, generated_offer, served
from catalog.models import KnownOffer, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store

CONCURRENCY = 8  # requests at a time for one shop, Scout's default
# Targets, in seconds of processor time, and in multiples of the bare crawl.
OPENS = 0.9
FIRST = 10.0
SECOND_NOT_MODIFIED = 4.0
SECOND_PLAIN = 6.0
FIRST_RATIO = 5.0
SECOND_RATIO = 2.5
# Bare crawls, of which the median counts: a single one takes up to a half longer than another.
BARE_CRAWLS = 3
# Prefixes of the columns of `scout offers --json` that differ between runs of an unchanged shop:
# times, changes, numbers of runs, and stored pages.
RUN_DEPENDENT_PREFIXES = (
    "first_seen",
    "last_seen",
    "since",
    "verdict_since",
    "fetched",
    "change",
    "run",
    "snapshot",
)
SPIDER = """
import json, re, sys
from pathlib import Path
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

root, folder, urls, concurrency = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])

class Shop(scrapy.Spider):
    name = "shop"
    links = LinkExtractor(allow=[re.escape(root)]) if not urls else None
    saved = 0

    async def start(self):
        for url in json.loads(Path(urls).read_text()) if urls else [root]:
            yield scrapy.Request(url, self.parse)

    def parse(self, response):
        Shop.saved += 1
        (folder / f"{Shop.saved}.html").write_bytes(response.body)
        if self.links is not None and hasattr(response, "text"):
            for link in self.links.extract_links(response):
                yield scrapy.Request(link.url, self.parse)

process = CrawlerProcess({"LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False, "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
    "CONCURRENT_REQUESTS": 16, "DOWNLOAD_DELAY": 0, "ROBOTSTXT_OBEY": True,
    "COOKIES_ENABLED": False})
process.crawl(Shop)
process.start()
print(Shop.saved)
"""


@dataclass
class Scout:
    """Calls of `scout` on a data folder of their own."""

    folder: Path
    seconds: float = field(default=0.0)

    def __call__(self, *arguments: str) -> str:
        """Call `scout`; return its output. `seconds` is then the call's processor time."""
        command = [sys.executable, "-m", "scout", "--data-dir", str(self.folder), *arguments]
        environment = {name: value for name, value in os.environ.items() if "SCOUT_" not in name}
        # An installed package has its bytecode: to compile all modules anew takes half a second.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.seconds, output = measure(command, environment)
        return output

    def add_shop(self, site: Path, root: str) -> None:
        """Add a mirrored shop, served at `root`, and import its catalog."""
        start = json.loads((site / "truth.json").read_text()).get("start", "")
        catalog = self.folder.with_name("catalog.jsonl")
        catalog.write_text(catalog_lines(site, root), encoding="utf-8")
        self("shop", "add", "shop", "--url", f"{root}/{start}", "--allow-private")
        self("catalog", "import", "shop", str(catalog))

    def findings(self, shop: str) -> list[str]:
        """Return the findings of a shop's last run, without the times at which they were seen."""
        rows = map(json.loads, self("offers", shop, "--all", "--json").splitlines())
        found = []
        for row in rows:
            kept = {name: row[name] for name in row if not name.startswith(RUN_DEPENDENT_PREFIXES)}
            found.append(json.dumps(kept, sort_keys=True))
        return found

    def fetched_pages(self, shop: str) -> list[str]:
        """Return the URLs of the shop's fetched pages."""
        import sqlite3

        with sqlite3.connect(self.folder / "scout.db") as connection:
            query = (
                "SELECT page.url FROM page JOIN shop ON shop.id = shop_id "
                "WHERE name = ? AND state = 'fetched'"
            )
            return [url for (url,) in connection.execute(query, (shop,))]


def measure(command: Sequence[str], environment: dict[str, str] | None = None) -> tuple[float, str]:
    """Run a command; return its processor time, that of its children included, and its output."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    before = _used_by_children()
    output, errors = process.communicate()
    if process.returncode:
        sys.exit(f"{' '.join(command[:6])} ... failed: {errors[-2000:]}")
    return _used_by_children() - before, output


def _used_by_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Targets:
    """Prints measurements, and notes whether all targets are met."""

    def __init__(self) -> None:
        self.missed = 0

    def print(self, name: str, value: float, target: float | None = None, unit: str = "s") -> None:
        """Print one measurement beside its target."""
        verdict = ""
        if target is not None:
            verdict = f"  (target {target:g}: {'met' if value <= target else 'MISSED'})"
            self.missed += value > target
        print(f"{name:44} {value:8.2f} {unit}{verdict}", flush=True)


@contextmanager
def _new_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="scout-fleet-") as name:
        yield Path(name)


def bare_crawl(root: str, folder: Path, urls: Sequence[str] | None) -> float:
    """Measure a Scrapy spider that saves all pages, those of `urls` or all that it finds."""
    pages = folder / ("bare" if urls else "links")
    pages.mkdir()
    listed = ""
    if urls:
        listed = str(folder / "urls.json")
        Path(listed).write_text(json.dumps(list(urls)))
    # A file: Scrapy reads the source code of callbacks.
    spider = folder / "spider.py"
    spider.write_text(SPIDER)
    arguments = [f"{root}/", str(pages), listed, str(CONCURRENCY)]
    seconds, output = measure([sys.executable, str(spider), *arguments])
    print(f"  {'bare' if urls else 'links'}: {output.strip()} pages saved")
    return seconds


def measure_shop(site: Path, targets: Targets, *, has_etags: bool) -> None:
    """Measure the first and the second run of a mirrored shop."""
    server = "server with 304" if has_etags else "plain server"
    with _new_folder() as folder, served(str(site), *(["--etags"] if has_etags else [])) as roots:
        root = roots[0]
        scout = Scout(folder / "var")
        scout.add_shop(site, root)
        scout("shop", "list")
        targets.print("a command that opens the store", scout.seconds, OPENS)
        scout("run", "shop", "--json")
        first = scout.seconds
        pages = scout.fetched_pages("shop")
        crawls = []
        for number in range(BARE_CRAWLS):
            crawl_folder = folder / f"crawl-{number}"
            crawl_folder.mkdir()
            crawls.append(bare_crawl(root, crawl_folder, pages))
        bare, links = statistics.median(crawls), bare_crawl(root, folder, None)
        targets.print(f"bare Scrapy crawl of {len(pages)} pages, {server}", bare)
        targets.print("  the same, finding the pages by links", links)
        targets.print(f"first run, {server}", first, FIRST)
        targets.print("  times the bare crawl", first / bare, FIRST_RATIO, "x")
        scout("run", "shop", "--json")
        second = scout.seconds
        limit = SECOND_NOT_MODIFIED if has_etags else SECOND_PLAIN
        targets.print(f"second run, {server}", second, limit)
        targets.print("  times the bare crawl", second / bare, SECOND_RATIO, "x")
        findings = scout.findings("shop")
        scout("run", "shop", "--full", "--json")
        targets.print(f"run --full, {server}", scout.seconds)
        differences = set(findings) ^ set(scout.findings("shop"))
        targets.print("findings that differ from the full run", len(differences), 0, "")


def add_shops(
    folder: Path, roots: Sequence[str], pages: int, settings: Settings | None = None
) -> None:
    """Add shops, of which the catalog lists two thirds of the offers."""
    store = Store.open(settings or Settings.load(data_dir=folder))
    with store.write() as session:
        shops = [
            Shop(name=f"shop{index}", url=f"{root}/", allow_private=True)
            for index, root in enumerate(roots)
        ]
        session.add_all(shops)
        session.flush()
        for index, (shop, root) in enumerate(zip(shops, roots, strict=True)):
            for page in range(pages):
                if page % 3:
                    offer = generated_offer(index, page)
                    url = f"{root}/p/{page}"
                    session.add(KnownOffer(shop_id=shop.id or 0, ref=str(page), url=url, **offer))


def measure_fleet(number: int, pages: int, targets: Targets) -> None:
    """Measure all runs of many small shops, end to end."""
    arguments = ["--shops", str(number), "--pages", str(pages), "--etags"]
    with _new_folder() as folder, served(*arguments) as roots:
        scout = Scout(folder / "var")
        add_shops(folder / "var", roots, pages)
        for label in ("first", "second"):
            begin = time.monotonic()
            outcomes = [json.loads(line) for line in scout("run", "--all", "--json").splitlines()]
            elapsed = time.monotonic() - begin
            done = sum(outcome["state"] == "done" for outcome in outcomes)
            targets.print(f"{number} small shops, {label} run: not done", number - done, 0, "")
            targets.print("  processor time per shop", scout.seconds / number)
            targets.print("  elapsed per shop", elapsed / number)


def main() -> None:
    """Measure and print everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("site", type=Path)
    parser.add_argument("--small", type=int, default=200)
    parser.add_argument("--pages", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=1)
    args = parser.parse_args()
    targets = Targets()
    for _ in range(args.rounds):
        for has_etags in (True, False):
            measure_shop(args.site, targets, has_etags=has_etags)
    if args.small:
        measure_fleet(args.small, args.pages, targets)
    sys.exit(1 if targets.missed else 0)


if __name__ == "__main__":
    main()
