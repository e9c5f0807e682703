"""Turns: pages in flight are handled in the order of their dispatch, not of their arrival.

The order of pages decides much in a crawl: which of two addresses is the original, which rule is
trusted first, which links are refused by it. With the order of arrival, the same shop would give
other pages in each crawl. So a response that arrives early waits.
"""

import asyncio
from collections.abc import Iterable

# A page by its id, a sitemap by its URL.
Key = int | str


class Turns:
    """The order of the pages and sitemaps in flight.

    Keys are announced, started in batches, handled one after another, and then ended.
    """

    def __init__(self) -> None:
        self._announced: set[Key] = set()
        self._started: dict[Key, None] = {}
        self._arrived: set[Key] = set()
        self._waiting: dict[Key, asyncio.Future[None]] = {}
        self._is_cancelled = False

    def announce(self, keys: Iterable[Key]) -> None:
        """Hold back keys until they are started."""
        self._announced.update(keys)

    def start(self, keys: Iterable[Key]) -> None:
        """Let keys be handled in this order, after all that were started before."""
        for key in keys:
            self._announced.discard(key)
            self._started[key] = None
        self._wake_first()

    def arrive(self, key: Key) -> None:
        """Note that a response has arrived: from now on it is not overtaken."""
        self._arrived.add(key)

    async def wait(self, key: Key) -> None:
        """Wait until it is the key's turn; return at once if it has been overtaken."""
        if self._is_cancelled or not (key in self._announced or key in self._started):
            return
        self._waiting[key] = asyncio.get_running_loop().create_future()
        self._wake_first()
        await self._waiting[key]

    def end(self, key: Key) -> None:
        """End a key's turn: it has been handled, or never will be."""
        self._announced.discard(key)
        self._started.pop(key, None)
        self._arrived.discard(key)
        self._waiting.pop(key, None)
        self._wake_first()

    def overtake(self) -> list[Key]:
        """End the turns of started keys that have not arrived; returns these keys."""
        missing = [key for key in self._started if key not in self._arrived]
        for key in missing:
            del self._started[key]
        self._wake_first()
        return missing

    def cancel(self) -> None:
        """Let everything that waits go on, in any order."""
        self._is_cancelled = True
        for future in self._waiting.values():
            if not future.done():
                future.set_result(None)

    def _wake_first(self) -> None:
        first = next(iter(self._started), None)
        future = None if first is None else self._waiting.get(first)
        if future is not None and not future.done():
            future.set_result(None)
