"""A shop's own tracking keys, from the pages of its earlier crawls: what they are is learnt anew where it is needed.

The judgement is `url_cleaner.knowledge.shop_params`'s. Here is what it judges by: of an offer's page, the values that were read from
it, for many pages print their own address and are never the same in every byte; of any other page, its bytes.
"""

import hashlib

from sqlmodel import col, select

from catalog.models import Page, ShopOffer
from catalog.storage.store import Store
from url_cleaner.knowledge.shop_params import OwnKeys, Visit, learn_keys

SAYS = (
    *(ShopOffer.title, ShopOffer.price, ShopOffer.currency, ShopOffer.brand, ShopOffer.category),
    *(ShopOffer.ean, ShopOffer.han, ShopOffer.sku, ShopOffer.availability),
)


def own_keys(store: Store, shop_id: int) -> OwnKeys:
    """Which keys of the shop's links track and which it needs, as far as its crawled pages tell."""
    return learn_keys(visits(store, shop_id))


def visits(store: Store, shop_id: int) -> list[Visit]:
    """The shop's fetched pages as they were asked for and answered; none where no page differs in a query alone."""
    pages = select(Page.id, Page.url, Page.canonical, Page.body).where(
        Page.shop_id == shop_id, col(Page.body).is_not(None)
    )
    with store.read() as session:
        found = list(session.exec(pages))
        if not any("?" in url for _, url, _, _ in found):
            return []
        said = _offers(store, shop_id)
    return [
        Visit(url, canonical, said.get(page_id or 0, body or ""))
        for page_id, url, canonical, body in found
    ]


def _offers(store: Store, shop_id: int) -> dict[int, str]:
    """What the offers of each page say, as a hash."""
    offers = select(ShopOffer.page_id, *SAYS).where(ShopOffer.shop_id == shop_id)  # type: ignore[call-overload]
    said: dict[int, str] = {}
    with store.read() as session:
        for page_id, *values in session.exec(offers.order_by(ShopOffer.page_id, ShopOffer.variant)):
            so_far = said.get(page_id, "")
            said[page_id] = hashlib.blake2b(
                f"{so_far}{values!r}".encode(), digest_size=16
            ).hexdigest()
    return said
