"""Pages from elsewhere than the net: a folder of saved pages, WARC files, or a list of URLs.

A folder is read as a mirror of the site: `a/b.html` in it stands for `/a/b.html` of the shop, `index.html` for its
folder. A first folder named like the shop's host is passed over, as tools that mirror sites make one. Of a WARC file
the answers of the shop's own site count, the last good one of each page. Reading the same source twice, as after a
kill, leaves the same pages.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from urllib.parse import quote, urlsplit

from scrapy.http import Response
from sqlmodel import col, select

from catalog.errors import HostilePage, UsageError
from catalog.html import decode, open_html
from catalog.models import Page, PageState, Shop, now
from catalog.runtime.progress import Progress
from catalog.runtime.settings import Settings
from catalog.storage.bodies import Bodies
from catalog.storage.frontier import Frontier, Link, Outcome
from catalog.storage.store import Store
from crawler.discovery.sitemaps import moment
from crawler.fetch.response_status import MOST_ATTEMPTS, of_response
from crawler.frontier.dispatcher import LEASE
from crawler.pages.extract_links import page_links
from crawler.sources.warc_reader import Saved, answers, is_warc
from crawler.urls.site import Site
from crawler.urls.url_shape import Address
from url_cleaner.urls.link import absolute

ENDINGS = (".html", ".htm", ".xhtml")
BATCH = 50
Found = tuple[str, Saved]


def read_saved(
    settings: Settings, store: Store, shop: Shop, run_id: int, source: Path, progress: Progress
) -> int:
    """Take all pages of a folder or WARC file as fetched; gives how many. Raises UsageError."""
    site, frontier = Site(shop.url), Frontier(store, shop.id or 0, run_id)
    keep = _Keep(site, Bodies(settings.bodies))
    done = 0
    for batch in _batches(_pages(source, site, settings.max_body)):
        frontier.add(Link(url, "saved") for url in batch)
        keys = _keys(store, shop.id or 0, batch)
        frontier.settle(
            outcome
            for url, saved in batch.items()
            if (outcome := keep.outcome(keys[url], url, saved))
        )
        done += len(batch)
        progress("pages", done)
    if not done:
        raise UsageError(f"{source} holds no saved pages of {shop.url} (*.html, *.warc, *.warc.gz)")
    while pages := frontier.claim(BATCH, LEASE):
        frontier.settle(
            Outcome(page.id or 0, PageState.GONE, {"reason": "not saved"}) for page in pages
        )
    return done


def is_saved(source: Path) -> bool:
    """Whether a source holds pages rather than names them."""
    return source.is_dir() or is_warc(source)


def listed_links(file: Path, shop: Shop) -> list[Link]:
    """The shop's own pages in a file of URLs, one a line. Raises UsageError."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{file} is no folder of saved pages, no WARC file and no text file of URLs"
        ) from error
    site = Site(shop.url)
    found = [
        site.locate(line.strip()) for line in lines if line.strip() and not line.startswith("#")
    ]
    links = [Link(address.url, "listed", 50) for address in found if isinstance(address, Address)]
    if not links:
        raise UsageError(f"{file} lists no page of {shop.url}")
    return links


class _Keep:
    """Makes outcomes of saved answers; knows which pages have a good one already."""

    def __init__(self, site: Site, bodies: Bodies) -> None:
        self._site, self._bodies = site, bodies
        self._good: set[str] = set()

    def outcome(self, page_id: int, url: str, saved: Saved) -> Outcome | None:
        """What a saved answer makes of its page; None where an earlier one says more."""
        if saved.body is None:
            return (
                None
                if url in self._good
                else Outcome(page_id, PageState.REFUSED, {"reason": "too large"})
            )
        response = Response(url, saved.status, dict(saved.headers), saved.body)
        answer = of_response(response, MOST_ATTEMPTS)
        if answer.state == PageState.FETCHED:
            self._good.add(url)
            return self._fetched(page_id, url, saved, saved.body)
        if url in self._good:
            return None
        columns = {"reason": answer.reason, "status": saved.status}
        target = self._target(url, saved) if answer.state == PageState.REDIRECTED else None
        return Outcome(page_id, answer.state, columns | {"canonical": target})

    def _fetched(self, page_id: int, url: str, saved: Saved, body: bytes) -> Outcome:
        said = saved.headers.get("content-type")
        try:
            canonical = page_links(open_html(decode(body, said)), url).canonical
        except HostilePage:
            return Outcome(page_id, PageState.REFUSED, {"reason": "hostile page"})
        found = self._site.read(canonical) if canonical else None
        columns = {
            "reason": None,
            "status": saved.status,
            "content_type": said,
            "size": len(body),
            "body": self._bodies.put(body),
            "canonical": found.url if isinstance(found, Address) else None,
            "etag": saved.headers.get("etag"),
            "last_modified": saved.headers.get("last-modified"),
            "fetched_at": moment(saved.date) or now(),
            "rules_version": None,
        }
        return Outcome(page_id, PageState.FETCHED, columns)

    def _target(self, url: str, saved: Saved) -> str | None:
        found = self._site.read(absolute(url, saved.headers.get("location", "")) or "")
        return found.url if isinstance(found, Address) else None


def _batches(found: Iterable[Found]) -> Iterator[dict[str, Saved]]:
    """The answers some at a time, by URL; a good answer is not replaced by one that is not."""
    waiting = iter(found)
    while some := list(islice(waiting, BATCH)):
        batch: dict[str, Saved] = {}
        for url, saved in some:
            if url not in batch or saved.status == 200:
                batch[url] = saved
        yield batch


def _keys(store: Store, shop_id: int, urls: Iterable[str]) -> dict[str, int]:
    wanted = select(Page.url, Page.id).where(Page.shop_id == shop_id, col(Page.url).in_(list(urls)))
    with store.read() as session:
        return {url: page_id or 0 for url, page_id in session.exec(wanted)}


def _pages(source: Path, site: Site, most: int) -> Iterator[Found]:
    if not source.is_dir():
        return _archived([source], site, most)
    inner = source / (urlsplit(site.home).hostname or "")
    base = inner if inner.is_dir() else source
    files = [path for path in sorted(base.rglob("*")) if path.is_file()]
    archives = [path for path in files if path.suffix in (".warc", ".gz") and is_warc(path)]
    return chain(_mirrored(files, base, site, most), _archived(archives, site, most))


def _mirrored(files: Iterable[Path], base: Path, site: Site, most: int) -> Iterator[Found]:
    """The saved pages of a folder, each under the address at which it stood."""
    for path in files:
        if path.suffix.lower() in ENDINGS:
            name = quote(path.relative_to(base).as_posix())
            body = path.read_bytes() if path.stat().st_size <= most else None
            url = f"{site.origin}/{name.removesuffix('index.html')}"
            yield url, Saved(url, 200, {"content-type": "text/html"}, body)


def _archived(files: Iterable[Path], site: Site, most: int) -> Iterator[Found]:
    """The answers of the shop's own site in WARC files; what says only that nothing changed is passed over."""
    for file in files:
        for saved in answers(file, most):
            found = site.locate(saved.url) if saved.status >= 200 and saved.status != 304 else ""
            if isinstance(found, Address):
                yield found.url, saved
