"""The supply of pages: the page table's due pages, handed out a few at a time.

Never more than `MOST` pages are out at once, so a killed crawl fetches at most that many a second time. When the shop
asks for a rest (429, 503, Retry-After), nobody is sent until it is over.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta
from time import monotonic

from catalog.models import Page, now
from catalog.storage.frontier import Frontier
from crawler.frontier.budget import Budget

MOST = 16
LEASE = timedelta(minutes=30)
LOOK = 1.0


class Supply:
    """Pages out of the frontier until none is open, the budget is spent, or somebody says stop.

    `over` is why no more pages were handed out though some were open.
    """

    def __init__(self, frontier: Frontier, budget: Budget, most: int = MOST) -> None:
        self.budget, self.most = budget, most
        self.over: str | None = None
        self._frontier = frontier
        self._out: set[int | str] = set()
        self._rest_until = 0.0
        self._stopped = False
        self._change = asyncio.Event()

    async def pages(
        self, first_alone: bool, admit: Callable[[list[Page]], list[Page]]
    ) -> AsyncIterator[Page]:
        """Pages to request, as they fall due; `admit` gives those that are, and settles the others.

        With `first_alone` the first page is fetched before any other: it tells whether the shop is there at all.
        """
        while not self._stopped:
            over = self.budget.over()
            batch = [] if over else self._claim(1 if first_alone else self.most - len(self._out))
            for page in admit(batch) if batch else ():
                self.budget.pages -= 1
                yield page
            if first_alone and batch:
                first_alone = False
                await self.quiet()
            if not batch:
                due = None if self._out else self._frontier.next_due()
                if not self._out and (over or due is None):
                    self.over = over if due else None
                    return
                await self._wait(due)

    def take(self, what: int | str) -> None:
        """Something is under way that may bring pages."""
        self._out.add(what)

    def give(self, what: int | str) -> None:
        """It is done."""
        self._out.discard(what)
        self._change.set()

    def rest(self, seconds: float) -> None:
        """Send nobody for so long."""
        self._rest_until = max(self._rest_until, monotonic() + seconds)

    async def pause(self, seconds: float) -> bool:
        """Wait so long; tells whether anything more may be asked for then."""
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0 and not self._is_over():
            await asyncio.sleep(min(left, LOOK))
        return not self._is_over()

    def _is_over(self) -> bool:
        return self._stopped or self.budget.over() is not None

    def stop(self) -> None:
        """Hand out nothing more."""
        self._stopped = True
        self._change.set()

    def _claim(self, room: int) -> list[Page]:
        if (room < max(1, self.most // 2) and self._out) or monotonic() < self._rest_until:
            return []
        claimed = self._frontier.claim(min(room, self.budget.pages), LEASE)
        batch = [page for page in claimed if page.id not in self._out]
        self._out.update(page.id for page in batch if page.id is not None)
        return batch

    async def _wait(self, due: datetime | None = None) -> None:
        self._change.clear()
        seconds = (due - now()).total_seconds() if due else LOOK
        rest = self._rest_until - monotonic()
        try:
            await asyncio.wait_for(self._change.wait(), min(max(seconds, rest, 0.02), LOOK))
        except TimeoutError:
            return

    async def quiet(self) -> None:
        """Wait until nothing is out."""
        while self._out and not self._stopped:
            await self._wait()
