"""Where fetched pages are digested and their bodies stored: here, or, where pages come fast, beside us.

A crawl that is polite has all the time in the world, and a second process would be a waste. One that gets more pages
than a core can read and fetch at once hands them to a companion, which parses, compresses and stores them while the
next pages arrive.
"""

import asyncio
import os
from collections import deque
from time import monotonic
from typing import Any

from scrapy.http import Response

from catalog import errors
from catalog.errors import StoreError
from catalog.runtime.worker_process import Answer, Companion, CompanionLost
from catalog.storage.bodies import Bodies
from crawler.pages.page_digest import Digest, Digester
from crawler.pages.soft404 import Print
from crawler.urls.site import Site

FAST = 20
WITHIN = 1.0


class Desk:
    """Digests the pages of one crawl."""

    def __init__(self, site: Site, bodies: str) -> None:
        self._site, self._url, self._bodies = site, bodies, Bodies(bodies)
        self._digester = Digester(site)
        self._companion: Companion | None = None
        self._starting: asyncio.Task[None] | None = None
        self._last: deque[float] = deque(maxlen=FAST)

    def shows(self, shown: Print | None) -> None:
        """What a missing page of this shop shows."""
        self._digester.shows = shown

    async def digest(self, response: Response, judge: bool = True) -> Digest:
        """Digest a page and store its body; without `judge` also where it looks like a missing one.

        Raises StoreError, and CompanionLost where the page has brought the companion down.
        """
        said = (response.headers.get("Content-Type") or b"").decode("latin-1") or None
        self._hurry()
        if self._companion is None:
            found = self._digester.digest(response.body, said, response.url)
            if _worth_keeping(found, judge):
                await asyncio.to_thread(self._bodies.put, response.body, found.body)
            return found
        words = await self._ask({"url": response.url, "type": said, "judge": judge}, response.body)
        if error := words.get("error"):
            raise getattr(errors, error[0], StoreError)(error[1])
        return Digest.from_json(words)

    def close(self) -> None:
        """Let the companion go."""
        if self._companion is not None:
            self._companion.end()

    async def _ask(self, question: dict[str, Any], body: bytes) -> dict[str, Any]:
        assert self._companion is not None
        try:
            return await self._companion.ask(question, body)
        except CompanionLost:
            await self._start()
            raise

    def _hurry(self) -> None:
        """Call for a companion once pages come fast."""
        self._last.append(monotonic())
        fast = len(self._last) == FAST and self._last[-1] - self._last[0] < WITHIN
        if fast and self._starting is None and (os.cpu_count() or 1) > 1:
            self._starting = asyncio.ensure_future(self._start())

    async def _start(self) -> None:
        shown = self._digester.shows
        site, words = self._site, shown and (shown.title, [*shown.words])
        companion = Companion(
            prepare, self._url, site.home, site.origin, site.own, site.lists, words
        )
        await companion.start()
        self._companion = companion


def prepare(
    bodies: str,
    home: str,
    origin: str,
    own: tuple[str, ...],
    lists: tuple[str, ...],
    shown: tuple[str, list[str]] | None,
) -> Answer:
    """The companion's function: digest a page, store its body."""
    store, site = Bodies(bodies), Site(home, own, lists)
    site.moved(origin)
    digester = Digester(site, Print(shown[0], frozenset(shown[1])) if shown else None)

    def answer(question: dict[str, Any], body: bytes) -> dict[str, Any]:
        found = digester.digest(body, question["type"], question["url"])
        try:
            if _worth_keeping(found, question["judge"]):
                store.put(body, found.body)
        except StoreError as error:
            return {"error": (type(error).__name__, str(error))}
        return found.as_json()

    return answer


def _worth_keeping(found: Digest, judge: bool) -> bool:
    return not (found.hostile or (judge and found.missing))
