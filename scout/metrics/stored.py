"""What the store says, as Prometheus wants it: `/metrics` of `scout serve`.

The figures are read from the store when they are asked for, so they are those of all processes on it, and counted at
most every few seconds, for several may ask.
"""

import shutil
import time
from collections.abc import Iterable, Iterator
from typing import Any

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlmodel import Session, col, func, select

from catalog.models import KnownOffer, Match, Page, Run, RunState, Schedule, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store

FRESH = 10.0


class Stored(Collector):
    """Collects the figures of all shops."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings, self._store = settings, store
        self._kept: list[Metric] = []
        self._kept_at = 0.0

    def collect(self) -> Iterable[Metric]:
        """The figures, as Prometheus' library asks for them."""
        if not self._kept or time.monotonic() - self._kept_at > FRESH:
            with self._store.read() as session:
                self._kept = [
                    *_of_shops(session),
                    *_of_runs(session),
                    *_of_schedule(session),
                    self._space(),
                ]
            self._kept_at = time.monotonic()
        return self._kept

    def describe(self) -> Iterable[Metric]:
        """Nothing ahead: to register must not read the store."""
        return []

    def _space(self) -> Metric:
        free = shutil.disk_usage(self._settings.data_dir).free
        return _gauge(
            "scout_data_free_bytes", "Space left where Scout keeps its data.", (), [((), free)]
        )


def _of_shops(session: Session) -> Iterator[Metric]:
    names = dict(session.exec(select(Shop.id, Shop.name)).all())
    yield _gauge("scout_shops", "Shops that are stored.", (), [((), len(names))])
    pages = session.exec(
        select(Page.shop_id, Page.state, func.count()).group_by(col(Page.shop_id), col(Page.state))
    )
    rows = [((names.get(shop, ""), str(state)), number) for shop, state, number in pages]
    yield _gauge("scout_pages", "Pages of a shop by state.", ("shop", "state"), rows)
    known = session.exec(select(KnownOffer.shop_id, func.count()).group_by(col(KnownOffer.shop_id)))
    yield _gauge(
        "scout_known_offers",
        "Offers of a shop in the catalog.",
        ("shop",),
        [((names.get(shop, ""),), number) for shop, number in known],
    )


def _of_runs(session: Session) -> Iterator[Metric]:
    newest = (
        select(func.max(Run.id))
        .where(col(Run.state) != RunState.ABANDONED)
        .group_by(col(Run.shop_id))
    )
    both = select(Run, Shop.name).where(Run.shop_id == Shop.id, col(Run.id).in_(newest))
    runs = [(run, name) for run, name in session.exec(both)]
    names = {run.id: name for run, name in runs}
    yield _gauge(
        "scout_run_state",
        "The newest run of a shop: 1 for the state and stage it is in.",
        ("shop", "state", "stage"),
        [((name, str(run.state), str(run.stage)), 1) for run, name in runs],
    )
    yield _gauge(
        "scout_run_started_timestamp_seconds",
        "When the newest run of a shop began.",
        ("shop",),
        [((name,), run.started_at.timestamp()) for run, name in runs],
    )
    yield _gauge(
        "scout_run_finished_timestamp_seconds",
        "When the newest run of a shop ended.",
        ("shop",),
        [((name,), run.finished_at.timestamp()) for run, name in runs if run.finished_at],
    )
    yield _gauge(
        "scout_run_stage_seconds",
        "How long each stage of the newest run took.",
        ("shop", "stage"),
        [
            ((name, stage), seconds)
            for run, name in runs
            for stage, seconds in _figures(run, "seconds")
        ],
    )
    for figure, about in (("requests", "Requests"), ("bytes", "Bytes received")):
        yield _gauge(
            f"scout_crawl_{figure}",
            f"{about} of the newest crawl of a shop.",
            ("shop",),
            [
                ((name,), number)
                for run, name in runs
                for stage, number in _figures(run, figure)
                if stage == "crawl"
            ],
        )
    yield _gauge(
        "scout_coverage_ratio",
        "Share of a shop's known offers whose page was found.",
        ("shop",),
        [((name,), share) for run, name in runs for stage, share in _figures(run, "known_share")],
    )
    found = select(Match.run_id, Match.verdict, func.count()).where(col(Match.run_id).in_(newest))
    rows = session.exec(found.group_by(col(Match.run_id), col(Match.verdict)))
    yield _gauge(
        "scout_offers",
        "Offers of a shop's newest run by verdict.",
        ("shop", "verdict"),
        [((names.get(run_id, ""), str(verdict)), number) for run_id, verdict, number in rows],
    )


def _of_schedule(session: Session) -> Iterator[Metric]:
    both = session.exec(
        select(Shop.name, Schedule.last_started_at).where(Shop.id == Schedule.shop_id)
    )
    yield _gauge(
        "scout_schedule_started_timestamp_seconds",
        "When the timetable last started a shop's run; 0 where it never did.",
        ("shop",),
        [((name,), last.timestamp() if last else 0) for name, last in both],
    )


def _figures(run: Run, figure: str) -> Iterator[tuple[str, float]]:
    for stage, figures in run.figures.items():
        if isinstance(figures, dict) and isinstance(number := figures.get(figure), int | float):
            yield stage, number


def _gauge(
    name: str, about: str, labels: Iterable[str], rows: Iterable[tuple[tuple[str, ...], Any]]
) -> Metric:
    gauge = GaugeMetricFamily(name, about, labels=list(labels))
    for values, number in rows:
        gauge.add_metric(list(values), float(number))
    return gauge
