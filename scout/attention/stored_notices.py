"""Stored notices: read, dismissed until the shop's next run or import, and taken back."""

from dataclasses import dataclass

from sqlmodel import col, func, select

from catalog.language.sentences import Sentence
from catalog.models import AttentionItem, Shop, utc_now
from catalog.storage.store import Store
from reports.statistics.run_reasons import run_reason_sentence
from scout.attention.notices import SENTENCES, AttentionKind, Notice


@dataclass(frozen=True)
class ShopNotice:
    """A notice on a shop, as it is stored under an id."""

    item_id: int
    shop: str
    notice: Notice
    item: AttentionItem


def read_notices(
    store: Store, *, shop_id: int | None = None, limit: int | None = None
) -> list[ShopNotice]:
    """Read the notices that are not dismissed, the most urgent first."""
    query = (
        select(AttentionItem, Shop.name)
        .join(Shop, col(Shop.id) == col(AttentionItem.shop_id))
        .where(col(AttentionItem.dismissed_at).is_(None))
        .order_by(col(AttentionItem.severity), col(AttentionItem.id).desc())
    )
    if shop_id is not None:
        query = query.where(AttentionItem.shop_id == shop_id)
    if limit is not None:
        query = query.limit(limit)
    with store.read() as session:
        rows = session.exec(query).all()
    return [ShopNotice(item.id or 0, name, _notice(item), item) for item, name in rows]


def _notice(item: AttentionItem) -> Notice:
    template = SENTENCES[AttentionKind(item.kind)]
    sentence = Sentence.from_json({"template": template, "arguments": item.arguments})
    arguments = dict(sentence.arguments)
    if isinstance(reason := arguments.get("reason"), str):
        arguments["reason"] = run_reason_sentence(reason)
    return Notice(AttentionKind(item.kind), item.subject, arguments)


def count_notices(store: Store) -> int:
    """Count the notices that are not dismissed."""
    query = select(func.count()).where(col(AttentionItem.dismissed_at).is_(None))
    with store.read() as session:
        return session.exec(query).one()


def dismiss_notice(store: Store, item_id: int, reviewer: str) -> ShopNotice | None:
    """Dismiss a notice until the shop's next run or import; None where there is no such one."""
    return _set_dismissed(store, item_id, reviewer)


def restore_notice(store: Store, item_id: int) -> ShopNotice | None:
    """Take the dismissal of a notice back; None where there is no such one."""
    return _set_dismissed(store, item_id, None)


def _set_dismissed(store: Store, item_id: int, reviewer: str | None) -> ShopNotice | None:
    with store.write() as session:
        item = session.get(AttentionItem, item_id)
        if item is None:
            return None
        item.dismissed_at = utc_now() if reviewer else None
        item.dismissed_by = reviewer
        session.add(item)
        shop = session.get_one(Shop, item.shop_id)
        return ShopNotice(item_id, shop.name, _notice(item), item)
