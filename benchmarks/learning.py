"""Seconds and memory of learning, and what pages made to be slow cost a run.

    python -m benchmarks.learning [DATA_DIR] [--shops N] [--taught N]

For each labelled shop in DATA_DIR rules are learnt from its first pages, in a process of its own. Then a shop is filled
with the demo shop's pages, pages made to be slow among them that its catalog lists, and is learnt and read as a run
does it.
"""

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlmodel import select

from benchmarks.reading import to_example
from catalog.models import KnownOffer, Page, PageState, Run, Shop, StoredRules
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store
from parser.parse_job import parse_shop
from rules_generator.evaluation.corpus import open_shop, shop_paths
from rules_generator.induction.inducer import induce
from rules_generator.learn import learn_shop
from scout.demo.assortment.demo_shop import DemoShop
from scout.demo.site.demo_site import DemoSite

BASE = "http://127.0.0.1:8000"
MOST_SECONDS = 5.0
MOST_MEGABYTES = 1000.0
HOSTILE = {
    "200,000 attributes on one tag": "<div "
    + " ".join(f'a{number}="1"' for number in range(200_000))
    + ">",
    "the same, tags in their quotes": "<div "
    + " ".join(f'a{number}="<p>"' for number in range(200_000))
    + ">",
    "100,000 nested blocks": "<div>" * 100_000 + "</div>" * 100_000,
    "a script of 20 MB": "<script>x = " + '{"a": [1, 2, {b: "c"}]},' * 850_000 + "</script>",
    "100,000 nested braces": "<script>x = " + '{"a":' * 100_000 + "</script>",
    "100,000 scripts": "<script>x = {a: [1, 2]}</script>" * 100_000,
    "100,000 options": "<select>" + "<option>1" * 100_000 + "</select>",
    "8 MB of paragraphs": "<p>one" * 1_300_000,
}
BEHIND_AN_OFFER = {
    "100,000 options": HOSTILE["100,000 options"],
    "30,000 prices": "".join(f"<span class=price>${number}.99</span>" for number in range(30_000)),
    "900 texts in one another": ("<div>" + "lamp " * 90) * 900,
    "400 KB of escaped quotes": "<script>x = {a: " + r"\"" * 200_000 + "</script>",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print; 0 where everything stayed within the limits."""
    reader = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    reader.add_argument("data", type=Path, nargs="?", metavar="DATA_DIR")
    reader.add_argument("--shops", type=int, default=None, help="at most so many shops")
    reader.add_argument("--taught", type=int, default=50, help="pages that rules are learnt from")
    words = reader.parse_args(arguments)
    print(f"{'learning from':36}{'pages':>6}{'KB/page':>9}{'seconds':>9}{'MB':>7}")
    good = [
        _told(*_apart(_learn, path, words.taught))
        for path in (shop_paths(words.data)[: words.shops] if words.data else ())
    ]
    print(
        f"\n{'a run with pages made to be slow':36}{'pages':>6}{'KB/page':>9}{'seconds':>9}{'MB':>7}"
    )
    *told, notes = _apart(_run_hostile)
    good += [told[3] < 60, told[4] < MOST_MEGABYTES]
    _told(*told)
    print(*notes, sep="\n")
    return 0 if all(good) else 1


def _told(name: str, pages: int, size: float, seconds: float, megabytes: float) -> bool:
    print(f"{name:36}{pages:6}{size:9.0f}{seconds:9.2f}{megabytes:7.0f}", flush=True)
    return seconds * 200 * 50 / max(1, pages * size) < MOST_SECONDS and megabytes < MOST_MEGABYTES


def _apart(work: Callable[..., Any], *words: Any) -> Any:
    """What `work` gives in a fresh process, so that its memory is its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *words).result()


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _learn(path: Path, most: int) -> tuple[str, int, float, float, float]:
    shop = open_shop(path)
    pages = shop.training[:most]
    begin = time.process_time()
    induce([to_example(page) for page in pages])
    seconds = time.process_time() - begin
    return (
        shop.name,
        len(pages),
        sum(len(page.html) for page in pages) / len(pages) / 1000,
        seconds,
        _megabytes(),
    )


def _run_hostile() -> tuple[str, int, float, float, float, list[str]]:
    with TemporaryDirectory() as folder:
        settings = Settings.load(data_dir=Path(folder))
        store = Store.open(settings)
        bodies = dict(_demo_pages(60)) | {
            f"/hostile/{place}": one.encode() for place, one in enumerate(HOSTILE.values())
        }
        slow = dict(zip(BEHIND_AN_OFFER, bodies, strict=False))
        for name, path in slow.items():
            bodies[path] += BEHIND_AN_OFFER[name].encode()
        shop = _filled(settings, store, bodies)
        begin = time.process_time()
        learnt = learn_shop(settings, store, shop, 1)
        between = time.process_time()
        parsed = parse_shop(settings, store, shop, 1, workers=1)
        seconds = time.process_time() - begin
        with store.read() as session:
            said = {page.url: page.read_reason for page in session.exec(select(Page))}
            story = session.exec(select(StoredRules)).one().story
    notes = [f"learning {between - begin:.1f} s: {learnt}", f"reading: {parsed}"]
    notes += [
        f"not learnt from {url}: {why}"
        for url, why in (*story["refused"].items(), *story["set_aside"])
    ]
    notes += [f"{name}: {said[f'{BASE}/hostile/{place}']}" for place, name in enumerate(HOSTILE)]
    notes += [f"{name} behind an offer: {said[BASE + path]}" for name, path in slow.items()]
    return (
        "the demo shop",
        len(bodies),
        sum(map(len, bodies.values())) / len(bodies) / 1000,
        seconds,
        _megabytes(),
        notes,
    )


def _demo_pages(most: int) -> Iterator[tuple[str, bytes]]:
    demo = DemoShop.make()
    site = DemoSite(demo)
    for offer in demo.offers[:most]:
        yield offer.path, site.answer(offer.path).body_for(f"{BASE}/")


def _filled(settings: Settings, store: Store, bodies: dict[str, bytes]) -> Shop:
    """A shop whose catalog lists an offer on every page; those of the demo by what the demo says of them."""
    offers, kept = (
        {offer.path: offer for offer in DemoShop.make().offers},
        BodyStore(settings.bodies),
    )
    with store.write() as session:
        shop = Shop(name="demo", url=f"{BASE}/", allow_private=True)
        session.add(shop)
        session.flush()
        session.add(Run(shop_id=shop.id))
        for number, (path, body) in enumerate(bodies.items()):
            page = Page(
                shop_id=shop.id,
                url=BASE + path,
                state=PageState.FETCHED,
                status=200,
                body=kept.put(body),
            )
            one = offers.get(path)
            known = (
                {"title": one.title, "price": one.price, "sku": one.sku, "brand": one.brand}
                if one
                else {"title": "Lamp"}
            )
            session.add(page)
            session.add(
                KnownOffer(
                    shop_id=shop.id, ref=str(number), link=BASE + path, url=BASE + path, **known
                )
            )
    return shop


if __name__ == "__main__":
    sys.exit(main())
