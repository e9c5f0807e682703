"""How a run under way stands, for Prometheus: on a port of its own, for as long as the run lasts."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from prometheus_client import CollectorRegistry, Gauge, ProcessCollector, start_http_server

from catalog.runtime.progress import Progress
from scout.terminal.progress import Pace

log = structlog.get_logger("scout.metrics")


class LiveProgress:
    """A Progress that keeps gauges of what it hears, and passes all on."""

    def __init__(self, onward: Progress, registry: CollectorRegistry) -> None:
        self._onward, self._pace = onward, Pace()
        self._done = Gauge("scout_live_done", "How many are done.", ["what"], registry=registry)
        self._total = Gauge(
            "scout_live_total", "How many there are, so far.", ["what"], registry=registry
        )
        self._rate = Gauge("scout_live_rate", "How many a second.", ["what"], registry=registry)
        self._left = Gauge(
            "scout_live_left_seconds",
            "How long it will take at least.",
            ["what"],
            registry=registry,
        )
        self._also = Gauge(
            "scout_live_figure", "Further figures.", ["what", "figure"], registry=registry
        )
        self._heard = Gauge(
            "scout_live_heard_timestamp_seconds", "When progress was last told.", registry=registry
        )

    def __call__(self, what: str, done: int, total: int | None = None, **also: int) -> None:
        self._onward(what, done, total, **also)
        news = self._pace.news(what, done, total, also)
        self._done.labels(what).set(done)
        for gauge, value in (
            (self._total, total),
            (self._rate, news.rate),
            (self._left, news.left),
        ):
            if value is not None:
                gauge.labels(what).set(value)
        for name, number in also.items():
            self._also.labels(what, name).set(number)
        self._heard.set(time.time())


@contextmanager
def told_on(port: int, progress: Progress) -> Iterator[Progress]:
    """The progress, told on that port of this machine as well; a port that is taken costs no run."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    try:
        server, thread = start_http_server(port, addr="127.0.0.1", registry=registry)
    except (OSError, OverflowError) as error:
        log.warning("metrics are not served", port=port, error=str(error))
        yield progress
        return
    try:
        yield LiveProgress(progress, registry)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
