"""Logs by structlog, as text or as JSON lines, on standard error.

Logs of the libraries go through it as well.

See https://www.structlog.org/en/stable/standard-library.html, "Rendering using structlog-based
formatters".
"""

import logging
import sys

import structlog
from structlog.typing import Processor

from catalog.runtime.settings import Settings
from scout.terminal.output import JSON_LINES

CHATTY_LIBRARIES = (
    "scrapy",
    "twisted",
    "httpx",
    "httpcore",
    "asyncio",
    "filelock",
    "alembic",
    "sqlalchemy",
    "fsspec",
    "urllib3",
)
"""Loggers never more verbose than `warning`: below, they write several lines per request."""


def configure_logging(settings: Settings, verbose: bool = False) -> None:
    """Set logging up for this process: at the settings' level, or at debug level if `verbose`."""
    JSON_LINES.set(settings.log_format == "json")
    level = logging.DEBUG if verbose else getattr(logging, settings.log_level.upper())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        # Tests configure logging several times; a cached logger would keep the first configuration.
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(settings, shared))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in CHATTY_LIBRARIES:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))


def _formatter(settings: Settings, shared: list[Processor]) -> structlog.stdlib.ProcessorFormatter:
    renderers: list[Processor]
    if settings.log_format == "json":
        renderers = [structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer()]
    else:
        renderers = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
    )
