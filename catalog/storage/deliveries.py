"""The stored deliveries of digests."""

from sqlmodel import col, select

from catalog.errors import UsageError
from catalog.models import Delivery
from catalog.storage.store import Store


def list_deliveries(store: Store) -> list[Delivery]:
    """Return all deliveries, sorted by name."""
    with store.read() as session:
        return list(session.exec(select(Delivery).order_by(col(Delivery.name))))


def get_delivery(store: Store, name: str) -> Delivery:
    """Return the delivery of that name. Raises UsageError."""
    with store.read() as session:
        delivery = session.exec(select(Delivery).where(Delivery.name == name)).first()
    if delivery is None:
        raise UsageError(f"there is no delivery {name[:80]!r}: 'scout deliver list' shows all")
    return delivery
