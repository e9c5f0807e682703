"""The digest: the open problems of some shops, and the figures of their last finished runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tzlocal import get_localzone

from catalog.language.languages import load_language
from catalog.language.templates import template_environment
from catalog.models import Delivery
from catalog.storage.shop_list import ShopFilter, ShopRow, ShopSort
from catalog.storage.store import Store
from reports.statistics.findings_reader import time_text
from scout.attention.assessment import refresh_attention
from scout.attention.stored_notices import ShopNotice, read_notices
from scout.overview import list_shops
from scout.pipeline.run_summary import report_paths

MAX_SHOPS = 200
"""Shops of a digest at most, those with the most missing offers first."""

MAX_NOTICES = 200
"""Notices of a digest at most."""


@dataclass(frozen=True)
class Digest:
    """Contents of a delivery: notices, shops with their figures, and the address of the pages."""

    name: str
    notices: Sequence[ShopNotice]
    rows: Sequence[ShopRow]
    address: str
    language: str

    @property
    def missing(self) -> int:
        """The number of missing offers of all its shops."""
        return sum(row.counts.missing for row in self.rows if row.counts)

    def link(self, shop: str, page: str = "") -> str:
        """Return the address of a shop's page; empty where people's address of it is not known."""
        if not self.address:
            return ""
        link = f"{self.address.rstrip('/')}/shops/{quote(shop, safe='')}"
        return f"{link}/{page}" if page else link

    def as_json(self) -> dict[str, Any]:
        """Return the digest for a webhook."""
        return {
            "delivery": self.name,
            "notices": [
                {
                    "shop": entry.shop,
                    "kind": str(entry.notice.kind),
                    "text": entry.notice.sentence.in_language(load_language(self.language)),
                    "noticed_at": time_text(entry.item.noticed_at),
                    "link": self.link(entry.shop, entry.notice.page),
                }
                for entry in self.notices
            ],
            "shops": [self._shop_as_json(row) for row in self.rows],
        }

    def _shop_as_json(self, row: ShopRow) -> dict[str, Any]:
        return {
            "shop": row.shop.name,
            "missing": row.counts and row.counts.missing,
            "unsure": row.counts and row.counts.unsure,
            "listed": row.counts and row.counts.listed,
            "values": row.counts.values if row.counts else {},
            "finished_at": time_text(row.finished.finished_at) if row.finished else None,
            "link": self.link(row.shop.name),
        }


def make_digest(store: Store, delivery: Delivery, address: str) -> Digest:
    """Read what a delivery is to send. Shops that were removed are left out."""
    refresh_attention(store)
    wanted = set(delivery.shops)
    notices, rows = [], []
    for entry in read_notices(store, limit=None if wanted else MAX_NOTICES):
        if not wanted or entry.shop in wanted:
            notices.append(entry)
    for row in list_shops(
        store, ShopFilter(), ShopSort.MISSING, limit=None if wanted else MAX_SHOPS
    ):
        if not wanted or row.shop.name in wanted:
            rows.append(row)
    return Digest(
        delivery.name, notices[:MAX_NOTICES], rows[:MAX_SHOPS], address, delivery.language
    )


def render_digest(digest: Digest, template: str) -> str:
    """Fill in a template of the digest: `digest.txt` or `digest.html`."""
    language = load_language(digest.language, get_localzone())
    environment = template_environment("scout.delivery", language)
    values = {row.shop.name: _values(row) for row in digest.rows}
    return environment.get_template(template).render(digest=digest, values=values)


def _values(row: ShopRow) -> dict[str, Decimal]:
    if row.counts is None:
        return {}
    return {currency: Decimal(value) for currency, value in row.counts.values.items()}


def report_files(store: Store, digest: Digest, most_bytes: int) -> list[tuple[str, Path]]:
    """Return the HTML reports of the digest's shops with names, as far as they fit into a mail."""
    files: list[tuple[str, Path]] = []
    total = 0
    for row in digest.rows:
        stored = report_paths(store, row.finished).get("html") if row.finished else None
        path = Path(stored) if stored else None
        if path is None or not path.is_file():
            continue
        total += path.stat().st_size
        if total > most_bytes:
            break
        files.append((row.shop.name, path))
    return files
