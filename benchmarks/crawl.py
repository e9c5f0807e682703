"""Crawl benchmark: Scout's crawl and two of Scrapy's over the same pages of an nginx on loopback.

usage: python benchmarks/crawl.py [--pages 5000] [--size 100] [--rounds 1] [--known 200000]
                                  [--kills 5]

bare     a Scrapy spider that only downloads: all addresses are known, no page is parsed
rules    Scrapy's CrawlSpider with a LinkExtractor, and nothing else
scout    `crawl_shop`: links extracted, bodies compressed and stored, every state committed

A page has 40 links, and text up to `--size` KB. Rates are in pages per second. The processor's
milliseconds per page are printed too: they depend less on the machine's other work. `--known`
measures the memory of a crawl that starts with so many pages in its table. `--kills` kills a crawl
with -9 so many times at random moments, and counts the pages lost and fetched again. Without nginx
the benchmark is skipped.
"""

import argparse
import json
import random
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import insert
from sqlmodel import select

from catalog.models import Page, Run, Shop
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store
from crawler.crawl import crawl_shop

LINKS_PER_PAGE = 40
CONCURRENCY = 16  # requests at a time, for all three crawls
VOCABULARY_SIZE = 2_000  # of the vocabulary of all pages
CONFIG = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{ log_format path $request_uri; access_log {folder}/access.log path;
  default_type text/html; keepalive_requests 100000;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{ listen 127.0.0.1:{port}; root {folder}/www; }} }}
"""
SPIDER = """
import sys
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

root, pages, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]

class Bare(scrapy.Spider):
    name = "bare"
    async def start(self):
        for number in range(pages):
            yield scrapy.Request(f"{root}p/{number}.html", dont_filter=True)
    def parse(self, response):
        pass

class Rules(CrawlSpider):
    name = "rules"
    start_urls = [root + "p/0.html"]
    rules = [Rule(LinkExtractor(), follow=True)]

process = CrawlerProcess({"LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False, "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
    "CONCURRENT_REQUESTS": CONCURRENCY, "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False, "ROBOTSTXT_OBEY": False})
process.crawl({"bare": Bare, "rules": Rules}[kind])
crawler = next(iter(process.crawlers))
process.start()
print(crawler.stats.get_value("response_received_count"))
""".replace("CONCURRENCY", str(CONCURRENCY))


PARENT = """
import sys
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from crawler.crawl import crawl_shop
settings = Settings.load(data_dir=sys.argv[1], concurrency=CONCURRENCY)
store = Store.open(settings)
crawl_shop(settings, store, store.shop("bench"), int(sys.argv[2]))
""".replace("CONCURRENCY", str(CONCURRENCY))


def write_pages(folder: Path, pages: int, kilobytes: int) -> None:
    """Write shop-like pages of random words; each links to the next one and to random ones."""
    (folder / "p").mkdir(parents=True)
    chance = random.Random(7)
    vocabulary = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9)))
        for _ in range(VOCABULARY_SIZE)
    ]
    (folder / "index.html").write_text(
        '<html><title>Shop</title><a href="/p/0.html">all</a></html>'
    )
    for number in range(pages):
        random_targets = (chance.randrange(pages) for _ in range(LINKS_PER_PAGE - 1))
        blocks = []
        for target in ((number + 1) % pages, *random_targets):
            text = " ".join(chance.choices(vocabulary, k=kilobytes * 1_000 // LINKS_PER_PAGE // 9))
            link = f'<a href="/p/{target}.html">Offer {target}</a>'
            blocks.append(f'<div class="tile t{target % 7}">{link}<p>{text}</p></div>')
        head = f"<head><title>Offer {number}</title></head>"
        body = f"<h1>Offer {number}</h1><p>{number},99 &euro;</p>{''.join(blocks)}"
        html = f"<!doctype html><html>{head}<body>{body}</body></html>"
        (folder / "p" / f"{number}.html").write_text(html)


@contextmanager
def nginx(folder: Path) -> Iterator[str]:
    """Serve `folder/www` by nginx; yields the URL of its root."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "nginx.conf").write_text(CONFIG.format(folder=folder, port=port))
    server = subprocess.Popen(
        ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")], stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait()


def scrapy_rate(root: str, pages: int, kind: str) -> float:
    """Measure a Scrapy spider in pages per second, start of the process included."""
    begin = time.monotonic()
    process = subprocess.run(
        [sys.executable, "-c", SPIDER, root, str(pages), kind], capture_output=True, check=True
    )
    assert int(process.stdout) >= pages, f"{kind} fetched {process.stdout!r} of {pages} pages"
    return pages / (time.monotonic() - begin)


def scout_rate(root: str, pages: int, folder: Path) -> float:
    """Measure Scout's crawl in pages per second, start of the process included.

    Its files stay until the end: some file systems create files slowly after many were removed.
    """
    settings, store, _, run = open_shop(folder, root)
    begin = time.monotonic()
    subprocess.run([sys.executable, "-c", PARENT, str(settings.data_dir), str(run)], check=True)
    seconds = time.monotonic() - begin
    with store.read() as session:
        fetched = len(session.exec(select(Page.id).where(Page.state == "fetched")).all())
    assert fetched == pages + 1, f"scout fetched {fetched} of {pages + 1} pages"
    return pages / seconds


def processor_time() -> float:
    """Return the seconds of processor time of all ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_rate(measure: Callable[[], float], pages: int) -> tuple[float, float]:
    """Return the measured rate, and the processor's milliseconds per page."""
    before = processor_time()
    rate = measure()
    return rate, (processor_time() - before) / pages * 1_000


def kill_and_resume(root: str, pages: int, kills: int, folder: Path) -> dict[str, int]:
    """Kill a crawl several times, then let it end; counts pages lost, doubled and fetched again."""
    settings, store, shop, run = open_shop(folder / "killed", root)
    log = folder / "access.log"
    log.write_bytes(b"")
    chance = random.Random(11)
    for number in range(1, kills + 1):
        parent = subprocess.Popen([sys.executable, "-c", PARENT, str(settings.data_dir), str(run)])
        until = pages * (number - chance.random()) / (kills + 1)
        while len(log.read_bytes().splitlines()) < until and parent.poll() is None:
            time.sleep(chance.random() / 10)
        parent.kill()
        parent.wait()
    crawled = crawl_shop(settings, store, shop, run)
    hits = Counter(line for line in log.read_text().splitlines() if line.startswith("/p/"))
    bodies = BodyStore(settings.bodies)
    with store.read() as session:
        fetched = list(session.exec(select(Page.url, Page.body).where(Page.state == "fetched")))
    lost = pages + 1 - sum(bool(bodies.get(body or "")) for _, body in fetched)
    fetched_again = sum(hits.values()) - len(hits)
    return {
        "kills": kills,
        "fetched": crawled.pages["fetched"],
        "lost": lost,
        "twice": len(fetched) - len(set(fetched)),
        "again": fetched_again,
    }


def peak_memory(root: str, known: int, folder: Path) -> int:
    """Return the peak megabytes of a crawl that starts with `known` pages in its table."""
    settings, store, shop, run = open_shop(folder, root)
    columns = {
        "shop_id": shop.id,
        "state": "refused",
        "source": "link",
        "priority": 0,
        "depth": 1,
        "chain": 0,
        "attempts": 1,
    }
    with store.write() as session:
        rows = [
            columns | {"url": f"{root}old/category-{n % 977}/a-name-as-long-as-most-{n}.html"}
            for n in range(known)
        ]
        session.connection().execute(insert(Page), rows)
    crawl_shop(settings, store, shop, run)
    shutil.rmtree(folder)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024


def open_shop(folder: Path, root: str) -> tuple[Settings, Store, Shop, int]:
    """Create a store with one shop and one run."""
    settings = Settings.load(data_dir=folder, concurrency=CONCURRENCY)
    store = Store.open(settings)
    with store.write() as session:
        shop = Shop(name="bench", url=root, allow_private=True)
        session.add(shop)
        session.flush()
        run = Run(shop_id=shop.id or 0)
        session.add(run)
    return settings, store, shop, run.id or 0


def run_round(root: str, pages: int, folder: Path, number: int) -> None:
    """Measure all three crawls once, and print the figures."""
    figures = {
        "bare": measure_rate(lambda: scrapy_rate(root, pages, "bare"), pages),
        "rules": measure_rate(lambda: scrapy_rate(root, pages, "rules"), pages),
        "scout": measure_rate(lambda: scout_rate(root, pages, folder / f"scout-{number}"), pages),
    }
    rates = {name: round(rate, 1) for name, (rate, _) in figures.items()}
    report = {
        "round": number,
        "pages a second": rates,
        "ms a page": {n: round(ms, 2) for n, (_, ms) in figures.items()},
    }
    ratios = {
        f"scout/{name}": round(figures["scout"][0] / figures[name][0], 2)
        for name in ("bare", "rules")
    }
    print(json.dumps(report | ratios), flush=True)


def main() -> None:
    """Run the benchmark from the command line."""
    argument_parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in (
        ("pages", 5_000),
        ("size", 100),
        ("rounds", 1),
        ("known", 200_000),
        ("kills", 5),
    ):
        argument_parser.add_argument(f"--{name}", type=int, default=default)
    arguments = argument_parser.parse_args()
    if not shutil.which("nginx"):
        sys.exit("skipped: nginx is not installed (Debian, Ubuntu: apt install nginx-light)")
    with tempfile.TemporaryDirectory(prefix="crawl-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        write_pages(folder / "www", arguments.pages, arguments.size)
        with nginx(folder) as root:
            if arguments.known:
                megabytes = peak_memory(root, arguments.known, folder / "known")
                print(json.dumps({"known": arguments.known, "most MB": megabytes}), flush=True)
            for number in range(1, arguments.rounds + 1):
                run_round(root, arguments.pages, folder, number)
            if arguments.kills:
                print(
                    json.dumps(kill_and_resume(root, arguments.pages, arguments.kills, folder)),
                    flush=True,
                )


if __name__ == "__main__":
    main()
