"""The crawl process: runs Scrapy once for one job, and reports the summary to its parent.

Its output goes to the channel of the parent, its errors to the log of the crawl. Scrapy is
imported by the process only.
"""

import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from socket import socket

from catalog.runtime.limits.process_limits import ProcessLimits
from catalog.runtime.served_process import ServedProcess
from catalog.runtime.settings import Settings
from crawler.job import CrawlJob

# Imports everything that the process needs.
PRELOAD = "crawler.preload"


def start_crawl(job: CrawlJob, log: Path) -> ServedProcess:
    """Start the process of a crawl; its channel ends when the crawl does."""
    with log.open("ab") as file:
        return ServedProcess(_crawl, (job, str(log)), fds=[file.fileno()], modules=[PRELOAD])


def _crawl(channel: socket, fds: Sequence[int], job: CrawlJob, log: str) -> None:
    from scrapy.crawler import AsyncCrawlerProcess
    from scrapy.settings import Settings as ScrapySettings

    from crawler.spider import ShopSpider

    if not job.uses_browser:
        # A browser would inherit the limit, and does not start within one.
        ProcessLimits(memory=job.settings.run_memory).limit_memory()
    for descriptor in (sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(fds[0], descriptor)
    sys.stdout = channel.makefile("w", encoding="utf-8")
    # Scrapy, or `crawler.json_log`, writes to the log of the crawl instead.
    logging.getLogger().handlers.clear()
    if job.settings.log_level != "debug":
        # Scrapy sets the levels of its own logger and of the root to let all records pass, and only
        # its own handler is limited to LOG_LEVEL.
        logging.disable(logging.DEBUG)
    scrapy_settings = ScrapySettings()
    scrapy_settings.setmodule("crawler.settings", priority="project")
    scrapy_settings.setdict(_log_settings(job.settings, log), priority="cmdline")
    process = AsyncCrawlerProcess(scrapy_settings)
    process.crawl(ShopSpider, job=job)
    process.start()
    sys.stdout.flush()
    sys.exit(int(process.bootstrap_failed))


def _log_settings(settings: Settings, log: str) -> dict[str, object]:
    """Return Scrapy's settings for its log; a log in JSON is written by `crawler.json_log`."""
    if settings.log_format == "json":
        return {"LOG_ENABLED": False}
    level = "DEBUG" if settings.log_level == "debug" else "INFO"
    return {"LOG_FILE": log, "LOG_LEVEL": level}
