"""Import of a feed: a shop's known offers are replaced by those of the feed, all of them or none.

The feed is read to its end first, into a temporary file, so that a slow or broken one neither locks
the database nor leaves half a catalog. Then one transaction inserts or updates the offers by their
own keys, and deletes those that the feed no longer has. An offer that remains keeps its row id.
"""

import errno
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import IO, Any

from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, SQLModel, col, delete

from catalog.errors import StorageFull, UnknownShop
from catalog.feeds import sources
from catalog.feeds.feed_reader import FeedReader
from catalog.feeds.feed_reader import ImportSummary as ImportSummary
from catalog.links.shop_links import UrlCleaner
from catalog.models import BadRow, KnownOffer, OfferFields, Shop, utc_now
from catalog.runtime.progress import Progress, no_progress
from catalog.storage.store import Store
from catalog.values import text

# Offers per statement.
BATCH_SIZE = 1_000
_UPDATED_COLUMNS = [*OfferFields.model_fields, "link", "opaque", "product", "imported_at"]


def import_offers(
    store: Store,
    shop: Shop,
    source: str,
    *,
    format: str = "auto",
    mapping: Mapping[str, str] = {},
    cleaner: UrlCleaner | None = None,
    progress: Progress = no_progress,
) -> ImportSummary:
    """Replace the known offers of the shop by those of a source: a file, a URL or a query.

    `mapping` names columns of the feed by field. `cleaner` cleans the links
    (`catalog.links.shop_links.make_cleaner`); without one, only wrappers and parameters that track
    in every shop are removed.

    Raises UnreadableFeed, MissingFields, UsageError, StorageFull; the known offers are then
    unchanged.
    """
    try:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as spool:
            shown_source = sources.without_password(source)
            reader = FeedReader(shown_source, shop.url, mapping, spool, progress, cleaner)
            with sources.open_source(source, format, reader.note, progress) as rows:
                reader.read_all(rows)
            spool.seek(0)
            _replace_offers(store, shop, reader)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise StorageFull(
            f"no space left in {tempfile.gettempdir()} to import {source}: free some"
        ) from error
    return reader.summary()


def _replace_offers(store: Store, shop: Shop, reader: FeedReader) -> None:
    if shop.id is None:
        raise UnknownShop(shop.name)
    with store.write() as session:
        imported_at = utc_now()
        stored = 0
        for batch in _batches(_offer_rows(reader.spool, shop.id, imported_at)):
            _upsert(session, batch)
            stored += len(batch)
            reader.progress("offers stored", stored, reader.kept)
        # Offers that this feed lacks still have the time of an earlier import.
        session.exec(
            delete(KnownOffer).where(
                col(KnownOffer.shop_id) == shop.id, col(KnownOffer.imported_at) < imported_at
            )
        )
        session.exec(delete(BadRow).where(col(BadRow.shop_id) == shop.id))
        session.add_all(_bad_rows(shop.id, reader, imported_at))


def _offer_rows(spool: IO[str], shop_id: int, imported_at: datetime) -> Iterator[dict[str, Any]]:
    for line in spool:
        offer = json.loads(line)
        if offer["price"] is not None:
            offer["price"] = Decimal(offer["price"])
        yield offer | {"shop_id": shop_id, "imported_at": imported_at}


def _bad_rows(shop_id: int, reader: FeedReader, imported_at: datetime) -> Iterator[BadRow]:
    for row in reader.bad_rows:
        yield BadRow(
            shop_id=shop_id,
            source=reader.source,
            line=row.line,
            reason=text.plain(row.reason),
            raw=text.plain(row.raw),
            at=imported_at,
        )


def _upsert(session: Session, rows: list[dict[str, Any]]) -> None:
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    insert = dialect.insert(SQLModel.metadata.tables["known_offer"])
    updated = {name: insert.excluded[name] for name in _UPDATED_COLUMNS}
    session.connection().execute(
        insert.on_conflict_do_update(index_elements=["shop_id", "ref"], set_=updated), rows
    )


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, BATCH_SIZE)):
        yield batch
