"""Logging of the crawl process in JSON lines, for Scrapy's and Scout's events alike."""

import logging
from pathlib import Path
from typing import Any

import structlog

from catalog.runtime.telemetry.log_context import add_log_fields


def log_as_json(file: Path) -> None:
    """Write all log records of this process to a file, as JSON lines.

    Scrapy's own log must be disabled.
    """
    add_fields: list[Any] = [
        add_log_fields,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    render: list[Any] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(),
    ]
    formatter = structlog.stdlib.ProcessorFormatter(foreign_pre_chain=add_fields, processors=render)
    handler = logging.FileHandler(file, encoding="utf-8")
    handler.setFormatter(formatter)
    logging.root.addHandler(handler)
    logging.root.setLevel(logging.INFO)
