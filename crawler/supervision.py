"""Supervision of the crawl: its summary and its errors are reported on standard output.

The crawl process is killed when its parent ends, without a clean shutdown: a crawler that went on
could meet the next one. Pages in flight stay leased, and are fetched again.
"""

import json
import sys
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from twisted.python.failure import Failure

from catalog.errors import ScoutError, first_line


class CrawlReporter:
    """Scrapy extension that reports the crawl's summary to the parent, and settles failed pages."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect the extension to the shop spider's signals.

        Raises NotConfigured for any other spider.
        """
        if crawler.spider is None or not hasattr(crawler.spider, "opened"):
            raise NotConfigured
        reporter = cls(crawler)
        crawler.signals.connect(reporter.spider_closed, signals.spider_closed)
        crawler.signals.connect(reporter.spider_error, signals.spider_error)
        return reporter

    def spider_closed(self) -> None:
        """Store the end of the crawl and report its summary."""
        stats = self._crawler.stats
        spider: Any = self._crawler.spider
        try:
            spider.finish()
        except ScoutError as error:
            spider.error = spider.error or serialize_error(error)
        report(
            stopped=spider.dispatcher.stopped_reason,
            refused=dict(spider.link_filter.refused),
            requests=stats.get_value("downloader/request_count", 0),
            bytes=stats.get_value("downloader/response_bytes", 0),
            error=spider.error,
        )

    def spider_error(self, failure: Failure, response: Response | Failure) -> None:
        """Fail the page on which our code failed, so that the crawl goes on.

        Without a page the crawl has failed.
        """
        spider: Any = self._crawler.spider
        request = getattr(response, "request", None)
        error = failure.value
        kind = type(error).__name__
        if isinstance(error, ScoutError):
            spider.error = serialize_error(error)
        elif request is None:
            reason = first_line(error) if error else kind
            message = f"the crawler failed ({kind}: {reason}): its log tells where"
            spider.error = ("CrawlError", message)
        if request is not None:
            spider.fail_request(request, f"error: {kind}")


def report(**fields: Any) -> None:
    """Write the one line of JSON that the parent reads."""
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def serialize_error(error: ScoutError) -> tuple[str, str]:
    """Return the name of an error's class in `catalog.errors`, and its message."""
    return type(error).__name__, str(error)
