"""Metrics of a running run, served to Prometheus on a port of their own until the run ends."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector, start_http_server

from catalog.runtime.progress import Progress
from scout.terminal.progress import RateEstimator

log = logging.getLogger("scout.metrics")


class ProgressMetrics:
    """Progress that sets gauges from every message and passes it on."""

    def __init__(self, onward: Progress, registry: CollectorRegistry) -> None:
        def gauge(name: str, description: str, *labels: str) -> Gauge:
            return Gauge(f"scout_live_{name}", description, labels, registry=registry)

        self._onward, self._pace = onward, RateEstimator()
        self._done = gauge("done", "Items done.", "what")
        self._total = gauge("total", "Items known so far.", "what")
        self._rate = gauge("rate", "Items per second.", "what")
        self._left = gauge("left_seconds", "Least remaining time.", "what")
        self._figures = gauge("figure", "Further figures.", "what", "figure")
        self._updated_at = gauge("heard_timestamp_seconds", "Time of the last progress message.")

    def __call__(self, label: str, done: int, total: int | None = None, **also: int) -> None:
        """Set the gauges of one message."""
        self._onward(label, done, total, **also)
        news = self._pace.estimate(label, done, total, also)
        self._done.labels(label).set(done)
        optional = ((self._total, total), (self._rate, news.rate), (self._left, news.left))
        for gauge, value in optional:
            if value is not None:
                gauge.labels(label).set(value)
        for name, number in also.items():
            self._figures.labels(label, name).set(number)
        self._updated_at.set(time.time())


@contextmanager
def serve_run_metrics(port: int, progress: Progress) -> Iterator[Progress]:
    """Serve the progress on a local port for the block.

    If the port is taken, the run goes on without metrics.
    """
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    try:
        server, thread = start_http_server(port, addr="127.0.0.1", registry=registry)
    except (OSError, OverflowError) as error:
        log.warning("metrics are not served", extra={"port": port, "error": str(error)})
        yield progress
        return
    try:
        yield ProgressMetrics(progress, registry)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
