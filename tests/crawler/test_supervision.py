"""Supervision: what the parent of a crawl process learns about its end."""

from types import SimpleNamespace
from typing import Any

import pytest
from twisted.python.failure import Failure

from crawler.supervision import CrawlReporter


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (RuntimeError("no such table\n[SQL: SELECT ...]"), "RuntimeError: no such table"),
        (RuntimeError(), "RuntimeError: RuntimeError"),
    ],
)
def test_a_failure_without_a_page_is_one_line(error: Exception, shown: str) -> None:
    """An error of our own code ends the crawl with one line, however long its message is."""
    spider = SimpleNamespace(error=None)
    crawler: Any = SimpleNamespace(spider=spider)
    failure = Failure(error)
    CrawlReporter(crawler).spider_error(failure, failure)
    assert spider.error == ("CrawlError", f"the crawler failed ({shown}): its log tells where")
