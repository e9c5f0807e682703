"""Page processor: digests pages and stores bodies, in a second process if pages arrive fast.

A polite crawl has time to spare, and a second process would be a waste. A fast crawl fetches more
pages than one core can parse. It hands them to a worker process, which parses, compresses and
stores them while the next pages arrive.
"""

import asyncio
import os
from collections import deque
from time import monotonic
from typing import Any

from scrapy.http import Response

from catalog import errors
from catalog.errors import StoreError
from catalog.runtime.worker_process import RequestHandler, WorkerLost, WorkerProcess
from catalog.storage.bodies import BodyStore
from crawler.pages.page_digest import PageDigest, PageDigester
from crawler.pages.soft404 import PageFingerprint
from crawler.urls.site import Site

FAST_PAGES = 20  # pages within FAST_SECONDS, from which on a worker process is started
FAST_SECONDS = 1.0


class PageProcessor:
    """Processes the pages of one crawl."""

    def __init__(self, site: Site, bodies_url: str) -> None:
        self._site = site
        self._bodies_url = bodies_url
        self._bodies = BodyStore(bodies_url)
        self._digester = PageDigester(site)
        self._worker: WorkerProcess | None = None
        self._starting: asyncio.Task[None] | None = None
        self._arrivals: deque[float] = deque(maxlen=FAST_PAGES)

    def set_missing_page(self, fingerprint: PageFingerprint | None) -> None:
        """Set the fingerprint of the shop's soft 404s."""
        self._digester.missing_page = fingerprint

    async def process(self, response: Response, detect_missing: bool = True) -> PageDigest:
        """Digest a page and store its body, unless it is hostile or missing.

        Without `detect_missing` the body is stored although it looks like a missing page. Raises
        StoreError, and WorkerLost if the page has crashed the worker process.
        """
        content_type = _header(response, "Content-Type")
        link_header = _header(response, "Link")
        content_language = _header(response, "Content-Language")
        self._start_worker_if_fast()
        if self._worker is None:
            digest = self._digester.digest(
                response.body, content_type, response.url, link_header, content_language
            )
            if _is_worth_storing(digest, detect_missing):
                await asyncio.to_thread(self._bodies.put, response.body, digest.body)
            return digest
        task = {
            "url": response.url,
            "type": content_type,
            "link": link_header,
            "language": content_language,
            "detect_missing": detect_missing,
        }
        fields = await self._process_in_worker(self._worker, task, response.body)
        if error := fields.get("error"):
            kind, message = error
            raise getattr(errors, kind, StoreError)(message)
        return PageDigest.from_json(fields)

    def close(self) -> None:
        """End the worker process."""
        if self._worker is not None:
            self._worker.stop()

    async def _process_in_worker(
        self, worker: WorkerProcess, task: dict[str, Any], body: bytes
    ) -> dict[str, Any]:
        try:
            return await worker.request(task, body)
        except WorkerLost:
            await self._start_worker()
            raise

    def _start_worker_if_fast(self) -> None:
        self._arrivals.append(monotonic())
        if self._starting is not None or len(self._arrivals) < FAST_PAGES:
            return
        is_fast = self._arrivals[-1] - self._arrivals[0] < FAST_SECONDS
        if is_fast and (os.cpu_count() or 1) > 1:
            self._starting = asyncio.ensure_future(self._start_worker())

    async def _start_worker(self) -> None:
        site, missing_page = self._site, self._digester.missing_page
        # The arguments travel to another process: a set of words travels as a list.
        sent = missing_page and (missing_page.title, [*missing_page.words])
        worker = WorkerProcess(
            prepare_worker,
            self._bodies_url,
            site.home,
            site.origin,
            site.tracking_keys,
            site.link_lists,
            sent,
        )
        await worker.start()
        self._worker = worker


def prepare_worker(
    bodies_url: str,
    home: str,
    origin: str,
    tracking_keys: tuple[str, ...],
    link_lists: tuple[str, ...],
    missing_page: tuple[str, list[str]] | None,
) -> RequestHandler:
    """Build the worker's function, which digests a page and stores its body."""
    bodies = BodyStore(bodies_url)
    site = Site(home, tracking_keys, link_lists)
    site.move_to(origin)
    fingerprint = None
    if missing_page:
        title, words = missing_page
        fingerprint = PageFingerprint(title, frozenset(words))
    digester = PageDigester(site, fingerprint)

    def process(task: dict[str, Any], body: bytes) -> dict[str, Any]:
        digest = digester.digest(body, task["type"], task["url"], task["link"], task["language"])
        try:
            if _is_worth_storing(digest, task["detect_missing"]):
                bodies.put(body, digest.body)
        except StoreError as error:
            return {"error": (type(error).__name__, str(error))}
        return digest.as_json()

    return process


def _header(response: Response, name: str) -> str | None:
    """Return a header, all its lines joined; None if it is missing or empty."""
    lines = [line.decode("latin-1") for line in response.headers.getlist(name)]
    return ", ".join(lines) or None


def _is_worth_storing(digest: PageDigest, detect_missing: bool) -> bool:
    return not (digest.is_hostile or (detect_missing and digest.is_missing))
