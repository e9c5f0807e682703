"""Dispatcher: leases due pages of the page table to the spider, a few at a time.

At most `MAX_IN_FLIGHT` pages are leased at once, so a killed crawl fetches at most that many twice.
When the shop asks for a pause (429, 503, Retry-After), no page is dispatched until it is over.

Two batches are in flight. The results of one are handled in the order of dispatch and stored before
the next batch is leased. So the pages of a crawl do not depend on the order in which responses
arrive. Only a response on which everything else has waited for some seconds loses its turn.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from datetime import datetime, timedelta
from math import ceil
from time import monotonic

from catalog.models import Page, utc_now
from catalog.storage.frontier import Frontier
from crawler.frontier.budget import Budget
from crawler.frontier.turns import Key, Turns

MAX_IN_FLIGHT = 16  # pages; as Scrapy's CONCURRENT_REQUESTS in crawler.settings
LEASE = timedelta(minutes=30)  # then another crawl may take the page over
POLL_INTERVAL = 1.0  # seconds between two looks at the table and the budget
MIN_WAIT = 0.02  # seconds; a page that is due now must not make a busy loop
# Looks in a row at which nothing has arrived, until missing responses are overtaken. Looks, not
# seconds: a crawler that hardly gets the processor takes in what has arrived before each of them.
STALLED_LOOKS = 3


class Dispatcher:
    """Dispatches pages until none is open, the budget is exhausted, or it is stopped.

    `stopped_reason` is set if pages are still open because of the budget. `delay` is that between
    two requests, in seconds.
    """

    def __init__(
        self, frontier: Frontier, budget: Budget, max_in_flight: int = MAX_IN_FLIGHT
    ) -> None:
        self.budget = budget
        self.max_in_flight = max_in_flight
        self.delay = 0.0
        self.stopped_reason: str | None = None
        self._frontier = frontier
        self._turns = Turns()
        self._in_flight: set[Key] = set()
        self._paused_until = 0.0
        self._is_stopped = False
        self._changed = asyncio.Event()
        self._resumed: deque[list[Page]] = deque()

    def resume(self, batches: Iterable[list[Page]]) -> None:
        """Dispatch pages that are leased already first, in the batches that an earlier crawl made."""
        self._resumed.extend(batches)

    async def pages(
        self, is_first_alone: bool, admit: Callable[[list[Page]], list[Page]]
    ) -> AsyncIterator[Page]:
        """Yield pages to request, as they fall due.

        `admit` settles those of a batch that need no request.

        With `is_first_alone` the first page is fetched before any other: it shows whether the shop
        can be reached.
        """
        previous: list[Key] = []
        while not self._is_stopped:
            exhausted = self.budget.exhausted_reason()
            claimed = [] if exhausted else self._claim(1 if is_first_alone else None)
            batch = admit(claimed) if claimed else []
            keys: list[Key] = [page.id or 0 for page in batch]
            self._turns.announce(keys)
            # Only now: the pages of a batch must not depend on how fast the one before is stored.
            self._turns.start(previous)
            for page in batch:
                self.budget.pages -= 1
                yield page
            if is_first_alone and claimed:
                is_first_alone = False
                self._turns.start(keys)
                await self.drain()
                keys = []
            await self._settle(previous)
            if not claimed and not previous:
                # Pages in flight may bring links, so the end is only near once none is.
                due = None if self._in_flight else self._frontier.next_due()
                if not self._in_flight and (exhausted or due is None):
                    self.stopped_reason = exhausted if due else None
                    return
                await self._wait(due)
            previous = keys

    def acquire(self, sitemap: str) -> None:
        """Note that a sitemap is in flight: it may bring pages, or further sitemaps."""
        self._in_flight.add(sitemap)
        self._turns.start([sitemap])

    def note_arrival(self, key: Key) -> None:
        """Note that the response to a page (by id) or a sitemap (by URL) has arrived."""
        self._turns.arrive(key)
        self._changed.set()

    async def wait_turn(self, key: Key) -> None:
        """Wait until a response that has arrived is to be handled."""
        await self._turns.wait(key)

    def end_turn(self, key: Key) -> None:
        """Note that a response has been handled: the next one is, while this one is stored."""
        self._turns.end(key)

    def release(self, key: Key) -> None:
        """Note that a page or a sitemap is settled."""
        self._turns.end(key)
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
        self._turns.cancel()
        self._changed.set()

    async def drain(self) -> None:
        """Wait until nothing is in flight."""
        while self._in_flight and not self._is_stopped:
            await self._settle(list(self._in_flight))

    def _is_over(self) -> bool:
        return self._is_stopped or self.budget.exhausted_reason() is not None

    async def _settle(self, keys: Collection[Key]) -> None:
        """Wait until keys are settled, but not for responses on which all others have waited."""
        unsettled, stalled_looks = set(keys), 0
        while unsettled & self._in_flight and not self._is_stopped:
            has_changed = await self._wait()
            stalled_looks = 0 if has_changed else stalled_looks + 1
            # Responses wait for the delay between requests, too.
            if stalled_looks > STALLED_LOOKS + 2 * ceil(self.delay):
                unsettled.difference_update(self._turns.overtake())

    def _claim(self, limit: int | None) -> list[Page]:
        """Lease half of the pages that may be in flight, or at most `limit`."""
        if self._resumed:
            batch = self._resumed.popleft()
            self._in_flight.update(page.id for page in batch if page.id is not None)
            return batch
        slots = self.max_in_flight - len(self._in_flight)
        slots = min(slots, limit or max(1, self.max_in_flight // 2))
        if slots < 1 or monotonic() < self._paused_until:
            return []
        claimed = self._frontier.claim(min(slots, self.budget.pages), LEASE)
        batch = [page for page in claimed if page.id not in self._in_flight]
        self._in_flight.update(page.id for page in batch if page.id is not None)
        return batch

    async def _wait(self, due: datetime | None = None) -> bool:
        """Wait until something changes, at most for a while; returns True if it has."""
        self._changed.clear()
        seconds = (due - utc_now()).total_seconds() if due else POLL_INTERVAL
        pause = self._paused_until - monotonic()
        timeout = min(max(seconds, pause, MIN_WAIT), POLL_INTERVAL)
        try:
            await asyncio.wait_for(self._changed.wait(), timeout)
        except TimeoutError:
            return False
        return True
