"""Storage of the indexes of known offers: builds whose parts appear all at once, or not at all.

The parts of a new build are written in several transactions, so that no other process waits for
long. A build counts when its row in `known_index` names it, which the last transaction writes. A
process that was killed leaves parts that no row names: the next finished build deletes them.
"""

from collections.abc import Iterable, Sequence

from sqlalchemy import insert
from sqlalchemy import select as sql_select
from sqlmodel import Session, SQLModel, col, delete, func, select

from catalog.models import CatalogImport, KnownIndex, KnownIndexPart, KnownOffer, utc_now
from catalog.runtime.batches import batches, batches_by_size
from catalog.storage.store import Store, lock_shop

# Bytes of parts that one transaction writes.
_TRANSACTION_BYTES = 8_000_000
# Parts that are read by one statement.
_READ_BATCH = 500
_PARTS = SQLModel.metadata.tables[str(KnownIndexPart.__tablename__)]

Part = tuple[str, int, bytes]
"""Kind, number and content."""


def read_catalog_state(session: Session, shop_id: int) -> str:
    """Return a text that changes with every import of the shop, and when one is undone."""
    newest = (
        select(CatalogImport.id, CatalogImport.undone_at)
        .where(CatalogImport.shop_id == shop_id)
        .order_by(col(CatalogImport.id).desc())
        .limit(1)
    )
    import_id, undone_at = session.exec(newest).first() or (0, None)
    counts = select(func.count(), func.max(KnownOffer.id)).where(KnownOffer.shop_id == shop_id)
    count, last_id = session.exec(counts).one()
    state = f"import {import_id}, {count} offers to {last_id or 0}"
    return f"{state}, undone" if undone_at else state


def read_index(session: Session, shop_id: int, layout: int) -> KnownIndex | None:
    """Return the finished index of a shop; None without one, or of another layout."""
    index = session.get(KnownIndex, shop_id)
    if index is None or index.layout != layout:
        return None
    return index


def start_build(store: Store, shop_id: int) -> int:
    """Return the number of a new build, which no other process uses."""
    with store.write() as session:
        # Another process that starts a build of the shop waits here.
        lock_shop(session, shop_id)
        newest = select(func.max(KnownIndexPart.build)).where(KnownIndexPart.shop_id == shop_id)
        current = session.get(KnownIndex, shop_id)
        build = max(session.exec(newest).one() or 0, current.build if current else 0) + 1
        session.add(KnownIndexPart(shop_id=shop_id, build=build, kind="start", number=0, data=b""))
    return build


def write_parts(store: Store, shop_id: int, build: int, parts: Iterable[Part]) -> int:
    """Write parts of a build that is not finished; returns their number."""
    count = 0
    for batch in batches_by_size(parts, _TRANSACTION_BYTES, lambda part: len(part[2])):
        with store.write() as session:
            add_parts(session, shop_id, build, batch)
        count += len(batch)
    return count


def add_parts(session: Session, shop_id: int, build: int, parts: Sequence[Part]) -> None:
    """Write parts in the transaction of a session."""
    rows = []
    for kind, number, data in parts:
        rows.append(
            {"shop_id": shop_id, "build": build, "kind": kind, "number": number, "data": data}
        )
    session.connection().execute(insert(_PARTS), rows)


def finish_build(session: Session, index: KnownIndex) -> bool:
    """Make a build the index of its shop, and delete the parts of earlier ones.

    Returns False, and changes nothing, if a later build is finished or parts are missing: another
    process was faster.
    """
    current = session.get(KnownIndex, index.shop_id)
    if current is not None and current.build > index.build:
        return False
    parts = select(func.count()).where(
        KnownIndexPart.shop_id == index.shop_id,
        KnownIndexPart.build == index.build,
        KnownIndexPart.kind != "start",
    )
    if session.exec(parts).one() != index.parts:
        return False
    session.merge(index)
    session.exec(
        delete(KnownIndexPart).where(
            col(KnownIndexPart.shop_id) == index.shop_id,
            col(KnownIndexPart.build) < index.build,
        )
    )
    return True


def add_update(session: Session, index: KnownIndex, data: bytes, documents: int) -> bool:
    """Add an update of so many documents to an index.

    `index` is the row as it was read, with the new `catalog_state`. Returns False, and changes
    nothing, if it is no longer as it was read.
    """
    stored = session.get(KnownIndex, index.shop_id, with_for_update=True)
    if stored is None or (stored.build, stored.updates) != (index.build, index.updates):
        return False
    add_parts(session, index.shop_id, index.build, [("update", index.updates, data)])
    stored.catalog_state = index.catalog_state
    stored.updates += 1
    stored.parts += 1
    stored.documents += documents
    stored.built_at = utc_now()
    return True


def read_part(session: Session, index: KnownIndex, kind: str, number: int = 0) -> bytes | None:
    """Return the content of one part; None where it is missing."""
    return read_parts(session, index, kind, [number]).get(number)


def read_parts(
    session: Session, index: KnownIndex, kind: str, numbers: Sequence[int]
) -> dict[int, bytes]:
    """Return the contents of some parts of one kind, by number; missing ones are left out."""
    contents: dict[int, bytes] = {}
    columns = sql_select(_PARTS.c.number, _PARTS.c.data).where(
        _PARTS.c.shop_id == index.shop_id, _PARTS.c.build == index.build, _PARTS.c.kind == kind
    )
    connection = session.connection()
    for batch in batches(numbers, _READ_BATCH):
        for number, data in connection.execute(columns.where(_PARTS.c.number.in_(batch))):
            contents[number] = data
    return contents
