"""Page processor: digests pages and stores bodies, in a second process if pages arrive fast.

A polite crawl has time to spare, and a second process would be a waste. A fast crawl fetches more
pages than one core can parse. It hands them to a worker process, which parses, compresses and
stores them while the next pages arrive.

A page may cost the worker its life. Then only the page that it was working on is suspect: the pages
behind it are processed by a fresh worker, the suspect by workers of its own. After three deaths it
is set aside.
"""

import asyncio
import os
from collections import deque
from time import monotonic
from typing import Any

from scrapy.http import Response

from catalog import errors
from catalog.errors import StoreError
from catalog.runtime.limits.process_end import OUT_OF_MEMORY_CODE, end_reason, set_aside_reason
from catalog.runtime.limits.process_limits import ProcessLimits
from catalog.runtime.supervised_workers import MAX_TRIES
from catalog.runtime.worker_process import RequestHandler, WorkerLost, WorkerProcess
from catalog.storage.bodies import BodyStore
from crawler.pages.page_digest import PageDigest, PageDigester
from crawler.pages.soft404 import PageFingerprint, page_fingerprint
from crawler.urls.site import Site

FAST_PAGES = 20  # pages within FAST_SECONDS, from which on a worker process is started
FAST_SECONDS = 1.0  # wall-clock time: decides about a process, not about a page
MAX_PAGE_SECONDS = 60  # of processor time for one page; then its process is ended
# Limits of the process while it works on a page: a worker, or that of the crawl.
PAGE_LIMITS = ProcessLimits(memory=1_000, processor_time=MAX_PAGE_SECONDS)
# Kinds of tasks of a worker.
DIGEST = "digest"
FINGERPRINT = "fingerprint"
_OUT_OF_MEMORY = end_reason(OUT_OF_MEMORY_CODE)
MAX_FAILED_STARTS = 3  # workers that do not start; then pages are processed in this process


class PageSetAside(Exception):
    """Workers have died of a page three times; the message is the reason of the last death."""


class PageError(Exception):
    """Our own code failed on a page; the message is the kind of the exception."""


def failure_reason(error: PageSetAside | PageError) -> str:
    """Return the reason stored with a page that could not be processed."""
    if isinstance(error, PageSetAside):
        return set_aside_reason(str(error))
    return f"error: {error}"


class PageProcessor:
    """Processes the pages of one crawl.

    If the crawl is `isolated`, no page is processed in this process, as long as workers start.
    """

    def __init__(self, site: Site, bodies_url: str, isolated: bool = False) -> None:
        self._site = site
        self._bodies_url = bodies_url
        self._bodies = BodyStore(bodies_url)
        self._digester = PageDigester(site)
        self._is_isolated = isolated
        self._worker: WorkerProcess | None = None
        self._starting: asyncio.Task[None] | None = None
        self._failed_starts = 0
        self._suspect_lock = asyncio.Lock()
        self._arrivals: deque[float] = deque(maxlen=FAST_PAGES)

    def set_missing_page(self, fingerprint: PageFingerprint | None) -> None:
        """Set the fingerprint of the shop's soft 404s."""
        self._digester.missing_page = fingerprint

    async def process(self, response: Response, detect_missing: bool = True) -> PageDigest:
        """Digest a page and store its body, unless it is hostile or missing.

        Without `detect_missing` the body is stored although it looks like a missing page. Raises
        StoreError, PageError, and PageSetAside if workers die of the page.
        """
        content_type = header_value(response, "Content-Type")
        link_header = header_value(response, "Link")
        content_language = header_value(response, "Content-Language")
        task = {
            "kind": DIGEST,
            "url": response.url,
            "type": content_type,
            "link": link_header,
            "language": content_language,
            "detect_missing": detect_missing,
        }
        self._start_worker_if_fast()
        answer = await self._answer(task, response.body)
        if answer is not None:
            return _digest_from(answer)
        try:
            with PAGE_LIMITS.enforced():
                digest = self._digester.digest(
                    response.body, content_type, response.url, link_header, content_language
                )
        except MemoryError:
            return _digest_from(await self._answer_suspect(task, response.body, _OUT_OF_MEMORY))
        except Exception as error:
            raise PageError(type(error).__name__) from error
        if _is_worth_storing(digest, detect_missing):
            await asyncio.to_thread(self._bodies.put, response.body, digest.body)
        return digest

    async def fingerprint(self, response: Response) -> PageFingerprint | None:
        """Compute the fingerprint of a page; None if the page is hostile.

        Raises PageError, and PageSetAside if workers die of the page.
        """
        content_type = header_value(response, "Content-Type")
        if not self._is_isolated:
            try:
                with PAGE_LIMITS.enforced():
                    return page_fingerprint(response.body, content_type)
            except MemoryError:
                pass
            except Exception as error:
                raise PageError(type(error).__name__) from error
        # The crawl's worker starts later, when the fingerprint is known.
        task = {"kind": FINGERPRINT, "type": content_type}
        answer = await self._answer_suspect(task, response.body, _OUT_OF_MEMORY)
        _raise_error(answer)
        return _fingerprint_from(answer["fingerprint"])

    def close(self) -> None:
        """End the worker process."""
        if self._worker is not None:
            self._worker.stop()

    async def _answer(self, task: dict[str, Any], body: bytes) -> dict[str, Any] | None:
        """Return a worker's answer; None if this process is to do the task itself."""
        while (worker := await self._running_worker()) is not None:
            try:
                return await worker.request(task, body)
            except WorkerLost as lost:
                self._is_isolated = True
                if self._worker is worker:
                    self._worker = self._starting = None
                if lost.is_suspect:
                    return await self._answer_suspect(task, body, str(lost))
        return None

    async def _answer_suspect(
        self, task: dict[str, Any], body: bytes, reason: str
    ) -> dict[str, Any]:
        """Process a page of which a worker has died once, in workers without other pages."""
        async with self._suspect_lock:
            for _ in range(MAX_TRIES - 1):
                worker = self._new_worker()
                try:
                    await worker.start()
                    return await worker.request(task, body)
                except WorkerLost as lost:
                    reason = str(lost)
                finally:
                    worker.stop()
        raise PageSetAside(reason)

    async def _running_worker(self) -> WorkerProcess | None:
        """Return the worker; None if this process is to process a page itself.

        An isolated crawl waits until its worker has started.
        """
        while self._is_isolated and self._worker is None:
            if self._failed_starts >= MAX_FAILED_STARTS:
                return None
            if self._starting is None:
                self._starting = asyncio.ensure_future(self._start_worker())
            await asyncio.shield(self._starting)
        return self._worker

    def _start_worker_if_fast(self) -> None:
        self._arrivals.append(monotonic())
        if self._starting is not None or len(self._arrivals) < FAST_PAGES:
            return
        is_fast = self._arrivals[-1] - self._arrivals[0] < FAST_SECONDS
        if is_fast and (os.cpu_count() or 1) > 1:
            self._starting = asyncio.ensure_future(self._start_worker())

    async def _start_worker(self) -> None:
        worker = self._new_worker()
        try:
            await worker.start()
        except WorkerLost:
            self._failed_starts += 1
            self._starting = None
            return
        self._failed_starts = 0
        self._worker = worker

    def _new_worker(self) -> WorkerProcess:
        site, missing_page = self._site, self._digester.missing_page
        return WorkerProcess(
            prepare_worker,
            self._bodies_url,
            site.home,
            site.origin,
            site.tracking_keys,
            site.link_lists,
            _fingerprint_fields(missing_page),
            limits=PAGE_LIMITS,
        )


def prepare_worker(
    bodies_url: str,
    home: str,
    origin: str,
    tracking_keys: tuple[str, ...],
    link_lists: tuple[str, ...],
    missing_page: list[Any] | None,
) -> RequestHandler:
    """Build the worker's function, which digests a page and stores its body, or computes its
    fingerprint.
    """
    bodies = BodyStore(bodies_url)
    site = Site(home, tracking_keys, link_lists)
    site.move_to(origin)
    digester = PageDigester(site, _fingerprint_from(missing_page))

    def process(task: dict[str, Any], body: bytes) -> dict[str, Any]:
        try:
            if task["kind"] == FINGERPRINT:
                fingerprint = page_fingerprint(body, task["type"])
                return {"fingerprint": _fingerprint_fields(fingerprint)}
            digest = digester.digest(
                body, task["type"], task["url"], task["link"], task["language"]
            )
            if _is_worth_storing(digest, task["detect_missing"]):
                bodies.put(body, digest.body)
        except StoreError as error:
            return {"error": (type(error).__name__, str(error))}
        except MemoryError:
            # Ends this worker, so that the page is tried again.
            raise
        except Exception as error:  # noqa: BLE001 - a page may bring about anything
            return {"failed": type(error).__name__}
        return digest.as_json()

    return process


def _digest_from(fields: dict[str, Any]) -> PageDigest:
    """Return the digest in a worker's response. Raises the error in it."""
    _raise_error(fields)
    return PageDigest.from_json(fields)


def _raise_error(fields: dict[str, Any]) -> None:
    """Raise the error in a worker's response, if there is one."""
    if kind := fields.get("failed"):
        raise PageError(kind)
    if error := fields.get("error"):
        kind, message = error
        raise getattr(errors, kind, StoreError)(message)


def _fingerprint_fields(fingerprint: PageFingerprint | None) -> list[Any] | None:
    """Return a fingerprint as a list for JSON, which has no sets."""
    return None if fingerprint is None else [fingerprint.title, sorted(fingerprint.words)]


def _fingerprint_from(fields: list[Any] | None) -> PageFingerprint | None:
    """Rebuild a fingerprint from `_fingerprint_fields`."""
    return PageFingerprint(fields[0], frozenset(fields[1])) if fields else None


def header_value(response: Response, name: str) -> str | None:
    """Return a header, all its lines joined; None if it is missing, empty or holds a zero."""
    value = b", ".join(response.headers.getlist(name))
    # PostgreSQL cannot store a zero, and no header may hold one.
    return value.decode("latin-1") if value and b"\0" not in value else None


def _is_worth_storing(digest: PageDigest, detect_missing: bool) -> bool:
    return not (digest.is_hostile or (detect_missing and digest.is_missing))
