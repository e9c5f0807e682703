"""What a crawl under way tells of itself, as the page table has it: pages, queue, errors, and offers seen."""

from sqlalchemy import or_
from sqlmodel import col, func, select

from catalog.models import Page, PageKind, PageState
from catalog.runtime.progress import Progress
from catalog.storage.frontier import OPEN, Frontier
from catalog.storage.store import Store

EVERY = 8


class Live:
    """Tells a Progress how a shop's crawl stands; offers are counted less often, for that looks at every page."""

    def __init__(self, store: Store, shop_id: int, frontier: Frontier, progress: Progress) -> None:
        self._store, self._shop, self._frontier, self._progress = store, shop_id, frontier, progress
        self._looks, self._offers = 0, 0

    def tell(self, last: bool = False) -> None:
        """Say how it stands now. `offers` are pages of offers that the catalog knows or an earlier run has read."""
        counts = self._frontier.counts()
        if last or self._looks % EVERY == 0:
            self._offers = self._count_offers()
        self._looks += 1
        total, queue = sum(counts.values()), sum(counts.get(state, 0) for state in OPEN)
        errors = counts.get(PageState.FAILED, 0)
        self._progress(
            "pages", total - queue, total, offers=self._offers, queue=queue, errors=errors
        )

    def _count_offers(self) -> int:
        of_offers = or_(col(Page.source) == "known", col(Page.kind) == PageKind.OFFER)
        wanted = select(func.count()).where(
            Page.shop_id == self._shop, Page.state == PageState.FETCHED, of_offers
        )
        with self._store.read() as session:
            return int(session.exec(wanted).one())
