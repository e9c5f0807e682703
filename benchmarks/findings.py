"""Stored findings of a large shop: storing them, and the query of every list and page.

    python -m benchmarks.findings [--offers 60000] [--missing 50000] [--database URL] [--keep FOLDER]

The run has generated offers in two currencies, with 400 brands and 500 category paths; a tenth of the missing ones
is unsure, a few are ignored. Each query is timed as its fastest of several repetitions, and compared with the plain
count of the run's findings and with the limit for a page; for SQLite processor time is counted. The exit code is 1 if one is over the limit. Give the URL of
an empty PostgreSQL database to measure that; without one, SQLite in a temporary folder is measured.
"""

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from sqlalchemy import insert, text
from sqlmodel import Session
from starlette.testclient import TestClient

from catalog.models import (
    KnownOffer,
    Match,
    Review,
    ReviewDecision,
    Run,
    RunState,
    Shop,
    Verdict,
)
from catalog.runtime.settings import Settings
from catalog.storage.findings import SORT_NAMES, FindingFilter, count_matching, read_findings_page
from catalog.storage.store import Store
from reports.model.finding_storage import store_run_findings, update_findings
from reports.model.findings import list_findings
from reports.statistics.coverage import Coverage
from reports.write.report_files import FEED_FORMATS, FORMATS, report_shop
from scout.overview import describe_shop
from scout.web.app import create_app

# Milliseconds that the query of a list or page may take.
LIMIT = 100.0
# Repetitions of a query; other programs on the machine cost some of them more.
REPETITIONS = 7
ROWS = 50
Clock = Callable[[], float]
_TITLE_WORDS = (
    "lamp table chair shelf garden drill saw paint brush light oak black white green".split()
)
_CATEGORIES = [
    f"{_TITLE_WORDS[number % 14].capitalize()} > {_TITLE_WORDS[number % 11]} > Shelf {number}"
    for number in range(500)
]
_HOME = "https://shop.example/"
_BATCH = 1000
_TIME = datetime(2026, 11, 2, 6, tzinfo=UTC)


def main() -> None:
    """Fill a store, then print the time of storing its findings and of each query."""
    arguments = _parse_arguments()
    with ExitStack() as stack:
        folder = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = Settings.load(data_dir=folder, database_url=arguments.database)
        store = Store.open(settings)
        shop, run_id = fill_store(store, arguments.offers, arguments.missing)
        begin, processor = time.perf_counter(), time.process_time()
        store_run_findings(store, shop, run_id, {})
        wall, used = time.perf_counter() - begin, time.process_time() - processor
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{arguments.offers:,} offers, {arguments.missing:,} of them missing: causes inferred and "
            f"findings stored in {used:.1f} s of processor time ({wall:.1f} s), {memory:.0f} MB"
        )
        if store.engine.dialect.name == "postgresql":
            with store.write() as session:
                session.connection().execute(text("ANALYZE"))
        _print_report(settings, store, shop, run_id)
        slow = _print_times(settings, store, shop, run_id)
        store.engine.dispose()
    sys.exit(1 if slow else 0)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--offers", type=int, default=60_000)
    parser.add_argument("--missing", type=int, default=50_000)
    parser.add_argument("--database", default="", help="URL of an empty database")
    parser.add_argument("--keep", type=Path, help="data folder to make and keep")
    return parser.parse_args()


def fill_store(store: Store, offers: int, missing: int) -> tuple[Shop, int]:
    """Fill a store with a shop, its catalog and a finished run; returns the shop and the run's id."""
    numbers = random.Random(0)
    with store.write() as session:
        shop = Shop(name="large", url=_HOME)
        session.add(shop)
        session.flush()
        run = Run(
            shop_id=shop.id or 0,
            state=RunState.DONE,
            # Stored by the matching step of every run.
            figures={"coverage": Coverage(pages=offers, fetched=offers, known=offers).as_json()},
            started_at=_TIME,
            finished_at=_TIME,
        )
        session.add(run)
        session.flush()
        listed = offers - missing
        known = [_known_row(shop.id or 0, number) for number in range(listed)]
        matches = []
        for number in range(offers):
            verdict = Verdict.LISTED if number < listed else Verdict.MISSING
            if verdict is Verdict.MISSING and numbers.random() < 0.1:
                verdict = Verdict.UNSURE
            matches.append(_match_row(shop.id or 0, run.id or 0, number, verdict, numbers))
        _insert(session, KnownOffer, known)
        _insert(session, Match, matches)
        for number in range(listed, listed + 200):
            session.add(
                Review(
                    shop_id=shop.id or 0, url=f"{_HOME}p/{number}", decision=ReviewDecision.IGNORE
                )
            )
    return shop, run.id or 0


def _insert(session: Session, table: Any, rows: list[dict[str, Any]]) -> None:
    for start in range(0, len(rows), _BATCH):
        session.connection().execute(insert(table), rows[start : start + _BATCH])


def _known_row(shop_id: int, number: int) -> dict[str, Any]:
    url = f"{_HOME}p/{number}"
    return {
        "shop_id": shop_id,
        "ref": str(number),
        "link": url,
        "url": url,
        "title": f"Offer {number}",
        "price": Decimal(number % 900 + 5),
        "currency": "EUR",
        "category": _CATEGORIES[number % 400],
        "brand": f"Brand {number % 300}",
        "images": [],
        "opaque": False,
        "imported_at": _TIME,
        "generation": 0,
    }


def _match_row(
    shop_id: int, run_id: int, number: int, verdict: Verdict, numbers: random.Random
) -> dict[str, Any]:
    url = f"{_HOME}p/{number}"
    title_words = " ".join(numbers.choices(_TITLE_WORDS, k=6))
    offer = {
        "url": url,
        "title": f"{title_words} {number}",
        "price": f"{numbers.randrange(100, 99_999) / 100:.2f}",
        "currency": "USD" if numbers.random() < 0.2 else "EUR",
        "brand": f"Brand {numbers.randrange(400)}",
        "category": numbers.choice(_CATEGORIES),
        "sku": f"S{number}",
    }
    return {
        "run_id": run_id,
        "shop_id": shop_id,
        "url": url,
        "urls": [url],
        "verdict": verdict.value,
        "score": 0.98 if verdict is Verdict.LISTED else numbers.random() / 2,
        "reasons": ["no equal identifier", "titles share two words", "prices differ"],
        "why": _explanation(number, numbers),
        "offer": offer,
        "nearest": {"title": f"{title_words} other", "url": f"{url}x", "price": "9.00"},
        "known_id": None,
        "variant_of": None,
    }


def _print_report(settings: Settings, store: Store, shop: Shop, run_id: int) -> None:
    """Print processor time, memory and sizes of a report in all formats."""
    processor = time.process_time()
    paths = report_shop(settings, store, shop, run_id, formats=(*FORMATS, *FEED_FORMATS))
    used = time.process_time() - processor
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sizes = ", ".join(f"{name} {path.stat().st_size / 1e6:.1f} MB" for name, path in paths.items())
    print(f"report in all formats: {used:.1f} s of processor time, {memory:.0f} MB ({sizes})")


def _explanation(number: int, numbers: random.Random) -> dict[str, Any]:
    """Return an explanation as long as those of the matcher."""
    kinds = (
        "model numbers",
        "rare words",
        "identifiers",
        "image",
        "price",
        "variant",
        "quantities",
    )
    evidence = []
    for kind in kinds:
        weight = round(numbers.gauss(-0.3, 0.6), 2)
        features = {f"{kind} {part}": round(numbers.random(), 3) for part in range(3)}
        speaks = "for" if weight > 0 else "against"
        evidence.append({"kind": kind, "speaks": speaks, "weight": weight, "features": features})
    candidates = []
    for rank in range(5):
        title = " ".join(numbers.choices(_TITLE_WORDS, k=6))
        url = f"{_HOME}p/{number + rank}"
        score = round(numbers.random() / 2, 4)
        candidates.append({"ref": str(number + rank), "title": title, "url": url, "score": score})
    return {"evidence": evidence, "settled": "other", "candidates": candidates}


def _print_times(settings: Settings, store: Store, shop: Shop, run_id: int) -> bool:
    """Print a line for each query; returns True if one was over the limit."""
    # SQLite works in this process; the time of PostgreSQL's server shows on the clock only.
    clock = time.process_time if store.engine.dialect.name == "sqlite" else time.perf_counter
    client = TestClient(create_app(settings, store, ["testserver"]))
    all_findings = FindingFilter(includes_ignored=True)

    def count() -> object:
        with store.read() as session:
            return count_matching(session, run_id, all_findings)

    baseline = _fastest(count, clock)
    print(f"{'count of the findings':54}{baseline:8.1f} ms")
    slow = False
    for name, query in _queries(store, shop, run_id, client).items():
        milliseconds = _fastest(query, clock)
        is_slow = milliseconds > LIMIT
        slow = slow or is_slow
        print(
            f"{name:54}{milliseconds:8.1f} ms {milliseconds / baseline:7.1f} times the count"
            f"{' over the limit' if is_slow else ''}",
            flush=True,
        )
    # Counts the run again: a write, for which no limit is set.
    url = f"{_HOME}p/59000"

    def update_one() -> None:
        with store.write() as session:
            update_findings(session, shop, run_id, [url])

    decision = _fastest(update_one, clock)
    print(f"{'a review decision, with the counts of the run':54}{decision:8.1f} ms")
    return slow


def _queries(
    store: Store, shop: Shop, run_id: int, client: TestClient
) -> dict[str, Callable[[], object]]:
    missing = FindingFilter(verdicts=frozenset({Verdict.MISSING}))
    filters = {
        "missing": missing,
        "all": FindingFilter(includes_ignored=True),
        "unsure": FindingFilter(verdicts=frozenset({Verdict.UNSURE})),
        "ignored": FindingFilter(only_ignored=True),
        "category and below": FindingFilter(missing.verdicts, category="Lamp"),
        "whole category": FindingFilter(missing.verdicts, category=_CATEGORIES[7]),
        "brand": FindingFilter(missing.verdicts, brand="brand 7"),
        "price range": FindingFilter(
            missing.verdicts, price_from=Decimal(100), price_to=Decimal(200)
        ),
        "cause": FindingFilter(missing.verdicts, cause="feed"),
        "since a run": FindingFilter(missing.verdicts, since_run_id=0),
    }
    queries: dict[str, Callable[[], object]] = {}
    for name, where in filters.items():
        queries[f"scout offers --limit {ROWS}, {name}"] = _listing(store, shop, run_id, where)
        queries[f"number of offers, {name}"] = _counting(store, run_id, where)
    for sort in SORT_NAMES:
        for name in (sort, f"-{sort}"):
            queries[f"scout offers --limit {ROWS} --sort {name}"] = _sorting(store, run_id, name)
    queries["last page of all offers"] = lambda: list_findings(
        store, shop, run_id, where=filters["all"], limit=ROWS, offset=59_000
    )
    queries["shop list, web page of all shops"] = lambda: describe_shop(store, shop)
    for path in (
        "/",
        "/shops/large",
        "/shops/large?verdict=all&page=500",
        "/shops/large?sort=title&category=Lamp",
        "/api/shops",
        "/api/shops/large/offers?limit=50&sort=-price",
        f"/api/runs/{run_id}",
    ):
        queries[f"GET {path}"] = _getting(client, path)
    return queries


def _listing(store: Store, shop: Shop, run_id: int, where: FindingFilter) -> Callable[[], object]:
    return lambda: list_findings(store, shop, run_id, where=where, limit=ROWS)


def _counting(store: Store, run_id: int, where: FindingFilter) -> Callable[[], object]:
    def count() -> object:
        with store.read() as session:
            return count_matching(session, run_id, where)

    return count


def _sorting(store: Store, run_id: int, sort: str) -> Callable[[], object]:
    missing = FindingFilter(verdicts=frozenset({Verdict.MISSING}))

    def read() -> object:
        with store.read() as session:
            return read_findings_page(session, run_id, missing, sort, ROWS)

    return read


def _getting(client: TestClient, path: str) -> Callable[[], object]:
    def get() -> object:
        response = client.get(path)
        if response.status_code != 200:
            raise RuntimeError(f"{path}: {response.status_code}")
        return response

    return get


def _fastest(query: Callable[[], object], clock: Clock) -> float:
    """Return the milliseconds of the fastest repetition."""
    durations = []
    for _ in range(REPETITIONS):
        begin = clock()
        query()
        durations.append(clock() - begin)
    return min(durations) * 1000


if __name__ == "__main__":
    main()
