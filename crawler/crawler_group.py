"""The crawler processes of one crawl: started, watched, and their summaries put together.

Most shops have one crawler. Several share a shop whose pages take more processor time than one core
has: the page table is the frontier of them all. Each keeps its part of the limits, so the shop
sees no more requests than from one. A crawler learns about links, traps and twins from its own pages
only, so the pages of such a crawl may differ a little from one to the next.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from catalog.errors import CrawlError
from catalog.models import Shop
from catalog.runtime.limits.process_end import end_reason
from catalog.runtime.served_process import ServedProcess
from catalog.storage.frontier import Frontier
from crawler.crawl_process import start_crawl
from crawler.frontier.crawl_progress import CrawlProgress
from crawler.job import CrawlJob, log_file

POLL_INTERVAL = 0.25  # seconds between two progress reports


class CrawlerKilled(CrawlError):
    """A crawler process was ended by a signal, as by a segmentation fault."""


def run_crawler(job: CrawlJob, shop: Shop, progress: CrawlProgress) -> dict[str, Any]:
    """Run one crawler process to its end; returns the summary that it reported.

    Raises CrawlError, CrawlerKilled.
    """
    log = log_file(job.settings, shop.id, job.run_id)
    process = start_crawl(job, log)
    try:
        while process.is_alive():
            progress.report()
            process.join(POLL_INTERVAL)
        output = _read_output(process)
    finally:
        process.kill()
        process.close()
    return _summary(output, log, process.exitcode)


def run_crawlers(
    job: CrawlJob, shop: Shop, frontier: Frontier, progress: CrawlProgress
) -> dict[str, Any]:
    """Run as many crawlers as the shop asks for; returns the summary of all.

    The others start when the first one has settled a page: then it has released the pages of an
    earlier crawl, and the shop can be reached. Raises CrawlError, CrawlerKilled.
    """
    requested = frontier.count_requested()
    pages = job.page_limit(shop) - requested
    crawlers = max(1, min(shop.crawlers, pages))
    part = pages // crawlers
    log = log_file(job.settings, shop.id, job.run_id)
    first = replace(job, crawlers=crawlers, pages_left=pages - part * (crawlers - 1))
    helper = replace(first, pages_left=part, is_helper=True)
    processes = [start_crawl(first, log)]
    try:
        while any(process.is_alive() for process in processes):
            progress.report()
            if len(processes) < crawlers and frontier.count_requested() > requested:
                processes += [start_crawl(helper, log) for _ in range(crawlers - 1)]
            _raise_if_killed(processes, log)
            alive = [process for process in processes if process.is_alive()]
            if alive:
                alive[0].join(POLL_INTERVAL)
        outputs = [(_read_output(process), process.exitcode) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.close()
    summaries = [_summary(output, log, exit_code) for output, exit_code in outputs]
    return _merge(summaries, is_open=frontier.next_due() is not None)


def _raise_if_killed(processes: Sequence[ServedProcess], log: Path) -> None:
    """Raise CrawlerKilled if a crawler was: its pages stay leased until a crawl begins anew."""
    for process in processes:
        if process.exitcode is not None and process.exitcode < 0:
            raise CrawlerKilled(_end_message(process.exitcode, log))


def _merge(summaries: Sequence[dict[str, Any]], is_open: bool) -> dict[str, Any]:
    """Add the summaries of crawlers up.

    A crawler may have used its part of the pages up, while the others have fetched all that were
    left: then no page `is_open`.
    """
    refused: Counter[str] = Counter()
    merged: dict[str, Any] = {"requests": 0, "bytes": 0, "error": None, "stopped": None}
    for summary in summaries:
        refused.update(summary.get("refused", {}))
        for name in ("requests", "bytes"):
            merged[name] += summary.get(name, 0)
        merged["error"] = merged["error"] or summary.get("error")
        if is_open:
            merged["stopped"] = merged["stopped"] or summary.get("stopped")
    return {**merged, "refused": dict(refused)}


def _read_output(process: ServedProcess) -> str:
    """Return the output of a process that has ended."""
    with process.channel.makefile("r", encoding="utf-8", errors="replace") as output:
        return output.read()


def _summary(output: str, log: Path, exit_code: int | None) -> dict[str, Any]:
    """Parse the last line of JSON in a crawler's output. Raises CrawlError, CrawlerKilled."""
    for line in reversed(output.splitlines()):
        try:
            summary: dict[str, Any] = json.loads(line)
        except ValueError:
            continue
        return summary
    error_class = CrawlerKilled if exit_code is not None and exit_code < 0 else CrawlError
    raise error_class(_end_message(exit_code, log))


def _end_message(exit_code: int | None, log: Path) -> str:
    return (
        f"the crawler ended unexpectedly ({end_reason(exit_code)}): see {log}, "
        "then run the same command again"
    )
