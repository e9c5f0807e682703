"""Import of a feed: a shop's known offers are replaced by those of the feed, all of them or none.

The feed is read to its end first, into a temporary file, so that a slow or broken one neither locks
the database nor leaves half a catalog. Then one transaction inserts or updates the offers by their
own keys, and deletes those that the feed no longer has. An offer that remains keeps its row id.

Each import has a generation number, one more than that of the offers before it: offers of another
generation are deleted. Clocks do not decide, since they may be set back. Deleted offers are kept as
lost ones for some imports, so that a report can say that the feed once had them.
"""

import errno
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Table, func, insert, literal, or_
from sqlalchemy import select as sa_select
from sqlmodel import Session, SQLModel, col, delete, select, update

from catalog.errors import StorageFull, UnknownShop
from catalog.feeds import sources
from catalog.feeds.feed_reader import FeedReader
from catalog.feeds.feed_reader import ImportSummary as ImportSummary
from catalog.feeds.former_offers import keep_former_offers
from catalog.feeds.row_parser import OFFER_COLUMNS
from catalog.links.shop_links import UrlCleaner
from catalog.models import BadRow, CatalogImport, KnownOffer, LostOffer, Shop, utc_now
from catalog.runtime.batches import iterate_batches
from catalog.runtime.garbage_collection import rare_gc
from catalog.runtime.progress import Progress, no_progress
from catalog.storage.bulk.upsert import dialect_insert
from catalog.storage.store import Store, lock_shop
from catalog.values import text
from catalog.values.content_keys import content_key

# Offers per statement.
BATCH_SIZE = 1_000
# Different reasons of rejected rows that the history of imports keeps; bound against hostile input.
MAX_REASONS = 100
# Imports for which a lost offer is kept: a quarter of a year of weekly ones.
_LOST_GENERATIONS = 12
_KEY_COLUMNS = ("shop_id", "ref")
_IMAGES_INDEX = OFFER_COLUMNS.index("images")


@dataclass(frozen=True)
class _Import:
    """The shop of an import, its generation number and time."""

    shop_id: int
    generation: int
    imported_at: datetime


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
    shown_source = sources.without_password(source)
    try:
        # Fewer garbage collections: each one would look at all rows in memory again.
        with tempfile.TemporaryFile("w+", encoding="utf-8") as spool, rare_gc():
            reader = FeedReader(shown_source, shop.url, mapping, spool, progress, cleaner)
            with sources.open_source(source, format, reader.note, progress) as rows:
                reader.read_all(rows)
            _replace_offers(store, shop, reader, format)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise StorageFull(
            f"no space left in {tempfile.gettempdir()} to import {shown_source}: free some"
        ) from error
    return reader.summary()


def _replace_offers(store: Store, shop: Shop, reader: FeedReader, format: str) -> None:
    if shop.id is None:
        raise UnknownShop(shop.name)
    with store.write() as session:
        current = _Import(shop.id, _next_generation(session, shop.id), utc_now())
        keep_former_offers(session, shop.id)
        upsert = _Upsert(session.connection(), current)
        stored = 0
        for batch in iterate_batches(reader.read_spool(), BATCH_SIZE):
            upsert.execute(batch)
            stored += len(batch)
            reader.progress("offers stored", stored, reader.kept)
        _keep_lost_offers(session, current)
        session.exec(
            delete(KnownOffer).where(
                col(KnownOffer.shop_id) == shop.id,
                col(KnownOffer.generation) != current.generation,
            )
        )
        session.exec(delete(BadRow).where(col(BadRow.shop_id) == shop.id))
        bad_rows = list(_bad_rows(reader, current))
        if bad_rows:
            session.connection().execute(insert(_table(BadRow)), bad_rows)
        session.add(
            CatalogImport(
                shop_id=shop.id,
                generation=current.generation,
                source=text.plain(reader.source),
                format=format,
                columns=reader.field_columns,
                read=reader.read,
                kept=reader.kept,
                bad=reader.bad,
                reasons=dict(reader.reasons.most_common(MAX_REASONS)),
                imported_at=current.imported_at,
            )
        )


def _keep_lost_offers(session: Session, current: _Import) -> None:
    """Keep the offers that this import drops; clear those that are back, and old ones."""
    lost, offers = _table(LostOffer), _table(KnownOffer)
    is_of_shop = col(LostOffer.shop_id) == current.shop_id
    # The import that cleared these cannot be undone any more.
    session.exec(delete(LostOffer).where(is_of_shop, col(LostOffer.cleared_by).is_not(None)))
    listed = select(col(KnownOffer.ref)).where(col(KnownOffer.shop_id) == current.shop_id)
    is_back = col(LostOffer.ref).in_(listed)
    is_old = col(LostOffer.generation) < current.generation - _LOST_GENERATIONS
    cleared = update(LostOffer).where(is_of_shop, or_(is_back, is_old))
    session.exec(cleared.values(cleared_by=current.generation))
    own_columns = ("id", "lost_at", "cleared_by")
    copied = [column.name for column in lost.columns if column.name not in own_columns]
    dropped = sa_select(
        *(offers.c[name] for name in copied), literal(current.imported_at, lost.c.lost_at.type)
    ).where(offers.c.shop_id == current.shop_id, offers.c.generation != current.generation)
    session.connection().execute(insert(lost).from_select([*copied, "lost_at"], dropped))


def _next_generation(session: Session, shop_id: int) -> int:
    # Another import of the shop waits here; SQLite has one writer at a time in any case.
    lock_shop(session, shop_id)
    offers = select(func.max(KnownOffer.generation)).where(KnownOffer.shop_id == shop_id)
    # An import that was undone has left no offers of its generation.
    imports = select(func.max(CatalogImport.generation)).where(CatalogImport.shop_id == shop_id)
    return max(session.exec(offers).one() or 0, session.exec(imports).one() or 0) + 1


class _Upsert:
    """Statement that inserts offers, or updates those of the same key."""

    def __init__(self, connection: Connection, current: _Import) -> None:
        self._connection = connection
        self._current = current
        self._is_sqlite = connection.dialect.name == "sqlite"
        table = _table(KnownOffer)
        names = (*OFFER_COLUMNS, "content_key", "shop_id", "imported_at", "generation")
        statement = dialect_insert(connection.dialect, table)
        updated = [name for name in names if name not in _KEY_COLUMNS]
        self._statement = statement.on_conflict_do_update(
            index_elements=list(_KEY_COLUMNS),
            set_={name: statement.excluded[name] for name in updated},
        )
        self._constants = {
            "shop_id": current.shop_id,
            "imported_at": current.imported_at,
            "generation": current.generation,
        }

    def execute(self, offers: list[list[Any]]) -> None:
        """Store offers, given as lists of `OFFER_COLUMNS`."""
        if self._is_sqlite:
            self._execute_on_driver(offers)
            return
        rows = []
        for offer in offers:
            row = dict(zip(OFFER_COLUMNS, offer, strict=True))
            rows.append(row | {"content_key": content_key(row)} | self._constants)
        self._connection.execute(self._statement, rows)

    def _execute_on_driver(self, offers: list[list[Any]]) -> None:
        """Hand the rows to the driver as they are: SQLAlchemy would prepare each value of each."""
        compiled = self._statement.compile(
            dialect=self._connection.dialect,
            column_keys=[*OFFER_COLUMNS, "content_key", *self._constants],
        )
        constants = self._driver_constants()
        names = (*OFFER_COLUMNS, "content_key", *constants)
        position_of = {name: index for index, name in enumerate(names)}
        in_order = itemgetter(*(position_of[name] for name in compiled.positiontup or ()))
        last_values = list(constants.values())
        rows: list[tuple[Any, ...]] = []
        for offer in offers:
            key = content_key(dict(zip(OFFER_COLUMNS, offer, strict=True)))
            offer[_IMAGES_INDEX] = json.dumps(offer[_IMAGES_INDEX])
            rows.append(in_order([*offer, key, *last_values]))
        self._connection.exec_driver_sql(str(compiled), rows)

    def _driver_constants(self) -> dict[str, Any]:
        type_of_time = _table(KnownOffer).c.imported_at.type
        to_driver = type_of_time.dialect_impl(self._connection.dialect).bind_processor(
            self._connection.dialect
        )
        imported_at: Any = self._current.imported_at
        return self._constants | {
            "imported_at": to_driver(imported_at) if to_driver else imported_at
        }


def _bad_rows(reader: FeedReader, current: _Import) -> Iterator[dict[str, Any]]:
    for row in reader.bad_rows:
        yield {
            "shop_id": current.shop_id,
            "source": reader.source,
            "line": row.line,
            "reason": text.plain(row.reason),
            "raw": text.plain(row.raw),
            "at": current.imported_at,
        }


def _table(model: type[SQLModel]) -> Table:
    return SQLModel.metadata.tables[str(model.__tablename__)]
