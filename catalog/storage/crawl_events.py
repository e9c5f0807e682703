"""Events of crawls: the lessons of each step, so that an interrupted crawl can learn them again.

Events are written in the transaction of the pages that they belong to.
"""

from collections.abc import Iterable, Iterator

from sqlalchemy import Connection, insert
from sqlmodel import col, delete, select

from catalog.models import CrawlEvent
from catalog.storage.store import Store

READ_SIZE = 500
"""Events that are read at a time: a few kilobytes each."""

NumberedEvent = tuple[int, bytes]
"""The position of an event in its crawl, and its content."""


def insert_events(
    connection: Connection, shop_id: int, run_id: int, events: Iterable[NumberedEvent | None]
) -> None:
    """Insert events of a run; None stands for a step without an event."""
    owner = {"shop_id": shop_id, "run_id": run_id}
    rows = []
    for event in events:
        if event is not None:
            number, data = event
            rows.append({**owner, "number": number, "data": data})
    if rows:
        connection.execute(insert(CrawlEvent), rows)


def read_events(store: Store, shop_id: int, run_id: int) -> Iterator[NumberedEvent]:
    """Yield the events of a run in their order."""
    last = -1
    while True:
        following = (
            select(CrawlEvent.number, CrawlEvent.data)
            .where(
                CrawlEvent.shop_id == shop_id,
                CrawlEvent.run_id == run_id,
                CrawlEvent.number > last,
            )
            .order_by(col(CrawlEvent.number))
            .limit(READ_SIZE)
        )
        with store.read() as session:
            rows = list(session.exec(following))
        yield from ((number, data) for number, data in rows)
        if len(rows) < READ_SIZE:
            return
        last = rows[-1][0]


def delete_events(store: Store, shop_id: int) -> None:
    """Delete the events of a shop's crawls."""
    with store.write() as session:
        session.exec(delete(CrawlEvent).where(col(CrawlEvent.shop_id) == shop_id))
