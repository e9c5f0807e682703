"""The fetched pages of a shop, as parser, learner and inspector take them from the page store."""

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from itertools import chain, zip_longest
from weakref import WeakValueDictionary

from sqlalchemy import select as sa_select
from sqlmodel import col, select

from catalog.errors import HostilePage, StoreError
from catalog.models import Page, PageState, Shop
from catalog.storage.bodies import BodyStore
from catalog.storage.bulk.page_batches import PAGES
from catalog.storage.store import Store
from parser.page.document import Document
from parser.page.url_paths import is_home_page, url_folder, url_path
from parser.scripts.script_cache import ScriptCache
from url_cleaner.urls.url import url_rank


@dataclass(frozen=True)
class CrawledPage:
    """A fetched page: its URL, the name of its stored body, its last reading and fetch.

    A page that was not revisited, as its sitemap's `lastmod` may allow, keeps the body and the time
    of the crawl before.
    """

    page_id: int
    url: str
    canonical: str | None
    body: str
    content_type: str | None = None
    rules_version: int | None = None
    fetched_at: datetime | None = None
    read_key: str | None = None

    @property
    def address(self) -> str:
        """The URL that stands for the page: its canonical one, where that is plausible."""
        return self.canonical or self.url

    def is_fresh(self, since: datetime | None) -> bool:
        """Return True if the page was fetched after that time; False where either is unknown."""
        return since is not None and self.fetched_at is not None and self.fetched_at > since


# The columns of a `CrawledPage`, in its order: whole rows would take three times as long to read.
_COLUMNS = ("id", *(field.name for field in fields(CrawledPage) if field.name != "page_id"))


def list_crawled_pages(store: Store, shop: Shop) -> list[CrawledPage]:
    """Return the pages of a shop that have a body, the shortest URLs first (`url_rank`).

    Of pages with the same bytes and no canonical link, the first is canonical of the others. An
    implausible canonical URL is dropped: some templates name one for every offer. The home page
    is canonical only of itself, and a URL that is gone or redirects elsewhere is canonical of no
    page.
    """
    fetched = sa_select(*(PAGES.c[name] for name in _COLUMNS)).where(
        PAGES.c.shop_id == shop.id,
        PAGES.c.state == PageState.FETCHED,
        PAGES.c.body.is_not(None),
    )
    lost = select(Page.url, Page.canonical).where(
        Page.shop_id == shop.id, col(Page.state).in_((PageState.GONE, PageState.REDIRECTED))
    )
    with store.read() as session:
        pages = [CrawledPage(*row) for row in session.connection().execute(fetched)]
        targets = {url: target or "" for url, target in session.exec(lost)}
    # Row ids tell only the order of discovery, which depends on timing.
    pages.sort(key=lambda page: url_rank(page.url))
    pages = _choose_originals(pages)
    home_bodies = {page.body for page in pages if is_home_page(page.url)}
    plausible = []
    for page in pages:
        keeps_canonical = _is_canonical_plausible(page, home_bodies, targets)
        plausible.append(page if keeps_canonical else replace(page, canonical=None))
    return plausible


def _choose_originals(pages: Sequence[CrawledPage]) -> list[CrawledPage]:
    """Make the first of several pages with the same bytes the canonical one of the others.

    The crawl names the one that it fetched first. Pages with a canonical link keep that.
    """
    by_body = defaultdict[str, list[CrawledPage]](list)
    for page in pages:
        by_body[page.body].append(page)
    originals: dict[str, str] = {}
    for body, copies in by_body.items():
        canonicals = {copy.canonical for copy in copies}
        # The copy that was fetched first has no canonical URL, the others have its URL.
        is_chosen_by_crawl = canonicals - {copy.url for copy in copies} == {None}
        if len(copies) > 1 and is_chosen_by_crawl:
            originals[body] = copies[0].url
    chosen = []
    for page in pages:
        original = originals.get(page.body)
        if original is None:
            chosen.append(page)
        else:
            chosen.append(replace(page, canonical=None if page.url == original else original))
    return chosen


def _is_canonical_plausible(
    page: CrawledPage, home_bodies: Collection[str], targets: Mapping[str, str]
) -> bool:
    """Return True if a page can stand at its canonical URL; `targets` are lost URLs' redirects."""
    address, own_path = page.address, url_path(page.url)
    if is_home_page(address):
        return page.body in home_bodies or is_home_page(own_path)
    # A canonical URL may redirect to the page itself.
    return address not in targets or url_path(targets[address]) == own_path


def redirect_targets(store: Store, shop: Shop) -> dict[str, str]:
    """Map each URL without a page of its own to the URL that it redirects to or repeats."""
    unfetched = select(Page).where(
        Page.shop_id == shop.id, Page.state != PageState.FETCHED, col(Page.canonical).is_not(None)
    )
    with store.read() as session:
        return {page.url: page.canonical or "" for page in session.exec(unfetched)}


def shuffle_pages(pages: Sequence[CrawledPage]) -> list[CrawledPage]:
    """Return the pages in an order that mixes the parts of a shop, the same every time."""
    return random.Random(len(pages)).sample(pages, len(pages))  # noqa: S311 - not for secrecy


def interleave_folders(pages: Sequence[CrawledPage]) -> list[CrawledPage]:
    """Return the pages in a fixed order that alternates between the top-level folders.

    So the few category pages of a shop with thousands of offers are among the first.
    """
    folders = defaultdict[str, list[CrawledPage]](list)
    for page in shuffle_pages(pages):
        top_folder = "/".join(url_folder(page.address).split("/")[:2])
        folders[top_folder].append(page)
    interleaved = chain.from_iterable(zip_longest(*folders.values()))
    return unique_pages(page for page in interleaved if page is not None)


def unique_pages(pages: Iterable[CrawledPage]) -> list[CrawledPage]:
    """Return one page per address, in order: the page at the address itself, else the first."""
    by_address: dict[str, CrawledPage] = {}
    for page in pages:
        if page.url == page.address:
            by_address[page.address] = page
        else:
            by_address.setdefault(page.address, page)
    return list(by_address.values())


class PageOpener:
    """Opens crawled pages; `refused` maps the URLs of damaged ones to the reason.

    A page that is still in use is not parsed again. Documents of `trusted` pages, which were not
    checked, are kept apart.
    """

    def __init__(self, bodies_url: str) -> None:
        self._bodies = BodyStore(bodies_url)
        self._script_cache = ScriptCache()
        # By page, and whether it was opened as a trusted one.
        self._documents = WeakValueDictionary[tuple[CrawledPage, bool], Document]()
        self.refused: dict[str, str] = {}

    def open(self, page: CrawledPage, *, trusted: bool = False) -> Document:
        """Open a page. Raises StoreError, and HostilePage unless the page is `trusted`."""
        document = self._documents.get((page, trusted))
        if document is not None:
            document.mark()
            return document
        document = self._documents[page, trusted] = Document(
            self._bodies.get(page.body),
            page.address,
            page.content_type,
            trusted=trusted,
            script_cache=self._script_cache,
            page_id=page.page_id,
        )
        return document

    def open_all(self, pages: Iterable[CrawledPage]) -> Iterator[tuple[CrawledPage, Document]]:
        """Yield the pages that can be opened; add the others to `refused`."""
        for page in pages:
            try:
                document = self.open(page)
            except (HostilePage, StoreError) as error:
                self.refused[page.address] = str(error)
            else:
                yield page, document
