"""Dispatcher: leases due pages of the page table to the spider, a few at a time.

At most `MAX_IN_FLIGHT` pages are leased at once, so a killed crawl fetches at most that many twice.
When the shop asks for a pause (429, 503, Retry-After), no page is dispatched until it is over.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta
from time import monotonic

from catalog.models import Page, utc_now
from catalog.storage.frontier import Frontier
from crawler.frontier.budget import Budget

MAX_IN_FLIGHT = 16  # pages; as Scrapy's CONCURRENT_REQUESTS in crawler.settings
LEASE = timedelta(minutes=30)  # then another crawl may take the page over
POLL_INTERVAL = 1.0  # seconds between two looks at the table and the budget
MIN_WAIT = 0.02  # seconds; a page that is due now must not make a busy loop


class Dispatcher:
    """Dispatches pages until none is open, the budget is exhausted, or it is stopped.

    `stopped_reason` is set if pages are still open because of the budget.
    """

    def __init__(
        self, frontier: Frontier, budget: Budget, max_in_flight: int = MAX_IN_FLIGHT
    ) -> None:
        self.budget = budget
        self.max_in_flight = max_in_flight
        self.stopped_reason: str | None = None
        self._frontier = frontier
        self._in_flight: set[int | str] = set()
        self._paused_until = 0.0
        self._is_stopped = False
        self._changed = asyncio.Event()

    async def pages(
        self, is_first_alone: bool, admit: Callable[[list[Page]], list[Page]]
    ) -> AsyncIterator[Page]:
        """Yield pages to request, as they fall due.

        `admit` settles those of a batch that need no request.

        With `is_first_alone` the first page is fetched before any other: it shows whether the shop
        can be reached.
        """
        while not self._is_stopped:
            exhausted = self.budget.exhausted_reason()
            batch = [] if exhausted else self._claim(self._free_slots(is_first_alone))
            for page in admit(batch) if batch else ():
                self.budget.pages -= 1
                yield page
            if is_first_alone and batch:
                is_first_alone = False
                await self.drain()
            if not batch:
                # Pages in flight may bring links, so the end is only near once none is.
                due = None if self._in_flight else self._frontier.next_due()
                if not self._in_flight and (exhausted or due is None):
                    self.stopped_reason = exhausted if due else None
                    return
                await self._wait(due)

    def acquire(self, key: int | str) -> None:
        """Note that a page (by id) or a sitemap (by URL) is in flight: it may bring pages."""
        self._in_flight.add(key)

    def release(self, key: int | str) -> None:
        """Note that a page or a sitemap is settled."""
        self._in_flight.discard(key)
        self._changed.set()

    def pause(self, seconds: float) -> None:
        """Dispatch no page for some seconds."""
        self._paused_until = max(self._paused_until, monotonic() + seconds)

    async def sleep(self, seconds: float) -> bool:
        """Wait some seconds, or until the crawl is over.

        Returns True if requests may still be made then.
        """
        until = monotonic() + seconds
        while (remaining := until - monotonic()) > 0 and not self._is_over():
            await asyncio.sleep(min(remaining, POLL_INTERVAL))
        return not self._is_over()

    def stop(self) -> None:
        """Dispatch nothing more."""
        self._is_stopped = True
        self._changed.set()

    async def drain(self) -> None:
        """Wait until nothing is in flight."""
        while self._in_flight and not self._is_stopped:
            await self._wait()

    def _is_over(self) -> bool:
        return self._is_stopped or self.budget.exhausted_reason() is not None

    def _free_slots(self, is_first_alone: bool) -> int:
        return 1 if is_first_alone else self.max_in_flight - len(self._in_flight)

    def _claim(self, slots: int) -> list[Page]:
        # A claim is a transaction: wait until it leases at least half a batch.
        if slots < max(1, self.max_in_flight // 2) and self._in_flight:
            return []
        if monotonic() < self._paused_until:
            return []
        claimed = self._frontier.claim(min(slots, self.budget.pages), LEASE)
        batch = [page for page in claimed if page.id not in self._in_flight]
        self._in_flight.update(page.id for page in batch if page.id is not None)
        return batch

    async def _wait(self, due: datetime | None = None) -> None:
        self._changed.clear()
        seconds = (due - utc_now()).total_seconds() if due else POLL_INTERVAL
        pause = self._paused_until - monotonic()
        timeout = min(max(seconds, pause, MIN_WAIT), POLL_INTERVAL)
        try:
            await asyncio.wait_for(self._changed.wait(), timeout)
        except TimeoutError:
            return
