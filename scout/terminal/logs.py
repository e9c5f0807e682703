"""Logs as text or as JSON lines, on standard error, rendered by structlog.

Logs of the libraries go through it as well. Modules of commands log by the standard library, with
fields in `extra`; structlog is imported with the first line that is written, since it takes as long
to load as a short command.

See https://www.structlog.org/en/stable/standard-library.html, "Rendering using structlog-based
formatters".
"""

import logging
import sys
from functools import cached_property
from typing import TYPE_CHECKING

from catalog.runtime.settings import Settings
from catalog.runtime.telemetry.log_context import add_log_fields, set_logging_setup
from scout.terminal.output import JSON_LINES

if TYPE_CHECKING:
    from structlog.typing import Processor

CHATTY_LIBRARIES = (
    "aiobotocore",
    "apscheduler",
    "botocore",
    "procrastinate",
    "psycopg",
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
"""Loggers never more verbose than `warning`: below, they write lines for every request or connection,
and for every look at the timetable."""


def configure_logging(settings: Settings, verbose: bool = False) -> None:
    """Set logging up for this process: at the settings' level, or at debug level if `verbose`.

    The processes that it starts are set up alike.
    """
    JSON_LINES.set(settings.log_format == "json")
    level = logging.DEBUG if verbose else getattr(logging, settings.log_level.upper())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_LateFormatter(settings))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in CHATTY_LIBRARIES:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    set_logging_setup(configure_logging, settings, verbose)
    if "structlog" in sys.modules:
        configure_structlog()


def configure_structlog() -> None:
    """Let structlog's own loggers write through the standard library."""
    import structlog

    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared_processors(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        # Tests configure logging several times; a cached logger would keep the first configuration.
        cache_logger_on_first_use=False,
    )


class _LateFormatter(logging.Formatter):
    """Formats records by structlog, which it imports with the first one."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings

    @cached_property
    def _formatter(self) -> logging.Formatter:
        import structlog

        renderers: list[Processor]
        if self._settings.log_format == "json":
            renderers = [structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer()]
        else:
            renderers = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
        return structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_shared_processors(), structlog.stdlib.ExtraAdder()],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
        )

    def format(self, record: logging.LogRecord) -> str:
        return self._formatter.format(record)


def _shared_processors() -> "list[Processor]":
    import structlog

    return [
        structlog.contextvars.merge_contextvars,
        add_log_fields,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
