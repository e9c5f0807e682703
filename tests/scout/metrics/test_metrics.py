"""Metrics for Prometheus, from the store and from a running run; progress and log as JSON."""

import io
import json
import time
import urllib.request
from contextlib import closing

import pytest
from prometheus_client.parser import text_string_to_metric_families

from catalog.models import Page, PageState, Shop
from catalog.runtime.progress import no_progress
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.metrics.run_metrics import serve_run_metrics
from scout.metrics.store_metrics import MetricsText
from scout.terminal.progress import PlainProgress, ProgressUpdate, RateEstimator
from tests.scout.conftest import FakeStages, Scout, web_client


def _samples(text: str) -> dict[tuple[str, ...], float]:
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_of_the_store(
    settings: Settings, store: Store, known_shop: Shop, fake_stages: FakeStages, scout: Scout
) -> None:
    """`/metrics` has pages by state, offers by verdict, and the figures of each shop's newest run."""
    assert scout("run", "demo").code == 0
    with store.write() as session:
        session.add(
            Page(shop_id=known_shop.id, url=f"{known_shop.url}late", state=PageState.FAILED)
        )
    client = web_client(settings, store)
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = _samples(response.text)
    assert samples["scout_shops",] == 1
    assert samples["scout_pages", "demo", "fetched"] == 3
    assert samples["scout_pages", "demo", "failed"] == 1
    assert samples["scout_offers", "demo", "missing"] == 1
    assert samples["scout_run_state", "demo", "done", "report"] == 1
    assert samples["scout_crawl_requests", "demo"] == 4
    assert samples["scout_run_finished_timestamp_seconds", "demo"] > 0
    assert samples["scout_data_free_bytes",] > 0
    assert client.post("/metrics").status_code == 405


def test_metrics_before_the_first_shop(settings: Settings, store: Store) -> None:
    """An empty store has metrics as well."""
    client = web_client(settings, store)
    assert _samples(client.get("/metrics").text)["scout_shops",] == 0


def test_old_metrics_are_made_again_in_the_background(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer whose text is old gives it once more; a later one has the new figures."""
    monkeypatch.setattr("scout.metrics.store_metrics.CACHE_SECONDS", 0.0)
    metrics = MetricsText(settings, store)
    assert _samples(metrics.read().decode())["scout_shops",] == 0
    with store.write() as session:
        session.add(Shop(name="new", url="https://new.example/"))
    deadline = time.monotonic() + 30
    seen = []
    while time.monotonic() < deadline and 1 not in seen:
        seen.append(_samples(metrics.read().decode())["scout_shops",])
        time.sleep(0.02)
    assert (seen[0], seen[-1]) == (0, 1)


def test_metrics_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The progress of a run is passed on while it is served."""
    messages: list[object] = []
    with serve_run_metrics(
        0, lambda *counts, **figures: messages.append((counts, figures))
    ) as progress:
        progress("pages", 3, 10, errors=1)
    assert messages == [(("pages", 3, 10), {"errors": 1})]


def test_metrics_over_http(
    scout: Scout, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run metrics are served in the format of Prometheus; a taken port does not stop the run."""
    import socket

    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        with serve_run_metrics(taken.getsockname()[1], no_progress) as progress:
            progress("pages", 1)
        port = taken.getsockname()[1]
    with serve_run_metrics(port, no_progress) as progress:
        progress("pages", 3, 10, errors=1)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as response:
            samples = _samples(response.read().decode())
    assert (samples["scout_live_done", "pages"], samples["scout_live_total", "pages"]) == (3, 10)
    assert samples["scout_live_figure", "errors", "pages"] == 1
    assert samples["process_resident_memory_bytes",] > 0


def test_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rate and remaining time come from the last half minute, as soon as there is enough data."""
    clock = iter([0.0, 1.0, 10.0, 100.0])
    monkeypatch.setattr("scout.terminal.progress.time.monotonic", lambda: next(clock))
    pace = RateEstimator()
    assert pace.estimate("pages", 0, 100, {}).rate is None
    assert pace.estimate("pages", 5, 100, {}).left is None
    assert pace.estimate("pages", 50, 100, {}) == ProgressUpdate("pages", 50, 100, {}, 5.0, 10.0)
    assert pace.estimate("pages", 60, 100, {}).rate is None


def test_progress_in_json() -> None:
    """Progress as JSON is one object per line."""
    out = io.StringIO()
    progress = PlainProgress(out, as_json=True)
    progress("pages", 3, 10, errors=1)
    message = json.loads(out.getvalue())
    keys = ("event", "what", "done", "total", "errors")
    assert tuple(message[key] for key in keys) == (
        "progress",
        "pages",
        3,
        10,
        1,
    )


def test_all_of_a_run_in_json(
    scout: Scout, known_shop: Shop, fake_stages: FakeStages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `log_format` json every line on standard error is one object, errors and notes included."""
    from scout.terminal.output import JSON_LINES

    monkeypatch.setenv("SCOUT_LOG_FORMAT", "json")
    try:
        assert scout("run", "demo").code == 0
        failed = scout("run", "nobody")
        scout("decide", "demo", "https://elsewhere.example/", "accept")
        messages = [json.loads(line) for line in failed.err.splitlines()]
    finally:
        JSON_LINES.set(False)
    assert failed.code == 1
    assert [(line["level"], "nobody" in line["event"]) for line in messages] == [("error", True)]
