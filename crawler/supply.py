"""The supply of pages: the page table's due pages, handed out a few at a time.

Never more than `MOST` pages are out at once, so a killed crawl fetches at most that many a second time. When the shop
asks for a rest (429, 503, Retry-After), nobody is sent until it is over.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from time import monotonic

from catalog.frontier import Frontier
from catalog.models import Page, now

MOST = 16
LEASE = timedelta(minutes=30)
LOOK = 1.0


class Supply:
    """Pages out of the frontier until none is open, the limit is reached, or somebody says stop."""

    def __init__(self, frontier: Frontier, left: int, most: int = MOST) -> None:
        self.left, self.most = left, most
        self._frontier = frontier
        self._out: set[int | str] = set()
        self._rest_until = 0.0
        self._stopped = False
        self._change = asyncio.Event()

    async def pages(self, first_alone: bool, admit: Callable[[list[Page]], list[Page]]) -> AsyncIterator[Page]:
        """Pages to request, as they fall due; `admit` gives those that are, and settles the others.

        With `first_alone` the first page is fetched before any other: it tells whether the shop is there at all.
        """
        while not self._stopped:
            batch = self._claim(1 if first_alone else self.most - len(self._out))
            for page in admit(batch) if batch else ():
                self.left -= 1
                yield page
            if first_alone and batch:
                first_alone = False
                await self._quiet()
            if not batch:
                if not self._out and (self.left <= 0 or self._frontier.next_due() is None):
                    return
                await self._wait()

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

    def stop(self) -> None:
        """Hand out nothing more."""
        self._stopped = True
        self._change.set()

    def _claim(self, room: int) -> list[Page]:
        if self.left <= 0 or (room < max(1, self.most // 2) and self._out) or monotonic() < self._rest_until:
            return []
        batch = [page for page in self._frontier.claim(min(room, self.left), LEASE) if page.id not in self._out]
        self._out.update(page.id for page in batch if page.id is not None)
        return batch

    async def _wait(self) -> None:
        self._change.clear()
        due = self._frontier.next_due() if not self._out else None
        seconds = (due - now()).total_seconds() if due else LOOK
        rest = self._rest_until - monotonic()
        try:
            await asyncio.wait_for(self._change.wait(), min(max(seconds, rest, 0.02), LOOK))
        except TimeoutError:
            return

    async def _quiet(self) -> None:
        while self._out and not self._stopped:
            await self._wait()
