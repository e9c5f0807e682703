"""Data model: shops, runs, crawled pages, offers, rules, matches and review decisions, as tables.

`OfferFields` is the one schema of an offer. It serves as a plain value (read by the parser,
compared by the matcher) and as the base of both offer tables, so that no package needs a second
schema.

Import the tables from this package: it loads all its modules, so that SQLModel's metadata has every
table when one is used.
"""

from catalog.models.access import Account, ApiToken, AuditEntry, LoginFailure, Role, WebSession
from catalog.models.attention import AttentionItem, Delivery, DeliveryKind, ShopAssessment
from catalog.models.columns import (
    MAX_INTEGER,
    MAX_ROW_ID,
    DecimalText,
    LargeId,
    UtcDateTime,
    utc_now,
)
from catalog.models.findings import Match, RunCounts, StoredFinding, Verdict
from catalog.models.imports import BadRow, CatalogImport, KnownIndex, KnownIndexPart
from catalog.models.jobs import AttemptOutcome, JobAttempt, Lease, QueueSchema
from catalog.models.offers import (
    IDENTIFIERS,
    Attribute,
    FormerOffer,
    KnownOffer,
    LostOffer,
    OfferFields,
    ShopOffer,
)
from catalog.models.pages import (
    FINAL_SITEMAP_STATUSES,
    Crawl,
    CrawlEvent,
    Page,
    PageKind,
    PageState,
    SitemapSeen,
)
from catalog.models.reviews import DismissedCause, Review, ReviewChange, ReviewDecision, ReviewStep
from catalog.models.rules import DriftKind, StoredRules
from catalog.models.shops import Run, RunState, Schedule, Shop, Stage

__all__ = [
    "FINAL_SITEMAP_STATUSES",
    "IDENTIFIERS",
    "MAX_INTEGER",
    "MAX_ROW_ID",
    "Account",
    "ApiToken",
    "AttemptOutcome",
    "AttentionItem",
    "Attribute",
    "AuditEntry",
    "BadRow",
    "CatalogImport",
    "Crawl",
    "CrawlEvent",
    "DecimalText",
    "Delivery",
    "DeliveryKind",
    "DismissedCause",
    "DriftKind",
    "FormerOffer",
    "JobAttempt",
    "KnownIndex",
    "KnownIndexPart",
    "KnownOffer",
    "LargeId",
    "Lease",
    "LoginFailure",
    "LostOffer",
    "Match",
    "OfferFields",
    "Page",
    "PageKind",
    "PageState",
    "QueueSchema",
    "Review",
    "ReviewChange",
    "ReviewDecision",
    "ReviewStep",
    "Role",
    "Run",
    "RunCounts",
    "RunState",
    "Schedule",
    "Shop",
    "ShopAssessment",
    "ShopOffer",
    "SitemapSeen",
    "Stage",
    "StoredFinding",
    "StoredRules",
    "UtcDateTime",
    "Verdict",
    "WebSession",
    "utc_now",
]
