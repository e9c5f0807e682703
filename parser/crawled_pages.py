"""The fetched pages of a shop, as parser, learner and inspector take them from the store."""

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, zip_longest

from sqlmodel import col, select

from catalog.errors import HostilePage, StoreError
from catalog.models import Page, PageState, Shop
from catalog.storage.bodies import Bodies
from catalog.storage.store import Store
from parser.page.document import Document
from parser.templates.template_match import folder_of, is_front_door, path_of


@dataclass(frozen=True)
class CrawledPage:
    """A fetched page: where it is, the name of its body, the version of the rules that read it last, and its last look.

    A page that rests, as its sitemap's `lastmod` may let it, keeps the body and the moment of the crawl before.
    """

    page_id: int
    url: str
    canonical: str | None
    body: str
    content_type: str | None = None
    rules_version: int | None = None
    fetched_at: datetime | None = None

    @property
    def address(self) -> str:
        """The URL that stands for the page: its canonical one where it names one that is believed."""
        return self.canonical or self.url

    def is_fresh(self, since: datetime | None) -> bool:
        """Whether the shop was asked for it since that moment; never where the moment is unknown."""
        return since is not None and self.fetched_at is not None and self.fetched_at > since


def crawled_pages(store: Store, shop: Shop) -> list[CrawledPage]:
    """The pages of a shop that have a body, in the order in which they became known.

    Some templates name one address as canonical for every offer. The front door never stands for other pages than its
    own, and an address that is gone or leads elsewhere stands for none: those pages go by their own URLs.
    """
    fetched = select(Page).where(
        Page.shop_id == shop.id, Page.state == PageState.FETCHED, col(Page.body).is_not(None)
    )
    lost = select(Page.url, Page.canonical).where(
        Page.shop_id == shop.id, col(Page.state).in_((PageState.GONE, PageState.REDIRECTED))
    )
    with store.read() as session:
        pages = [_crawled(page) for page in session.exec(fetched.order_by(col(Page.id)))]
        leads_to = {url: target or "" for url, target in session.exec(lost)}
    doors = {page.body for page in pages if is_front_door(page.url)}
    return [
        page if _is_believed(page, doors, leads_to) else replace(page, canonical=None)
        for page in pages
    ]


def _crawled(page: Page) -> CrawledPage:
    return CrawledPage(
        page_id=page.id or 0,
        url=page.url,
        canonical=page.canonical,
        body=page.body or "",
        content_type=page.content_type,
        rules_version=page.rules_version,
        fetched_at=page.fetched_at,
    )


def _is_believed(page: CrawledPage, doors: Collection[str], leads_to: Mapping[str, str]) -> bool:
    """Whether the page can be kept at its canonical address; `doors` are the bodies of the shop's front door."""
    address, own = page.address, path_of(page.url)
    if is_front_door(address):
        return page.body in doors or is_front_door(own)
    return address not in leads_to or path_of(leads_to[address]) == own


def ways_to_pages(store: Store, shop: Shop) -> dict[str, str]:
    """URLs of the shop that hold no page themselves, with the URL of the page that they lead to or repeat."""
    without = select(Page).where(
        Page.shop_id == shop.id, Page.state != PageState.FETCHED, col(Page.canonical).is_not(None)
    )
    with store.read() as session:
        return {page.url: page.canonical or "" for page in session.exec(without)}


def in_turn(pages: Sequence[CrawledPage]) -> list[CrawledPage]:
    """The pages in an order that mixes the parts of a shop, the same at every time."""
    return random.Random(len(pages)).sample(pages, len(pages))  # noqa: S311 - not for secrecy


def by_folder(pages: Sequence[CrawledPage]) -> list[CrawledPage]:
    """The pages in a fixed order in which each first folder of the shop has its turn.

    So the few category pages of a shop of thousands of offers are among the first; what repeats another page is gone.
    """
    folders = defaultdict[str, list[CrawledPage]](list)
    for page in in_turn(pages):
        folders["/".join(folder_of(page.address).split("/")[:2])].append(page)
    turns = chain.from_iterable(zip_longest(*folders.values()))
    return list({page.address: page for page in turns if page is not None}.values())


class Opener:
    """Opens crawled pages out of the page store; `refused` says why pages could not be opened, by their addresses."""

    def __init__(self, bodies_url: str) -> None:
        self._bodies = Bodies(bodies_url)
        self.refused: dict[str, str] = {}

    def open(self, page: CrawledPage, *, trusted: bool = False) -> Document:
        """The page, at its own address. Raises StoreError, and HostilePage unless the page is `trusted`."""
        return Document(
            self._bodies.get(page.body), page.address, page.content_type, trusted=trusted
        )

    def open_all(self, pages: Iterable[CrawledPage]) -> Iterator[tuple[CrawledPage, Document]]:
        """Those of the pages that can be opened; the others are `refused`."""
        for page in pages:
            try:
                document = self.open(page)
            except (HostilePage, StoreError) as error:
                self.refused[page.address] = str(error)
            else:
                yield page, document
