"""Processor time and memory of learning, and the cost of hostile pages.

    python -m benchmarks.learning [DATA_DIR] [--shops N] [--examples N]

For each labelled shop in DATA_DIR, rules are learnt from its first pages, in a fresh process. Then
a shop is filled with the demo shop's pages and with hostile pages that its catalog lists; its rules
are learnt and its pages read as in a run.
"""

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlmodel import select

from benchmarks.measure import processor_seconds
from benchmarks.reading import to_example
from catalog.models import KnownOffer, Page, PageState, Run, Shop, StoredRules
from catalog.runtime.served_process import stop_servers
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store
from parser.parse_job import parse_shop
from rules_generator.evaluation.corpus import open_shop, shop_paths
from rules_generator.induction.inducer import induce
from rules_generator.learn_job import learn_shop
from scout.demo.assortment.demo_shop import DemoShop
from scout.demo.site.demo_site import DemoSite

BASE = "http://127.0.0.1:8000"
# Limit, processor seconds for 50 pages of 200 KB; other sizes are scaled to it.
MAX_SECONDS = 5.0
# Limit, resident megabytes of a learning process.
MAX_MEGABYTES = 1000.0
# Limit, processor seconds of a run with all hostile pages.
MAX_HOSTILE_SECONDS = 60.0
# Offer pages of the demo shop in the run with hostile pages.
DEMO_PAGES = 60


def _attributes(value: str) -> str:
    """Return 200,000 attributes with this value."""
    return " ".join(f'a{number}="{value}"' for number in range(200_000))


OPTIONS = "<select>" + "<option>1" * 100_000 + "</select>"
# Pages that are nothing but hostile.
HOSTILE_PAGES = {
    "200,000 attributes on one tag": f"<div {_attributes('1')}>",
    "the same, tags in their quotes": f"<div {_attributes('<p>')}>",
    "100,000 nested blocks": "<div>" * 100_000 + "</div>" * 100_000,
    "a script of 20 MB": "<script>x = " + '{"a": [1, 2, {b: "c"}]},' * 850_000 + "</script>",
    "100,000 nested braces": "<script>x = " + '{"a":' * 100_000 + "</script>",
    "100,000 scripts": "<script>x = {a: [1, 2]}</script>" * 100_000,
    "100,000 options": OPTIONS,
    "8 MB of paragraphs": "<p>one" * 1_300_000,
}
# Markup appended to an offer page.
HOSTILE_ENDINGS = {
    "100,000 options": OPTIONS,
    "30,000 prices": "".join(f"<span class=price>${number}.99</span>" for number in range(30_000)),
    "900 texts in one another": ("<div>" + "lamp " * 90) * 900,
    "400 KB of escaped quotes": "<script>x = {a: " + r"\"" * 200_000 + "</script>",
}


@dataclass(frozen=True)
class Cost:
    """Cost of a job over pages: mean kilobytes a page, processor seconds, peak megabytes."""

    name: str
    pages: int
    kilobytes: float
    seconds: float
    megabytes: float
    notes: tuple[str, ...] = ()

    @property
    def scaled_seconds(self) -> float:
        """Seconds for 50 pages of 200 KB at this rate."""
        return self.seconds * 200 * 50 / max(1, self.pages * self.kilobytes)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print; return 0 where each cost is within its limits."""
    reader = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    reader.add_argument("data", type=Path, nargs="?", metavar="DATA_DIR")
    reader.add_argument("--shops", type=int, default=None, help="number of shops at most")
    reader.add_argument("--examples", type=int, default=50, help="training pages of a shop at most")
    options = reader.parse_args(arguments)
    within_limits = True
    _print_heading("learning from")
    paths = shop_paths(options.data)[: options.shops] if options.data else []
    for path in paths:
        cost = _run_in_fresh_process(_learn, path, options.examples)
        _print_cost(cost)
        within_limits &= cost.scaled_seconds < MAX_SECONDS and cost.megabytes < MAX_MEGABYTES
    print()
    _print_heading("a run with hostile pages")
    cost = _run_in_fresh_process(_run_hostile)
    _print_cost(cost)
    within_limits &= cost.seconds < MAX_HOSTILE_SECONDS and cost.megabytes < MAX_MEGABYTES
    print(*cost.notes, sep="\n")
    return 0 if within_limits else 1


def _print_heading(job: str) -> None:
    print(f"{job:36}{'pages':>6}{'KB/page':>9}{'seconds':>9}{'MB':>7}")


def _print_cost(cost: Cost) -> None:
    size = f"{cost.pages:6}{cost.kilobytes:9.0f}"
    print(f"{cost.name:36}{size}{cost.seconds:9.2f}{cost.megabytes:7.0f}", flush=True)


def _run_in_fresh_process(job: Callable[..., Cost], *arguments: Any) -> Cost:
    """Run a job in a process of its own, so that its peak memory is its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(job, *arguments).result()


def _peak_megabytes() -> float:
    """Return the peak memory of this process or of the largest child that has ended."""
    largest = max(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    # ru_maxrss is in kilobytes on Linux.
    return largest / 1024


def _learn(path: Path, maximum: int) -> Cost:
    """Learn the rules of a labelled shop from at most `maximum` pages."""
    shop = open_shop(path)
    pages = shop.training[:maximum]
    begin = time.process_time()
    induce([to_example(page) for page in pages])
    seconds = time.process_time() - begin
    kilobytes = sum(len(page.html) for page in pages) / len(pages) / 1000
    return Cost(shop.name, len(pages), kilobytes, seconds, _peak_megabytes())


def _run_hostile() -> Cost:
    """Learn and read the demo shop with hostile pages; the notes say how each was handled."""
    with TemporaryDirectory() as folder:
        settings = Settings.load(data_dir=Path(folder))
        store = Store.open(settings)
        bodies = _demo_bodies()
        slow_offers = dict(zip(HOSTILE_ENDINGS, bodies, strict=False))
        for name, path in slow_offers.items():
            bodies[path] += HOSTILE_ENDINGS[name].encode()
        hostile_paths = {name: f"/hostile/{place}" for place, name in enumerate(HOSTILE_PAGES)}
        for name, path in hostile_paths.items():
            bodies[path] = HOSTILE_PAGES[name].encode()
        shop = _fill_store(settings, store, bodies)
        begin = processor_seconds()
        learnt = learn_shop(settings, store, shop, 1)
        # Learning and reading work in child processes, which count when their server has ended.
        stop_servers()
        learnt_at = processor_seconds()
        parsed = parse_shop(settings, store, shop, 1, workers=1)
        stop_servers()
        seconds = processor_seconds() - begin
        with store.read() as session:
            reasons = {page.url: page.read_reason for page in session.exec(select(Page))}
            story = session.exec(select(StoredRules)).one().story
    notes = [f"learning {learnt_at - begin:.1f} s: {learnt}", f"reading: {parsed}"]
    for url, reason in (*story["refused"].items(), *story["set_aside"]):
        notes.append(f"not learnt from {url}: {reason}")
    for name, path in hostile_paths.items():
        notes.append(f"{name}: {reasons[BASE + path]}")
    for name, path in slow_offers.items():
        notes.append(f"{name} behind an offer: {reasons[BASE + path]}")
    kilobytes = sum(map(len, bodies.values())) / len(bodies) / 1000
    megabytes = _peak_megabytes()
    return Cost("the demo shop", len(bodies), kilobytes, seconds, megabytes, tuple(notes))


def _demo_bodies() -> dict[str, bytes]:
    """Return the first offer pages of the demo shop by path."""
    demo = DemoShop.make()
    site = DemoSite(demo)
    bodies = {}
    for offer in demo.offers[:DEMO_PAGES]:
        bodies[offer.path] = site.answer(offer.path).body_for(f"{BASE}/")
    return bodies


def _fill_store(settings: Settings, store: Store, bodies: dict[str, bytes]) -> Shop:
    """Store a crawled shop whose catalog lists an offer on every page, hostile ones included."""
    offers = {offer.path: offer for offer in DemoShop.make().offers}
    stored_bodies = BodyStore(settings.bodies)
    with store.write() as session:
        shop = Shop(name="demo", url=f"{BASE}/", allow_private=True)
        session.add(shop)
        session.flush()
        session.add(Run(shop_id=shop.id))
        for number, (path, body) in enumerate(bodies.items()):
            url = BASE + path
            session.add(
                Page(
                    shop_id=shop.id,
                    url=url,
                    state=PageState.FETCHED,
                    status=200,
                    body=stored_bodies.put(body),
                )
            )
            values: dict[str, Any] = {"title": "Lamp"}
            offer = offers.get(path)
            if offer:
                for name in ("title", "price", "sku", "brand"):
                    values[name] = getattr(offer, name)
            session.add(KnownOffer(shop_id=shop.id, ref=str(number), link=url, url=url, **values))
    return shop


if __name__ == "__main__":
    sys.exit(main())
