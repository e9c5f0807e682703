"""Traces are off unless an address is set; then runs, stages and batches of pages are spans."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from catalog.errors import ConfigError
from catalog.runtime.telemetry import tracing
from catalog.runtime.telemetry.tracing import span, start_traces, stop_traces, use_span_processor


class Recorder:
    """A span processor that keeps the spans that have ended."""

    def __init__(self) -> None:
        self.spans: list[Any] = []

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        """Do nothing."""

    def _on_ending(self, span: Any) -> None:
        """Do nothing."""

    def on_end(self, span: Any) -> None:
        """Keep a span."""
        self.spans.append(span)

    def shutdown(self) -> None:
        """Do nothing."""

    def force_flush(self, timeout_millis: int = 0) -> bool:
        """Report that nothing is left."""
        return True


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    """Traces that are recorded."""
    pytest.importorskip("opentelemetry.sdk", reason="OpenTelemetry is not installed")
    recorder = Recorder()
    use_span_processor(recorder)
    yield recorder
    stop_traces()


def test_spans_that_are_off_cost_nothing() -> None:
    """All of them are one object."""
    assert tracing._tracer is None
    assert span("run", run=1) is span("stage")


def test_spans_are_nested_and_fail_with_their_block(recorder: Recorder) -> None:
    """A stage belongs to its run; an error is noted at both."""

    def fail() -> None:
        with span("run", run=3), span("stage", stage="parse"):
            raise ConfigError("nothing works")

    with pytest.raises(ConfigError):
        fail()
    stage, run = recorder.spans
    assert (stage.name, stage.attributes["scout.stage"]) == ("stage", "parse")
    assert (run.name, run.attributes["scout.run"]) == ("run", 3)
    assert stage.parent.span_id == run.context.span_id
    assert not run.status.is_ok


def test_the_address_is_checked() -> None:
    """A setting that is no address is one clear line."""
    with pytest.raises(ConfigError, match="is no http"):
        start_traces("127.0.0.1:4318")


def test_spans_are_sent() -> None:
    """A collector gets them when the process ends, at the latest."""
    pytest.importorskip("opentelemetry.exporter.otlp", reason="OpenTelemetry is not installed")
    received: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing."""

    with HTTPServer(("127.0.0.1", 0), Collector) as collector:
        Thread(target=collector.handle_request, daemon=True).start()
        start_traces(f"http://127.0.0.1:{collector.server_port}/v1/traces")
        with span("run", run=1, shop="demo"):
            pass
        stop_traces()
    assert len(received) == 1
    assert span("run") is span("stage")
