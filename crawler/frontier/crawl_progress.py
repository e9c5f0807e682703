"""Progress of a running crawl, read from the page table: pages, queue, errors, offers."""

from sqlalchemy import or_
from sqlmodel import col, func, select

from catalog.models import Page, PageKind, PageState
from catalog.runtime.progress import Progress
from catalog.storage.frontier import OPEN_STATES, Frontier
from catalog.storage.store import Store

REPORTS_PER_OFFER_COUNT = 8  # counting offers scans all pages of the shop


class CrawlProgress:
    """Reports the progress of a shop's crawl to a listener."""

    def __init__(self, store: Store, shop_id: int, frontier: Frontier, progress: Progress) -> None:
        self._store = store
        self._shop_id = shop_id
        self._frontier = frontier
        self._progress = progress
        self._reports = 0
        self._offers = 0

    def report(self, is_last: bool = False) -> None:
        """Report the current figures.

        Offers are pages that the catalog knows or an earlier run has read as offers.
        """
        counts = self._frontier.counts()
        if is_last or self._reports % REPORTS_PER_OFFER_COUNT == 0:
            self._offers = self._count_offers()
        self._reports += 1
        total = sum(counts.values())
        queue = sum(counts.get(state, 0) for state in OPEN_STATES)
        errors = counts.get(PageState.FAILED, 0)
        self._progress(
            "pages", total - queue, total, offers=self._offers, queue=queue, errors=errors
        )

    def _count_offers(self) -> int:
        is_offer = or_(col(Page.source) == "known", col(Page.kind) == PageKind.OFFER)
        offers = select(func.count()).where(
            Page.shop_id == self._shop_id, Page.state == PageState.FETCHED, is_offer
        )
        with self._store.read() as session:
            return int(session.exec(offers).one())
