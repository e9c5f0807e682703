"""Importing: a shop's known offers replaced by those of a feed, all of them or none.

The feed is read to its end first, into a temporary file, so that a slow or broken one neither holds the database nor
leaves half a catalog; then one transaction puts the offers in, by their own keys, and takes those away that the feed
no longer has. An offer that stays keeps its number.
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
from catalog.feeds.reading import Imported as Imported
from catalog.feeds.reading import Intake
from catalog.links.shop_links import Clean
from catalog.models import BadRow, KnownOffer, OfferFields, Shop, now
from catalog.runtime.progress import Progress, silent
from catalog.storage.store import Store
from catalog.values import text

BATCH = 1000
_CHANGED = [*OfferFields.model_fields, "link", "opaque", "product", "imported_at"]


def import_offers(
    store: Store,
    shop: Shop,
    source: str,
    *,
    format: str = "auto",
    mapping: Mapping[str, str] = {},
    cleaner: Clean | None = None,
    progress: Progress = silent,
) -> Imported:
    """Replace the known offers of the shop by those of the source: a file, an address or a query.

    `cleaner` cleans the links (`catalog.links.shop_links.cleaner`); without one, only what is known of all shops is taken off.

    Raises UnreadableFeed, MissingFields, UsageError, StorageFull; the offers known before are then untouched.
    """
    try:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as spool:
            intake = Intake(sources.shown(source), shop.url, mapping, spool, progress, cleaner)
            with sources.opened(source, format, intake.note, progress) as rows:
                intake.take_all(rows)
            spool.seek(0)
            _replace(store, shop, intake)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise StorageFull(
            f"no space left in {tempfile.gettempdir()} to import {source}: free some"
        ) from error
    return intake.figures()


def _replace(store: Store, shop: Shop, intake: Intake) -> None:
    if shop.id is None:
        raise UnknownShop(shop.name)
    with store.write() as session:
        moment, done = now(), 0
        for batch in _batches(_stored(intake.spool, shop.id, moment)):
            _upsert(session, batch)
            done += len(batch)
            intake.progress("offers stored", done, intake.kept)
        session.exec(
            delete(KnownOffer).where(
                col(KnownOffer.shop_id) == shop.id, col(KnownOffer.imported_at) < moment
            )
        )
        session.exec(delete(BadRow).where(col(BadRow.shop_id) == shop.id))
        session.add_all(_bad_rows(shop.id, intake, moment))


def _stored(spool: IO[str], shop_id: int, moment: datetime) -> Iterator[dict[str, Any]]:
    for line in spool:
        offer = json.loads(line)
        offer["price"] = None if offer["price"] is None else Decimal(offer["price"])
        yield offer | {"shop_id": shop_id, "imported_at": moment}


def _bad_rows(shop_id: int, intake: Intake, moment: datetime) -> Iterator[BadRow]:
    for row in intake.bad_rows:
        reason, raw = text.plain(row.reason), text.plain(row.raw)
        yield BadRow(
            shop_id=shop_id, source=intake.source, line=row.line, reason=reason, raw=raw, at=moment
        )


def _upsert(session: Session, rows: list[dict[str, Any]]) -> None:
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    insert = dialect.insert(SQLModel.metadata.tables["known_offer"])
    changed = {name: insert.excluded[name] for name in _CHANGED}
    session.connection().execute(
        insert.on_conflict_do_update(index_elements=["shop_id", "ref"], set_=changed), rows
    )


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    left = iter(rows)
    while batch := list(islice(left, BATCH)):
        yield batch
