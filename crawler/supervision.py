"""The crawl's tie to the process that started it: it ends with its parent, and its last word is a line on stdout.

A parent killed with -9 cannot say goodbye, but its end of the pipe closes. A crawler that went on alone would meet the
next one; so does nothing here wait for a clean shutdown: what was in flight is still leased, and is taken up again.
"""

import json
import logging
import os
import sys
import threading
from pathlib import Path
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from twisted.python.failure import Failure

from catalog.errors import ScoutError, StorageFull


class Lifeline:
    """Scrapy extension: watches standard input, tells errors of the spider's callbacks, reports at the end."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Wire it up for the shop spider only."""
        if crawler.spider is None or not hasattr(crawler.spider, "opened"):
            raise NotConfigured
        made = cls(crawler)
        crawler.signals.connect(made.closed, signals.spider_closed)
        crawler.signals.connect(made.failed, signals.spider_error)
        return made

    def closed(self) -> None:
        """Say what the crawl came to."""
        get = self._crawler.stats.get_value
        spider: Any = self._crawler.spider
        try:
            spider.ended()
        except ScoutError as error:
            spider.error = spider.error or told(error)
        tell(
            over=spider.supply.over,
            refused=dict(spider.sieve.refused),
            requests=get("downloader/request_count", 0),
            bytes=get("downloader/response_bytes", 0),
            error=spider.error,
        )

    def failed(self, failure: Failure, response: Response | Failure) -> None:
        """A page on which our own code failed is settled as failed, so that the crawl goes on; else it is over."""
        spider: Any = self._crawler.spider
        request, what = getattr(response, "request", None), type(failure.value).__name__
        if isinstance(failure.value, ScoutError):
            spider.error = told(failure.value)
        elif request is None:
            spider.error = (
                "CrawlError",
                f"the crawler failed ({what}: {failure.value}): its log tells where",
            )
        if request is not None:
            spider.give_up(request, f"error: {what}")


def watch_parent() -> None:
    """End this process at once when its standard input closes."""

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 4096):
            pass
        os._exit(1)

    threading.Thread(target=wait, name="lifeline", daemon=True).start()


def tell(**words: Any) -> None:
    """Write the one line that the parent reads."""
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def told(error: ScoutError) -> tuple[str, str]:
    """An error as it goes over the line."""
    return ("StorageFull" if isinstance(error, StorageFull) else type(error).__name__), str(error)


def log_as_json(file: Path) -> None:
    """Write every log line of this process as one JSON object to a file; Scrapy's own log is switched off then."""
    import structlog

    stamp = structlog.processors.TimeStamper(fmt="iso", utc=True)
    shared: list[Any] = [structlog.stdlib.add_log_level, structlog.stdlib.add_logger_name, stamp]
    last: list[Any] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared, processors=[*last, structlog.processors.JSONRenderer()]
    )
    handler = logging.FileHandler(file, encoding="utf-8")
    handler.setFormatter(formatter)
    logging.root.addHandler(handler)
    logging.root.setLevel(logging.INFO)
