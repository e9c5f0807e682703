"""Match a few crawled offers with a large catalog in the store, by its index.

    python -m benchmarks.matching index DATA [--sizes 1000000] [--crawled 154] [--database URL]

The catalog is that of `scale`, stored as an import stores it, and the crawled offers are the first
of those of `scale`. Each step runs in a process of its own, as a run of a shop would, and prints
processor seconds, peak memory, and the shares of verdicts that are right and of true pairs that
were retrieved:

- `first` makes the index.
- `again` matches the same offers without it being made, and without a cache of features.
- `changed` follows a change as by an import: CHANGED offers have another title, as many are new and
  as many are gone; one crawled offer in ten has another price.
- `unchanged` follows nothing: the matches are taken over.
"""

import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from sqlalchemy import delete, insert, update
from sqlmodel import SQLModel, col, select

from benchmarks.measure import peak_megabytes
from catalog.models import (
    CatalogImport,
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
    utc_now,
)
from catalog.runtime.settings import Settings
from catalog.storage.store import Store, upgrade_schema
from catalog.values.content_keys import content_key

# Offers that an import changes, adds and drops, each.
CHANGED = 100
# Offers per statement.
BATCH = 10_000
# Every so many crawled offers, one has another price.
CRAWLED_PER_CHANGE = 10
SHOP = "large"
KNOWN = SQLModel.metadata.tables[str(KnownOffer.__tablename__)]


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
        _store_catalog(store, catalog)
        refs = [None if row is None else _ref(row) for row in truth]
        print(f"{'step':>10} {'CPU s':>8} {'GB':>6} {'right':>6} {'recall':>7}", flush=True)
        for name, options in (
            ("first", {}),
            ("again", {"anew": True}),
            ("changed", {"change_pages": True}),
            ("unchanged", {}),
        ):
            if name == "changed":
                _change_catalog(store, catalog, refs)
            # A process per step: peak memory is counted over the life of a process.
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                step = pool.submit(_match, settings, refs, **options).result()
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


def _store_catalog(store: Store, catalog: Sequence[OfferFields]) -> None:
    """Store known offers as an import does; reading a feed of them takes minutes."""
    shop_id = store.shop(SHOP).id or 0
    for start in range(0, len(catalog), BATCH):
        rows = []
        for row, offer in enumerate(catalog[start : start + BATCH], start):
            rows.append(_known_row(shop_id, _ref(row), offer))
        with store.write() as session:
            session.connection().execute(insert(KNOWN), rows)
    with store.write() as session:
        session.add(_import_of(shop_id, 1, len(catalog)))


def _known_row(shop_id: int, ref: str, offer: OfferFields) -> dict[str, Any]:
    row = offer.model_dump() | {"shop_id": shop_id, "ref": ref, "product": None, "opaque": False}
    stored = {"content_key": content_key(row), "generation": 1, "imported_at": utc_now()}
    return row | stored


def _import_of(shop_id: int, generation: int, count: int) -> CatalogImport:
    return CatalogImport(
        shop_id=shop_id,
        generation=generation,
        source="feed.jsonl",
        format="jsonl",
        read=count,
        kept=count,
        bad=0,
    )


def _change_catalog(
    store: Store, catalog: Sequence[OfferFields], refs: Sequence[str | None]
) -> None:
    """Change some offers, add as many and delete as many, none of them one that was crawled."""
    shop_id = store.shop(SHOP).id or 0
    crawled = set(refs)
    other = [row for row in range(len(catalog)) if _ref(row) not in crawled]
    stride = len(other) // (2 * CHANGED)
    changed = other[: CHANGED * stride : stride]
    gone = other[CHANGED * stride :: stride][:CHANGED]
    with store.write() as session:
        connection = session.connection()
        for row in changed:
            offer = catalog[row].model_copy(update={"title": f"{catalog[row].title} revised"})
            values = _known_row(shop_id, _ref(row), offer)
            connection.execute(update(KNOWN).where(KNOWN.c.ref == _ref(row)).values(values))
            offer = catalog[row].model_copy(update={"title": f"{catalog[row].title} extended"})
            values = _known_row(shop_id, f"{_ref(row)} extended", offer)
            connection.execute(insert(KNOWN).values(values))
        refs_gone = [_ref(row) for row in gone]
        connection.execute(delete(KNOWN).where(KNOWN.c.ref.in_(refs_gone)))
        session.add(_import_of(shop_id, 2, len(catalog)))


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
    cpu_seconds, peak_gb = time.process_time(), peak_megabytes() / 1024
    right, recall = _judge(store, shop, run.id or 0, refs)
    return Step(cpu_seconds, peak_gb, right, recall)


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
    retrieved_refs = {row.ref for row in retrieved.rows}
    true_refs = [ref for ref in refs if ref is not None]
    return right / len(refs), sum(ref in retrieved_refs for ref in true_refs) / len(true_refs)
