"""The known and lost offers as they were before the last import, so that it can be undone."""

from sqlalchemy import insert
from sqlalchemy import select as sql_select
from sqlmodel import Session, SQLModel, col, delete, select, update

from catalog.errors import UsageError
from catalog.models import (
    BadRow,
    CatalogImport,
    FormerOffer,
    KnownOffer,
    LostOffer,
    Shop,
    utc_now,
)
from catalog.storage.store import Store, lock_shop

_KNOWN = SQLModel.metadata.tables["known_offer"]
_FORMER = SQLModel.metadata.tables["former_offer"]
# Columns that both tables have under one name.
_COPIED = [column.name for column in _KNOWN.columns if column.name != "id"]


def keep_former_offers(session: Session, shop_id: int) -> None:
    """Copy a shop's known offers in place of the former copy. One statement each."""
    session.exec(delete(FormerOffer).where(col(FormerOffer.shop_id) == shop_id))
    columns = [_KNOWN.c.id, *(_KNOWN.c[name] for name in _COPIED)]
    offers = sql_select(*columns).where(_KNOWN.c.shop_id == shop_id)
    copy = insert(_FORMER).from_select(["known_id", *_COPIED], offers)
    session.connection().execute(copy)


def undo_last_import(store: Store, shop: Shop, reviewer: str | None = None) -> CatalogImport:
    """Take the last import of a shop back: known and lost offers are those before it again.

    Their row ids come back too. The rows that the import refused are forgotten. Raises UsageError
    where there is no import that can be undone: only the last one can, and only once.
    """
    with store.write() as session:
        shop_id = shop.id or 0
        lock_shop(session, shop_id)
        newest = select(CatalogImport).where(CatalogImport.shop_id == shop_id)
        last = session.exec(newest.order_by(col(CatalogImport.id).desc()).limit(1)).first()
        if last is None:
            raise UsageError(f"nothing was imported for shop {shop.name!r}")
        if last.undone_at is not None:
            raise UsageError(
                f"the last import of shop {shop.name!r} is undone already: only the last one can be"
            )
        present = select(KnownOffer.generation).where(KnownOffer.shop_id == shop_id).limit(1)
        if session.exec(present).first() not in (None, last.generation):
            raise UsageError(f"the offers of shop {shop.name!r} are not those of its last import")
        session.exec(delete(KnownOffer).where(col(KnownOffer.shop_id) == shop_id))
        columns = [_FORMER.c.known_id, *(_FORMER.c[name] for name in _COPIED)]
        offers = sql_select(*columns).where(_FORMER.c.shop_id == shop_id)
        session.connection().execute(insert(_KNOWN).from_select(["id", *_COPIED], offers))
        session.exec(delete(FormerOffer).where(col(FormerOffer.shop_id) == shop_id))
        session.exec(delete(BadRow).where(col(BadRow.shop_id) == shop_id))
        # Offers that this import dropped are listed again.
        listed = select(KnownOffer.ref).where(col(KnownOffer.shop_id) == shop_id)
        is_of_shop = col(LostOffer.shop_id) == shop_id
        session.exec(delete(LostOffer).where(is_of_shop, col(LostOffer.ref).in_(listed)))
        # Offers that this import listed again are lost again.
        cleared = update(LostOffer).where(is_of_shop, col(LostOffer.cleared_by) == last.generation)
        session.exec(cleared.values(cleared_by=None))
        last.undone_at, last.undone_by = utc_now(), reviewer
        session.add(last)
        session.flush()
        session.expunge(last)
    return last
