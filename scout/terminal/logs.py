"""Logs by structlog, as text or as JSON lines, on standard error; the libraries' own logs go the same way.

See https://www.structlog.org/en/stable/standard-library.html, "Rendering using structlog-based formatters".
"""

import logging
import sys

import structlog
from structlog.typing import Processor

from catalog.runtime.settings import Settings
from scout.terminal.output import JSON_LINES

LOUD = (
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


def configure(settings: Settings, verbose: bool = False) -> None:
    """Set logging up for this process: the level of `settings`, or all but the libraries' chatter when `verbose`."""
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
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(settings, shared))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in LOUD:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))


def _formatter(settings: Settings, shared: list[Processor]) -> structlog.stdlib.ProcessorFormatter:
    last: list[Processor] = (
        [structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer()]
        if settings.log_format == "json"
        else [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
    )
