"""Saved pages as a source of a crawl: a folder of pages, WARC files, or a list of URLs.

A folder is read as a mirror of the site: `a/b.html` in it is `/a/b.html` of the shop, `index.html`
its folder. A first folder named like the shop's host is skipped, because tools that mirror sites
create one. Of a WARC file only responses of the shop's own site count, the last good one of each
page. Reading a source twice leaves the same pages.

Pages are parsed in a worker process under the limits of a crawl (`crawler.store.page_processor`): a
page that ends its worker costs only itself.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from scrapy.http import Response
from sqlmodel import col, select

from catalog.errors import UsageError
from catalog.models import Page, PageState, Shop, utc_now
from catalog.runtime.batches import iterate_batches
from catalog.runtime.progress import Progress
from catalog.runtime.settings import Settings
from catalog.storage.frontier import FetchOutcome, Frontier, FrontierLink
from catalog.storage.store import Store
from crawler.discovery.sitemaps import parse_date
from crawler.fetch.response_status import HOSTILE, MAX_ATTEMPTS, TOO_LARGE, classify_response
from crawler.frontier.dispatcher import LEASE
from crawler.sources.warc_reader import SavedResponse, is_warc, read_responses
from crawler.store.page_processor import PageError, PageProcessor, PageSetAside, failure_reason
from crawler.urls.crawl_url import CrawlUrl
from crawler.urls.site import Site
from url_cleaner.urls.url import join_url

HTML_ENDINGS = (".html", ".htm", ".xhtml")
ARCHIVE_ENDINGS = (".warc", ".arc", ".gz", ".zst")
INDEX_FILE = "index.html"
# Characters that stand in a path as they are (RFC 3986, section 3.3).
PATH_CHARACTERS = "/!$&'()*+,;=:@~"
BATCH_SIZE = 50  # pages of one transaction
ARCHIVE_DETAIL = "archive: "  # begins the reasons of records that are left out
LISTED_PRIORITY = 50  # of pages that the user lists; all have the same
PAGES_IN_WORKER = 2  # the worker parses one while another is sent


class _SavedPage(NamedTuple):
    url: str
    response: SavedResponse


def read_saved_pages(
    settings: Settings, store: Store, shop: Shop, run_id: int, source: Path, progress: Progress
) -> Counter[str]:
    """Store all pages of a folder or WARC file as fetched.

    Returns the number of records left out by reason. Raises UsageError.
    """
    site = Site(shop.url)
    frontier = Frontier(store, shop.id or 0, run_id)
    skipped: Counter[str] = Counter()
    done = 0
    processor = PageProcessor(site, settings.bodies, isolated=True)
    importer = _Importer(site, processor)
    with asyncio.Runner() as runner, closing(processor):
        for batch in _batches(_pages(source, site, settings.max_body, skipped)):
            frontier.add(FrontierLink(url, "saved") for url in batch)
            page_ids = _page_ids(store, shop.id or 0, batch)
            frontier.record_results(runner.run(importer.outcomes(page_ids, batch)))
            done += len(batch)
            progress("pages", done)
    if not done:
        raise UsageError(
            f"{source} holds no saved pages of {shop.url} (*.html, *.warc, *.warc.gz, *.warc.zst)"
        )
    # Pages that earlier runs found and the source lacks would stay open for ever.
    while pages := frontier.claim(BATCH_SIZE, LEASE):
        frontier.record_results(
            FetchOutcome(page.id or 0, PageState.GONE, {"reason": "not saved"}) for page in pages
        )
    return Counter({ARCHIVE_DETAIL + reason: count for reason, count in skipped.items()})


def has_saved_pages(source: Path) -> bool:
    """Return True if a source holds pages; False if it may be a list of URLs."""
    return source.is_dir() or is_warc(source)


def read_url_list(file: Path, shop: Shop) -> tuple[list[FrontierLink], Counter[str]]:
    """Read the shop's own pages from a file of URLs, one a line.

    Returns them, and the number of lines left out by reason. Raises UsageError.
    """
    try:
        lines = file.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{file} is no folder of saved pages, no WARC file and no text file of URLs"
        ) from error
    site = Site(shop.url)
    links: list[FrontierLink] = []
    skipped: Counter[str] = Counter()
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        address = site.normalize(line.strip())
        if isinstance(address, CrawlUrl):
            links.append(FrontierLink(address.text, "listed", LISTED_PRIORITY))
        else:
            skipped[address] += 1
    if not links:
        raise UsageError(f"{file} lists no page of {shop.url}")
    return links, skipped


class _Importer:
    """Turns saved responses into outcomes, and remembers the pages that have a good one."""

    def __init__(self, site: Site, processor: PageProcessor) -> None:
        self._site = site
        self._processor = processor
        self._good: set[str] = set()

    async def outcomes(
        self, page_ids: Mapping[str, int], batch: Mapping[str, SavedResponse]
    ) -> list[FetchOutcome]:
        """Turn saved responses by URL into their pages' outcomes.

        Left out are responses of pages that have a good one already.
        """
        limit = asyncio.Semaphore(PAGES_IN_WORKER)

        async def outcome(url: str, saved: SavedResponse) -> FetchOutcome | None:
            async with limit:
                return await self._outcome(page_ids[url], url, saved)

        outcomes = await asyncio.gather(*(outcome(url, saved) for url, saved in batch.items()))
        return [outcome for outcome in outcomes if outcome is not None]

    async def _outcome(self, page_id: int, url: str, saved: SavedResponse) -> FetchOutcome | None:
        if saved.body is None:
            if url in self._good:
                return None
            return FetchOutcome(page_id, PageState.REFUSED, {"reason": TOO_LARGE})
        response = Response(url, saved.status, dict(saved.headers), saved.body)
        # As after the last attempt: nothing can be requested again.
        status = classify_response(response, MAX_ATTEMPTS)
        if status.state == PageState.FETCHED:
            self._good.add(url)
            return await self._fetched(page_id, response, saved)
        if url in self._good:
            return None
        columns = {"reason": status.reason, "status": saved.status, "canonical": None}
        if status.state == PageState.REDIRECTED:
            columns["canonical"] = self._target(url, saved)
        return FetchOutcome(page_id, status.state, columns)

    async def _fetched(
        self, page_id: int, response: Response, saved: SavedResponse
    ) -> FetchOutcome:
        try:
            digest = await self._processor.process(response, detect_missing=False)
        except (PageSetAside, PageError) as error:
            return FetchOutcome(page_id, PageState.FAILED, {"reason": failure_reason(error)})
        if digest.is_hostile:
            return FetchOutcome(page_id, PageState.REFUSED, {"reason": HOSTILE})
        columns = {
            "reason": None,
            "status": saved.status,
            "content_type": saved.headers.get("content-type"),
            "size": digest.size,
            "body": digest.body,
            "canonical": digest.canonical,
            "etag": saved.headers.get("etag"),
            "last_modified": saved.headers.get("last-modified"),
            "language": digest.language or None,
            "alternates": digest.versions or None,
            "fetched_at": parse_date(saved.date) or utc_now(),
            "rules_version": None,
            # No crawl has followed the links of this content.
            "digest_key": None,
        }
        return FetchOutcome(page_id, PageState.FETCHED, columns)

    def _target(self, url: str, saved: SavedResponse) -> str | None:
        return self._own_url(join_url(url, saved.headers.get("location", "")))

    def _own_url(self, url: str | None) -> str | None:
        """Return the cleaned URL if it is one of the shop's pages."""
        address = self._site.check(url or "")
        return address.text if isinstance(address, CrawlUrl) else None


def _batches(pages: Iterable[_SavedPage]) -> Iterator[dict[str, SavedResponse]]:
    """Yield batches by URL, in which a good response is not replaced by a bad one."""
    for block in iterate_batches(pages, BATCH_SIZE):
        batch: dict[str, SavedResponse] = {}
        for url, saved in block:
            if url not in batch or saved.status == 200:
                batch[url] = saved
        yield batch


def _page_ids(store: Store, shop_id: int, urls: Iterable[str]) -> dict[str, int]:
    pages = select(Page.url, Page.id).where(Page.shop_id == shop_id, col(Page.url).in_(list(urls)))
    with store.read() as session:
        return {url: page_id or 0 for url, page_id in session.exec(pages)}


def _pages(source: Path, site: Site, max_size: int, skipped: Counter[str]) -> Iterator[_SavedPage]:
    if not source.is_dir():
        return _archived([source], site, max_size, skipped)
    host_folder = source / (urlsplit(site.home).hostname or "")
    base = host_folder if host_folder.is_dir() else source
    # Tools that mirror a site write its archive beside the host's folder.
    files = [path for path in sorted(source.rglob("*")) if path.is_file()]
    archives = [path for path in files if path.suffix.lower() in ARCHIVE_ENDINGS and is_warc(path)]
    return chain(
        _mirrored([path for path in files if base in path.parents], base, site, max_size),
        _archived(archives, site, max_size, skipped),
    )


def _mirrored(files: Iterable[Path], base: Path, site: Site, max_size: int) -> Iterator[_SavedPage]:
    """Yield the saved pages of a folder under their addresses.

    The body of a larger page is None.
    """
    for path in files:
        if path.suffix.lower() in HTML_ENDINGS:
            name = path.relative_to(base).as_posix()
            if path.name == INDEX_FILE:
                name = name.removesuffix(INDEX_FILE)
            body = path.read_bytes() if path.stat().st_size <= max_size else None
            url = f"{site.origin}/{quote(name, PATH_CHARACTERS)}"
            yield _SavedPage(url, SavedResponse(url, 200, {"content-type": "text/html"}, body))


def _archived(
    files: Iterable[Path], site: Site, max_size: int, skipped: Counter[str]
) -> Iterator[_SavedPage]:
    """Yield the responses of the shop's site in WARC files, without 304s."""
    for file in files:
        for saved in read_responses(file, max_size, skipped):
            if saved.status < 200 or saved.status == 304:
                continue
            address = site.normalize(saved.url)
            if isinstance(address, CrawlUrl):
                yield _SavedPage(address.text, saved)
            else:
                skipped[address] += 1
