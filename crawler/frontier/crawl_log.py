"""The crawl's own row: what it asked for so far, and, once it has ended, what it came to and why it ended early."""

from time import monotonic
from typing import Any

from sqlmodel import col, func, select

from catalog.models import Crawl, now
from catalog.storage.frontier import Frontier
from catalog.storage.store import Store

OFTEN = 5.0


class Record:
    """Keeps the row of one crawl. What a killed crawl had asked for is known up to a few seconds before its end."""

    def __init__(self, store: Store, shop_id: int, run_id: int | None) -> None:
        self._store, self._begun, self._noted = store, monotonic(), monotonic()
        made = Crawl(shop_id=shop_id, run_id=run_id)
        with store.write() as session:
            earlier = select(func.sum(Crawl.bytes), func.sum(Crawl.seconds)).where(
                col(Crawl.run_id) == run_id
            )
            spent = session.exec(earlier).one()
            session.add(made)
        self._id = made.id
        self.used = (int(spent[0] or 0), float(spent[1] or 0.0))

    def note(self, requests: int, size: int) -> None:
        """Keep the figures, now and then."""
        if monotonic() - self._noted > OFTEN:
            self._noted = monotonic()
            self._keep(requests=requests, bytes=size)

    def end(
        self, frontier: Frontier, requests: int, size: int, refused: dict[str, int], **words: Any
    ) -> None:
        """Keep what the crawl came to: `refused` are the links that never became pages, by reason."""
        pages = frontier.counts()
        reasons = frontier.reasons()
        for reason, number in refused.items():
            reasons[reason] = reasons.get(reason, 0) + number
        self._keep(
            requests=requests, bytes=size, finished_at=now(), pages=pages, reasons=reasons, **words
        )

    def _keep(self, **columns: Any) -> None:
        with self._store.write() as session:
            row = session.get_one(Crawl, self._id)
            for name, value in {"seconds": monotonic() - self._begun, **columns}.items():
                setattr(row, name, value)
