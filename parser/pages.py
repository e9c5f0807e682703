"""The fetched pages of a shop, as parser, learner and inspector take them from the store."""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from sqlmodel import col, select

from catalog.bodies import Bodies
from catalog.errors import HostilePage, StoreError
from catalog.models import Page, PageState, Shop
from catalog.store import Store
from parser.document import Document
from parser.gate import folder_of


@dataclass(frozen=True)
class CrawledPage:
    """A fetched page: where it is, the name of its body, and the version of the rules that read it last."""

    page_id: int
    url: str
    canonical: str | None
    body: str
    content_type: str | None = None
    rules_version: int | None = None

    @property
    def address(self) -> str:
        """The URL that stands for the page: its canonical one where it names one."""
        return self.canonical or self.url


def crawled_pages(store: Store, shop: Shop) -> list[CrawledPage]:
    """The pages of a shop that have a body, in the order in which they became known."""
    fetched = select(Page).where(Page.shop_id == shop.id, Page.state == PageState.FETCHED, col(Page.body).is_not(None))
    with store.read() as session:
        return [
            CrawledPage(page.id or 0, page.url, page.canonical, page.body or "", page.content_type, page.rules_version)
            for page in session.exec(fetched.order_by(col(Page.id)))
        ]


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
        return Document(self._bodies.get(page.body), page.address, page.content_type, trusted=trusted)

    def open_all(self, pages: Iterable[CrawledPage]) -> Iterator[tuple[CrawledPage, Document]]:
        """Those of the pages that can be opened; the others are `refused`."""
        for page in pages:
            try:
                document = self.open(page)
            except (HostilePage, StoreError) as error:
                self.refused[page.address] = str(error)
            else:
                yield page, document
