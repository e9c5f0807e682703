"""A shop's own tracking parameters, learnt from the pages of its earlier crawls each time they are
needed.

`url_cleaner.knowledge.shop_keys` judges. This module gives it the content of pages: of an offer
page, a hash of the values read, since many pages print their own URL and never have the same bytes
twice; of any other page, its bytes.
"""

import hashlib

from sqlmodel import col, select

from catalog.models import Page, ShopOffer
from catalog.storage.store import Store
from url_cleaner.knowledge.shop_keys import ShopKeys, Visit, learn_keys
from url_cleaner.urls.url import url_rank

# Columns whose values are the content of an offer page.
CONTENT_COLUMNS = (
    ShopOffer.title,
    ShopOffer.price,
    ShopOffer.currency,
    ShopOffer.brand,
    ShopOffer.category,
    ShopOffer.ean,
    ShopOffer.han,
    ShopOffer.sku,
    ShopOffer.availability,
)
# Bytes of a content hash: pages of one shop are compared, so 128 bits never collide.
_HASH_SIZE = 16


def learn_shop_keys(store: Store, shop_id: int) -> ShopKeys:
    """Learn which query keys of a shop are tracking and which are needed, from its crawled
    pages.
    """
    return learn_keys(load_visits(store, shop_id))


def load_visits(store: Store, shop_id: int) -> list[Visit]:
    """Load the shop's fetched pages as visits; none where no URL has a query."""
    pages = select(Page.id, Page.url, Page.canonical, Page.body).where(
        Page.shop_id == shop_id, col(Page.body).is_not(None)
    )
    with store.read() as session:
        rows = sorted(session.exec(pages), key=lambda row: url_rank(row[1]))
        if not any("?" in url for _, url, _, _ in rows):
            return []
        offer_hashes = _hash_offers(store, shop_id)
    visits: list[Visit] = []
    for page_id, url, canonical, body in rows:
        content = offer_hashes.get(page_id or 0, body or "")
        visits.append(Visit(url, canonical, content))
    return visits


def _hash_offers(store: Store, shop_id: int) -> dict[int, str]:
    """Hash the offers of each page, by page id."""
    offers = select(ShopOffer.page_id, *CONTENT_COLUMNS).where(  # type: ignore[call-overload]
        ShopOffer.shop_id == shop_id
    )
    hashes: dict[int, str] = {}
    with store.read() as session:
        for page_id, *values in session.exec(offers.order_by(ShopOffer.page_id, ShopOffer.variant)):
            # The offers of a page are chained: the hash covers all of them, in order.
            content = f"{hashes.get(page_id, '')}{values!r}".encode()
            hashes[page_id] = hashlib.blake2b(content, digest_size=_HASH_SIZE).hexdigest()
    return hashes
