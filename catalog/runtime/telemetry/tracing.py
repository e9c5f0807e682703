"""Spans of OpenTelemetry around runs, stages and batches of pages; nothing where they are off.

They are switched on by the setting `traces_url`, and need the extra `traces`. Without it, `span`
returns one object that does nothing, and no module of OpenTelemetry is imported.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from catalog.errors import ConfigError

# Name of this program in traces.
SERVICE = "scout"
# Milliseconds that the end of a process waits for its last spans to be sent.
FLUSH_TIMEOUT = 5_000

_NO_SPAN: AbstractContextManager[None] = nullcontext()
# The provider and the tracer of this process, None where traces are off.
_provider: Any = None
_tracer: Any = None


def span(name: str, **attributes: str | int | float) -> AbstractContextManager[Any]:
    """Return a context manager for a span of that name, which an exception marks as failed.

    It gives the span, or None where traces are off.
    """
    if _tracer is None:
        return _NO_SPAN
    named = {f"{SERVICE}.{key}": value for key, value in attributes.items()}
    started: AbstractContextManager[Any] = _tracer.start_as_current_span(name, attributes=named)
    return started


def start_traces(url: str) -> None:
    """Send the spans of this process to an OTLP address over HTTP.

    Raises ConfigError where the extra is not installed, or the address is none.
    """
    if not url.startswith(("http://", "https://")):
        raise ConfigError(
            f"setting 'traces_url': {url!r} is no http(s) address, such as "
            "http://127.0.0.1:4318/v1/traces"
        )
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ConfigError(
            "setting 'traces_url': traces need OpenTelemetry: pip install "
            "'scout-offer-gaps[traces]'"
        ) from error
    use_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=url)))


def use_span_processor(processor: Any) -> None:
    """Hand the spans of this process to a span processor of OpenTelemetry's SDK."""
    global _provider, _tracer  # noqa: PLW0603 - one per process
    from importlib.metadata import version

    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

    resource = Resource.create(
        {"service.name": SERVICE, "service.version": version("scout-offer-gaps")}
    )
    # Not set globally: libraries that trace on their own account are not asked to.
    _provider = TracerProvider(resource=resource)
    _provider.add_span_processor(processor)
    _tracer = _provider.get_tracer(SERVICE)


def stop_traces() -> None:
    """Send the spans that are left, and switch traces off."""
    global _provider, _tracer  # noqa: PLW0603 - one per process
    if _provider is None:
        return
    _provider.force_flush(FLUSH_TIMEOUT)
    _provider.shutdown()
    _provider = _tracer = None
