"""Stored findings of a large shop: storing them, all report files, and the query of every list and page.

    python -m benchmarks.findings [--offers 60000] [--missing 50000] [--shops 200] [--only sqlite|postgresql]

The store is that of `benchmarks.large_store`, in SQLite and, where its programs are installed, in PostgreSQL. Each
query of `catalog.storage.findings` is timed as its fastest of several repetitions, in processor time (with that of the
server), and compared with the plain count of the run's findings and with the limit for a page. The exit code is 1 if
something is over its limit. The report is opened in Chromium where that is installed.
"""

import argparse
import multiprocessing
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import text

from benchmarks.databases import DATABASES, Clock, NotInstalledError, database_url, make_clock
from benchmarks.large_store import CATEGORIES, CATEGORY_ROOT, HOME, SHOP_NAME, fill_store
from benchmarks.measure import peak_megabytes
from catalog.models import Shop, Verdict
from catalog.runtime.settings import Settings
from catalog.storage.findings import (
    SORT_NAMES,
    Change,
    FindingFilter,
    count_matching,
    read_findings_page,
)
from catalog.storage.runs import last_finished_run
from catalog.storage.store import Store
from reports.model.finding_storage import store_run_findings, update_findings
from reports.model.findings import list_findings
from reports.write.report_files import FEED_FORMATS, FORMATS, report_shop
from scout.overview import describe_shops

# Milliseconds that the query of a list or page may take.
LIMIT = 100.0
# Repetitions of a query; other programs on the machine cost some of them more.
REPETITIONS = 7
ROWS = 50

# Limits of a report in all formats: seconds of processor time, MB of memory, MB of the HTML file,
# and seconds until a browser shows it.
REPORT_SECONDS = 30.0
REPORT_MEMORY = 400.0
HTML_SIZE = 20.0
OPENING_SECONDS = 3.0
_CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


def main() -> None:
    """Fill a store in each database, then print the costs of storing, reporting and querying."""
    arguments = _parse_arguments()
    slow = False
    for name in DATABASES:
        if arguments.only in (None, name):
            slow = _measure(name, arguments) or slow
    sys.exit(1 if slow else 0)


def _parse_arguments() -> argparse.Namespace:
    argument_parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    argument_parser.add_argument("--offers", type=int, default=60_000)
    argument_parser.add_argument("--missing", type=int, default=50_000)
    argument_parser.add_argument(
        "--shops", type=int, default=200, help="small shops beside the large one"
    )
    argument_parser.add_argument("--only", choices=DATABASES, help="one database; default: both")
    return argument_parser.parse_args()


def _measure(database: str, arguments: argparse.Namespace) -> bool:
    """Measure everything in one database; returns True if something was over its limit."""
    try:
        with tempfile.TemporaryDirectory() as folder, database_url(database) as url:
            settings = Settings.load(data_dir=Path(folder), database_url=url)
            # Filling takes much memory, which would count as that of the report.
            counts = (arguments.offers, arguments.missing, arguments.shops)
            filling = multiprocessing.get_context("spawn").Process(
                target=fill_store, args=(settings, *counts)
            )
            filling.start()
            filling.join()
            if filling.exitcode:
                raise RuntimeError("the store could not be filled")
            print(f"{database}: {arguments.offers:,} offers, {arguments.missing:,} of them missing")
            store = Store.open(settings)
            slow = _print_costs(settings, store)
            store.engine.dispose()
            return slow
    except NotInstalledError as error:
        print(f"{database} is not measured: {error}")
        return False


def _print_costs(settings: Settings, store: Store) -> bool:
    shop = store.shop(SHOP_NAME)
    with store.read() as session:
        run = last_finished_run(session, shop.id or 0)
    assert run is not None
    run_id = run.id or 0
    seconds = _processor_time(lambda: store_run_findings(store, shop, run_id, {}))
    print(f"causes inferred and findings stored: {seconds:.1f} s of processor time")
    if store.engine.dialect.name == "postgresql":
        with store.write() as session:
            session.connection().execute(text("ANALYZE"))
    slow = _print_report(settings, store, shop, run_id)
    return _print_times(store, shop, run_id) or slow


def _processor_time(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _print_report(settings: Settings, store: Store, shop: Shop, run_id: int) -> bool:
    """Print processor time, memory and sizes of a report in all formats, each measured alone.

    Returns True if one is over its limit.
    """
    begin = time.process_time()
    paths = report_shop(settings, store, shop, run_id, formats=(*FORMATS, *FEED_FORMATS))
    used = time.process_time() - begin
    memory = peak_megabytes()
    sizes = {name: path.stat().st_size / 1e6 for name, path in paths.items()}
    listed = ", ".join(f"{name} {size:.1f} MB" for name, size in sizes.items())
    print(f"report in all formats: {used:.1f} s of processor time, {memory:.0f} MB ({listed})")
    opening = _opening_seconds(paths["html"])
    if opening is not None:
        print(f"HTML report opened in Chromium after {opening:.1f} s")
    return (
        used > REPORT_SECONDS
        or memory > REPORT_MEMORY
        or sizes["html"] > HTML_SIZE
        or (opening or 0.0) > OPENING_SECONDS
    )


def _opening_seconds(path: Path) -> float | None:
    """Return the time until the script of a report has drawn its rows; None without a browser."""
    if _CHROMIUM is None or find_spec("playwright") is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        begin = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("#missing .open")
        seconds = time.perf_counter() - begin
        browser.close()
    return seconds


def _print_times(store: Store, shop: Shop, run_id: int) -> bool:
    """Print a line for each query; returns True if one was over the limit."""
    clock = make_clock(store)
    all_findings = FindingFilter(includes_ignored=True)

    def count() -> object:
        with store.read() as session:
            return count_matching(session, run_id, all_findings)

    baseline = _fastest(count, clock)
    print(f"{'count of the findings':54}{baseline:8.1f} ms")
    slow = False
    for name, query in _queries(store, shop, run_id).items():
        milliseconds = _fastest(query, clock)
        is_slow = milliseconds > LIMIT
        slow = slow or is_slow
        print(
            f"{name:54}{milliseconds:8.1f} ms {milliseconds / baseline:7.1f} times the count"
            f"{' over the limit' if is_slow else ''}",
            flush=True,
        )
    # Counts the run again: a write, for which no limit is set.
    url = f"{HOME}p/59000"

    def update_one() -> None:
        with store.write() as session:
            update_findings(session, shop, run_id, [url])

    decision = _fastest(update_one, clock)
    print(f"{'a review decision, with the counts of the run':54}{decision:8.1f} ms")
    return slow


def _queries(store: Store, shop: Shop, run_id: int) -> dict[str, Callable[[], object]]:
    missing = FindingFilter(verdicts=frozenset({Verdict.MISSING}))
    filters = {
        "missing": missing,
        "all": FindingFilter(includes_ignored=True),
        "unsure": FindingFilter(verdicts=frozenset({Verdict.UNSURE})),
        "ignored": FindingFilter(only_ignored=True),
        "category and below": FindingFilter(missing.verdicts, category=CATEGORY_ROOT),
        "whole category": FindingFilter(missing.verdicts, category=CATEGORIES[7]),
        "brand": FindingFilter(missing.verdicts, brand="brand 7"),
        "price range": FindingFilter(
            missing.verdicts, price_from=Decimal(100), price_to=Decimal(200)
        ),
        "cause": FindingFilter(missing.verdicts, cause="feed"),
        "since a run": FindingFilter(missing.verdicts, since_run_id=0),
        "new": FindingFilter(missing.verdicts, change=Change.NEW),
        "gone": FindingFilter(change=Change.GONE),
        "several filters": FindingFilter(
            missing.verdicts, category=CATEGORY_ROOT, brand="brand 7", price_from=Decimal(100)
        ),
    }
    queries: dict[str, Callable[[], object]] = {}
    for name, where in filters.items():
        queries[f"scout offers --limit {ROWS}, {name}"] = _listing(store, shop, run_id, where)
        queries[f"number of offers, {name}"] = _counting(store, run_id, where)
    for sort in SORT_NAMES:
        for name in (sort, f"-{sort}"):
            for listed in ("missing", "all", "category and below", "brand"):
                title = f"scout offers --limit {ROWS} --sort {name}, {listed}"
                queries[title] = _sorting(store, run_id, filters[listed], name)
    queries["last page of all offers"] = lambda: list_findings(
        store, shop, run_id, where=filters["all"], limit=ROWS, offset=59_000
    )
    queries["scout shop list"] = lambda: describe_shops(store)
    return queries


def _listing(store: Store, shop: Shop, run_id: int, where: FindingFilter) -> Callable[[], object]:
    return lambda: list_findings(store, shop, run_id, where=where, limit=ROWS)


def _counting(store: Store, run_id: int, where: FindingFilter) -> Callable[[], object]:
    def count() -> object:
        with store.read() as session:
            return count_matching(session, run_id, where)

    return count


def _sorting(store: Store, run_id: int, where: FindingFilter, sort: str) -> Callable[[], object]:
    def read() -> object:
        with store.read() as session:
            return read_findings_page(session, run_id, where, sort, ROWS)

    return read


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
