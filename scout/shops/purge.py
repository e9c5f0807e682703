"""What is taken out of the store on request: a shop's pages for a fresh run, or a shop with all that belongs to it."""

from sqlalchemy import Delete
from sqlmodel import Session, col, delete, select

from catalog.models import (
    BadRow,
    Crawl,
    KnownOffer,
    Match,
    Page,
    PersonsWord,
    Run,
    Schedule,
    Shop,
    ShopOffer,
    SitemapSeen,
    StoredRules,
)

OWNED = (Match, StoredRules, Crawl, Run, KnownOffer, BadRow, PersonsWord, Schedule)


def pages(session: Session, shop_id: int) -> None:
    """Forget a shop's pages and the offers read from them. Bodies stay: other shops may share them."""
    session.exec(delete(ShopOffer).where(col(ShopOffer.shop_id) == shop_id))
    session.exec(delete(Page).where(col(Page.shop_id) == shop_id))


def shop(session: Session, shop_id: int) -> None:
    """Forget a shop: pages, offers, rules, runs, words, schedule, and the shop itself."""
    pages(session, shop_id)
    runs = select(Run.id).where(Run.shop_id == shop_id)
    session.exec(delete(SitemapSeen).where(col(SitemapSeen.run_id).in_(runs)))
    for owned in OWNED:
        session.exec(_of(owned, shop_id))
    session.exec(delete(Shop).where(col(Shop.id) == shop_id))


def _of(
    owned: type[Match | StoredRules | Crawl | Run | KnownOffer | BadRow | PersonsWord | Schedule],
    shop_id: int,
) -> Delete:
    return delete(owned).where(col(owned.shop_id) == shop_id)
