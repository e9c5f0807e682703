"""Match a few crawled offers with a large catalog in the store, by its index.

    python -m benchmarks.matching index DATA [--sizes 1000000] [--crawled 154] [--database URL]

The catalog is that of `scale`, imported from a feed, and the crawled offers are the first of those
of `scale`. Each step runs in a process of its own, as a run of a shop would, and prints processor
seconds, peak memory, and the shares of verdicts that are right and of true pairs that were
retrieved:

- `first` makes the index.
- `again` matches the same offers without it being made, and without a cache of features.
- `changed` follows an import in which CHANGED offers have another title, as many are new and as
  many are gone; one crawled offer in ten has another price.
- `unchanged` follows nothing: the matches are taken over.
"""

import json
import os
import resource
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from sqlmodel import col, select

from catalog.feeds.importing import import_offers
from catalog.models import (
    KnownIndexPart,
    KnownOffer,
    Match,
    OfferFields,
    Page,
    PageState,
    Run,
    Shop,
    ShopOffer,
    Verdict,
)
from catalog.runtime.settings import Settings
from catalog.storage.store import Store, upgrade_schema

# Offers that an import changes, adds and drops, each.
CHANGED = 100
# Every so many crawled offers, one has another price.
CRAWLED_PER_CHANGE = 10
SHOP = "large"


@dataclass(frozen=True)
class Step:
    """What one step cost, and how good its verdicts were."""

    cpu_seconds: float
    peak_gb: float
    right: float
    recall: float


def measure_index(
    catalog: Sequence[OfferFields],
    crawled: Sequence[OfferFields],
    truth: Sequence[int | None],
    database: str | None,
) -> None:
    """Print a line per step."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.load(
            data_dir=Path(folder), **({"database_url": database} if database else {})
        )
        upgrade_schema(settings)
        store = Store.open(settings)
        _add_shop(store, crawled)
        refs = [None if row is None else _ref(row) for row in truth]
        print(f"{'step':>10} {'CPU s':>8} {'GB':>6} {'right':>6} {'recall':>7}", flush=True)
        steps: list[tuple[str, Callable[..., Step], dict[str, Any]]] = [
            ("import", _import, {"feed": _write_feed(catalog, Path(folder))}),
            ("first", _match, {}),
            ("again", _match, {"anew": True}),
            ("import", _import, {"feed": _write_changed_feed(catalog, refs, Path(folder))}),
            ("changed", _match, {"change_pages": True}),
            ("unchanged", _match, {}),
        ]
        for name, run, options in steps:
            # A process per step: peak memory is counted over the life of a process.
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                step = pool.submit(run, settings, refs, **options).result()
            print(
                f"{name:>10} {step.cpu_seconds:8.1f} {step.peak_gb:6.2f} {step.right:6.3f} "
                f"{step.recall:7.4f}",
                flush=True,
            )
        with store.read() as session:
            sizes = [len(data) for data in session.exec(select(KnownIndexPart.data))]
        print(f"index: {sum(sizes) / 1e6:.0f} MB in {len(sizes)} parts")


def _ref(row: int) -> str:
    return f"{row:08}"


def _add_shop(store: Store, crawled: Sequence[OfferFields]) -> None:
    with store.write() as session:
        shop = Shop(name=SHOP, url="https://large.example/")
        session.add(shop)
        session.flush()
        for number, offer in enumerate(crawled):
            url = f"https://large.example/p/{number}"
            page = Page(shop_id=shop.id or 0, url=url, state=PageState.FETCHED)
            session.add(page)
            session.flush()
            fields = offer.model_dump() | {"url": url}
            session.add(ShopOffer(shop_id=shop.id or 0, page_id=page.id or 0, **fields))


def _write_feed(catalog: Sequence[OfferFields], folder: Path) -> Path:
    return _write_rows(folder / "feed.jsonl", enumerate(catalog))


def _write_changed_feed(
    catalog: Sequence[OfferFields], refs: Sequence[str | None], folder: Path
) -> Path:
    """Write the feed with some offers changed, some new, and some gone that no crawled one is."""
    listed = set(refs)
    other = [row for row in range(len(catalog)) if _ref(row) not in listed]
    step = len(other) // (2 * CHANGED)
    changed = set(other[: CHANGED * step : step])
    gone = set(other[step * CHANGED : 2 * CHANGED * step : step])

    def rows() -> Iterator[tuple[int, OfferFields]]:
        for row, offer in enumerate(catalog):
            if row in changed:
                title = f"{offer.title} revised"
                yield row, offer.model_copy(update={"title": title})
            elif row not in gone:
                yield row, offer
        for number, row in enumerate(sorted(changed)):
            title = f"{catalog[row].title} extended"
            yield len(catalog) + number, catalog[row].model_copy(update={"title": title})

    return _write_rows(folder / "changed.jsonl", rows())


def _write_rows(path: Path, rows: Any) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for row, offer in rows:
            price = f"{offer.price:.2f} EUR"
            values = {"id": _ref(row), "title": offer.title, "brand": offer.brand, "price": price}
            file.write(json.dumps(values | {"sku": offer.sku}) + "\n")
    return path


def _import(settings: Settings, refs: Sequence[str | None], feed: Path) -> Step:
    store = Store.open(settings)
    import_offers(store, store.shop(SHOP), str(feed))
    return _step(0.0, 0.0)


def _match(
    settings: Settings,
    refs: Sequence[str | None],
    anew: bool = False,
    change_pages: bool = False,
) -> Step:
    """Match the shop as a run does, then judge the matches; the cost is that of the process."""
    from matcher.match_job import match_shop

    store = Store.open(settings)
    shop = store.shop(SHOP)
    with store.write() as session:
        run = Run(shop_id=shop.id or 0)
        session.add(run)
        if change_pages:
            for offer in session.exec(select(ShopOffer)).all()[::CRAWLED_PER_CHANGE]:
                offer.price = (offer.price or Decimal(1)) + 1
    if anew:
        (settings.data_dir / "matching" / f"{shop.id}.npz").unlink(missing_ok=True)
    match_shop(settings, store, shop, run.id or 0, anew=anew)
    cost = _step(0.0, 0.0)
    right, recall = _judge(store, shop, run.id or 0, refs)
    return Step(cost.cpu_seconds, cost.peak_gb, right, recall)


def _judge(
    store: Store, shop: Shop, run_id: int, refs: Sequence[str | None]
) -> tuple[float, float]:
    """Return the share of right verdicts, and of true pairs among candidates or retrieved ones."""
    from matcher.known_index.retrieval import retrieve_offers

    right = 0
    with store.read() as session:
        ref_of = dict(
            session.exec(
                select(KnownOffer.id, KnownOffer.ref).where(
                    col(KnownOffer.id).in_(select(Match.known_id).where(Match.run_id == run_id))
                )
            ).all()
        )
        for match in session.exec(select(Match).where(Match.run_id == run_id)):
            true_ref = refs[int(match.url.rsplit("/", 1)[1])]
            answer = ref_of.get(match.known_id) if match.verdict == Verdict.LISTED else None
            right += answer == true_ref
        offers = []
        for number, offer in enumerate(session.exec(select(ShopOffer).order_by(col(ShopOffer.id)))):
            if refs[number] is not None:
                offers.append(offer)
    retrieved = retrieve_offers(store, shop.id or 0, offers, [[] for _ in offers])
    found = {row.ref for row in retrieved.rows}
    true_refs = [ref for ref in refs if ref is not None]
    return right / len(refs), sum(ref in found for ref in true_refs) / len(true_refs)


def _step(right: float, recall: float) -> Step:
    times = os.times()
    peak_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return Step(times.user + times.system, peak_gb, right, recall)
