"""Deletion on request: the pages of a shop for a fresh run, or a shop with all its data."""

from sqlalchemy import Delete
from sqlmodel import Session, col, delete, select

from catalog.models import (
    AttentionItem,
    BadRow,
    CatalogImport,
    Crawl,
    CrawlEvent,
    DismissedCause,
    FormerOffer,
    JobAttempt,
    KnownIndex,
    KnownIndexPart,
    KnownOffer,
    Lease,
    LostOffer,
    Match,
    Page,
    Review,
    ReviewChange,
    ReviewStep,
    Run,
    RunCounts,
    Schedule,
    Shop,
    ShopAssessment,
    ShopOffer,
    SitemapSeen,
    StoredFinding,
    StoredRules,
)
from catalog.storage.leases.lease_table import shop_lease

ShopTable = type[
    StoredFinding
    | RunCounts
    | Match
    | StoredRules
    | Crawl
    | CrawlEvent
    | Run
    | KnownIndexPart
    | KnownIndex
    | KnownOffer
    | LostOffer
    | FormerOffer
    | CatalogImport
    | BadRow
    | Review
    | ReviewChange
    | ReviewStep
    | Schedule
    | ShopAssessment
    | AttentionItem
    | DismissedCause
    | JobAttempt
]

SHOP_TABLES: tuple[ShopTable, ...] = (
    StoredFinding,
    RunCounts,
    Match,
    StoredRules,
    Crawl,
    CrawlEvent,
    Run,
    KnownIndexPart,
    KnownIndex,
    KnownOffer,
    CatalogImport,
    LostOffer,
    FormerOffer,
    BadRow,
    Review,
    ReviewChange,
    ReviewStep,
    Schedule,
    ShopAssessment,
    AttentionItem,
    DismissedCause,
    JobAttempt,
)
"""Tables with a column `shop_id`, in an order in which no foreign key is violated."""


def purge_pages(session: Session, shop_id: int) -> None:
    """Delete a shop's pages and the offers read from them. Bodies stay: shops may share them."""
    session.exec(delete(ShopOffer).where(col(ShopOffer.shop_id) == shop_id))
    session.exec(delete(Page).where(col(Page.shop_id) == shop_id))


def purge_shop(session: Session, shop_id: int) -> None:
    """Delete a shop with its pages, offers, rules, runs, review decisions and schedule."""
    purge_pages(session, shop_id)
    # Sitemaps are stored per run, so they go before the runs.
    runs = select(Run.id).where(Run.shop_id == shop_id)
    session.exec(delete(SitemapSeen).where(col(SitemapSeen.run_id).in_(runs)))
    for table in SHOP_TABLES:
        session.exec(_delete_rows(table, shop_id))
    # That of the caller: nobody can hold it any more.
    session.exec(delete(Lease).where(col(Lease.name) == shop_lease(shop_id)))
    session.exec(delete(Shop).where(col(Shop.id) == shop_id))


def _delete_rows(table: ShopTable, shop_id: int) -> Delete:
    return delete(table).where(col(table.shop_id) == shop_id)
