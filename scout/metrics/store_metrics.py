"""Metrics of all shops from the store: `/metrics` of `scout serve`.

The figures are read from the store when Prometheus asks for them, so they cover every process on
that store. Several servers may ask, and with ten thousand shops reading and writing them takes a
second or two. So the text is kept: an answer whose text is old gives it once more, and has it made
again in the background.
"""

import logging
import os
import shutil
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session, col, func, select

from catalog.errors import StoreError
from catalog.models import (
    KnownOffer,
    Page,
    Run,
    RunCounts,
    RunState,
    Schedule,
    Shop,
    Stage,
    Verdict,
)
from catalog.runtime.settings import Settings
from catalog.storage.runs import last_finished_run_ids
from catalog.storage.store import Store, newest_revision
from scout.metrics.gauges import Samples, make_gauge
from scout.metrics.queue_metrics import frontier_metric, job_metrics

CACHE_SECONDS = 10.0
"""Seconds for which the text is kept at least: the least usual time between two questions."""

UNCOUNTED_FIGURES = frozenset({"version"})
"""Figures of a stage whose sum over all shops says nothing."""

CACHE_FACTOR = 20.0
"""The text is kept for this many times as long as making it took: 5 % of the time."""

log = logging.getLogger("scout.metrics")


@dataclass(frozen=True)
class _ShopRun:
    """Newest run of a shop."""

    shop: str
    run: Run


class MetricsText:
    """The text of all metrics, made again in the background when it is old."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(StoreCollector(settings, store))
        self._text: bytes | None = None
        self._due_at = 0.0
        self._is_being_made = False
        self._lock = threading.Lock()

    def read(self) -> bytes:
        """Return the text in the format of Prometheus. Raises StoreError, SQLAlchemyError."""
        with self._lock:
            if self._text is None:
                return self._make()
            if time.monotonic() >= self._due_at and not self._is_being_made:
                self._is_being_made = True
                threading.Thread(target=self._make_again, daemon=True).start()
            return self._text

    def _make(self) -> bytes:
        started = time.monotonic()
        text = generate_latest(self._registry)
        finished = time.monotonic()
        self._due_at = finished + max(CACHE_SECONDS, CACHE_FACTOR * (finished - started))
        self._text = text
        return text

    def _make_again(self) -> None:
        try:
            self._make()
        except (StoreError, SQLAlchemyError):
            log.warning("metrics cannot be read", exc_info=True)
            # The next question gets the error.
            self._text = None
        finally:
            self._is_being_made = False


class StoreCollector(Collector):
    """Collector of the figures of all shops."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings, self._store = settings, store

    def collect(self) -> Iterable[Metric]:
        """Return the metrics as the store has them now."""
        with self._store.read() as session:
            return [
                *_shop_metrics(session),
                *_run_metrics(session),
                *job_metrics(session),
                _schedule_metric(session),
                _database_metric(session),
                *self._disk_metrics(),
            ]

    def describe(self) -> Iterable[Metric]:
        """Return no metrics in advance: registering the collector must not read the store."""
        return []

    def _disk_metrics(self) -> Iterator[Metric]:
        free: Samples = {}
        inodes: Samples = {}
        # With another database, the folder is made by the first run.
        with suppress(FileNotFoundError):
            free[()] = shutil.disk_usage(self._settings.data_dir).free
            inodes[()] = os.statvfs(self._settings.data_dir).f_favail
        description = "Space left where Scout keeps its data."
        yield make_gauge("scout_data_free_bytes", description, (), free)
        description = "Files that can still be made where Scout keeps its data."
        yield make_gauge("scout_data_free_inodes", description, (), inodes)


def _database_metric(session: Session) -> Metric:
    connection = session.connection()
    size = "SELECT pg_database_size(current_database())"
    if connection.dialect.name == "sqlite":
        size = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    samples: Samples = {(newest_revision(),): connection.execute(text(size)).scalar() or 0}
    description = "Size of the database, with the revision of its schema."
    return make_gauge("scout_database_bytes", description, ("schema",), samples)


def _shop_metrics(session: Session) -> Iterator[Metric]:
    names = dict(session.exec(select(Shop.id, Shop.name)).all())
    yield make_gauge("scout_shops", "Shops that are stored.", (), {(): len(names)})
    pages = session.exec(
        select(Page.shop_id, Page.state, func.count()).group_by(col(Page.shop_id), col(Page.state))
    )
    page_counts: Samples = {
        (names.get(shop_id, ""), str(state)): count for shop_id, state, count in pages
    }
    yield make_gauge("scout_pages", "Pages of a shop by state.", ("shop", "state"), page_counts)
    yield frontier_metric(page_counts)
    offers = session.exec(
        select(KnownOffer.shop_id, func.count()).group_by(col(KnownOffer.shop_id))
    )
    offer_counts: Samples = {(names.get(shop_id, ""),): count for shop_id, count in offers}
    description = "Offers of a shop in the catalog."
    yield make_gauge("scout_known_offers", description, ("shop",), offer_counts)


def _run_metrics(session: Session) -> Iterator[Metric]:
    newest = (
        select(func.max(Run.id))
        .where(col(Run.state) != RunState.ABANDONED)
        .group_by(col(Run.shop_id))
    )
    query = select(Run, Shop.name).where(Run.shop_id == Shop.id, col(Run.id).in_(newest))
    runs = [_ShopRun(name, run) for run, name in session.exec(query)]
    yield from _progress_metrics(runs)
    yield from _figure_metrics(runs)
    yield from _stage_metrics(runs)
    yield from _finding_metrics(session)


def _finding_metrics(session: Session) -> Iterator[Metric]:
    """Yield the counts of the last finished runs, as every list and report has them."""
    finished = last_finished_run_ids(session)
    query = select(RunCounts, Shop.name).where(
        RunCounts.shop_id == Shop.id, col(RunCounts.run_id).in_(finished)
    )
    offers: Samples = {}
    values: Samples = {}
    runs: Samples = {}
    for counts, shop in session.exec(query):
        runs[shop,] = counts.run_id
        for verdict in (*Verdict, "ignored"):
            offers[shop, str(verdict)] = getattr(counts, verdict)
        for currency, value in counts.values.items():
            values[shop, currency] = float(value)
    description = "Offers of a shop's last finished run by verdict."
    yield make_gauge("scout_offers", description, ("shop", "verdict"), offers)
    description = "Value of the missing offers of a shop's last finished run, by currency."
    yield make_gauge("scout_missing_value", description, ("shop", "currency"), values)
    description = "The last finished run of a shop, whose figures are shown."
    yield make_gauge("scout_finished_run", description, ("shop",), runs)


def _progress_metrics(runs: Sequence[_ShopRun]) -> Iterator[Metric]:
    """Yield state, start and end of the newest runs."""
    states: Samples = {}
    started: Samples = {}
    finished: Samples = {}
    for shop_run in runs:
        shop, run = shop_run.shop, shop_run.run
        states[shop, str(run.state), str(run.stage)] = 1
        started[shop,] = run.started_at.timestamp()
        if run.finished_at:
            finished[shop,] = run.finished_at.timestamp()
    yield make_gauge(
        "scout_run_state",
        "The newest run of a shop: 1 for the state and stage it is in.",
        ("shop", "state", "stage"),
        states,
    )
    description = "When the newest run of a shop began."
    yield make_gauge("scout_run_started_timestamp_seconds", description, ("shop",), started)
    description = "When the newest run of a shop ended."
    yield make_gauge("scout_run_finished_timestamp_seconds", description, ("shop",), finished)


def _figure_metrics(runs: Sequence[_ShopRun]) -> Iterator[Metric]:
    """Yield the figures that the stages of the newest runs have stored."""
    seconds: Samples = {}
    requests: Samples = {}
    received: Samples = {}
    coverage: Samples = {}
    for shop_run in runs:
        shop, figures = shop_run.shop, shop_run.run.figures
        for stage, value in _numbers(figures, "seconds"):
            seconds[shop, stage] = value
        for _, value in _numbers(figures, "known_share"):
            coverage[shop,] = value
        crawl = {"crawl": figures.get("crawl")}
        for _, value in _numbers(crawl, "requests"):
            requests[shop,] = value
        for _, value in _numbers(crawl, "bytes"):
            received[shop,] = value
    description = "How long each stage of the newest run took."
    yield make_gauge("scout_run_stage_seconds", description, ("shop", "stage"), seconds)
    description = "Requests of the newest crawl of a shop."
    yield make_gauge("scout_crawl_requests", description, ("shop",), requests)
    description = "Bytes received of the newest crawl of a shop."
    yield make_gauge("scout_crawl_bytes", description, ("shop",), received)
    description = "Share of a shop's known offers whose page was found."
    yield make_gauge("scout_coverage_ratio", description, ("shop",), coverage)


def _stage_metrics(runs: Sequence[_ShopRun]) -> Iterator[Metric]:
    """Yield sums over the newest runs of all shops, by stage.

    A series for each figure of each of ten thousand shops would be too many.
    """
    seconds: Samples = {}
    done: Samples = {}
    items: Samples = {}
    for shop_run in runs:
        for stage in Stage:
            figures = shop_run.run.figures.get(stage.value)
            if not isinstance(figures, dict):
                continue
            done[stage.value,] = done.get((stage.value,), 0) + 1
            for name, value in figures.items():
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                if not is_number or name in UNCOUNTED_FIGURES:
                    continue
                if name == "seconds":
                    seconds[stage.value,] = seconds.get((stage.value,), 0) + value
                else:
                    items[stage.value, name] = items.get((stage.value, name), 0) + value
    description = "Shops whose newest run has done the stage."
    yield make_gauge("scout_stage_shops", description, ("stage",), done)
    description = "How long the stage took in the newest runs of all shops together."
    yield make_gauge("scout_stage_seconds", description, ("stage",), seconds)
    description = "Figures of the stage in the newest runs of all shops together."
    yield make_gauge("scout_stage_items", description, ("stage", "item"), items)


def _numbers(figures: Mapping[str, object], name: str) -> Iterator[tuple[str, float]]:
    """Yield a figure of every stage that has stored it."""
    for stage, values in figures.items():
        if isinstance(values, dict):
            value = values.get(name)
            if isinstance(value, int | float):
                yield stage, value


def _schedule_metric(session: Session) -> Metric:
    query = select(Shop.name, Schedule.last_started_at).where(Shop.id == Schedule.shop_id)
    started: Samples = {}
    for shop, started_at in session.exec(query):
        started[shop,] = started_at.timestamp() if started_at else 0
    return make_gauge(
        "scout_schedule_started_timestamp_seconds",
        "When the timetable last started a shop's run; 0 if it never did.",
        ("shop",),
        started,
    )
