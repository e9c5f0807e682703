"""Tables of the crawl: pages of a shop in the frontier, crawler processes, and sitemaps."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, BigInteger, Index, LargeBinary, String, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from catalog.models.columns import LargeId, UtcDateTime, empty_dict, utc_now

# HTTP statuses after which a sitemap is settled for the run: it was read, or does not exist.
FINAL_SITEMAP_STATUSES = (200, 404, 410)


class PageState(StrEnum):
    """State of a page in the crawl frontier; all but pending and leased are final until the next
    run.
    """

    PENDING = "pending"
    LEASED = "leased"
    FETCHED = "fetched"
    REDIRECTED = "redirected"
    REFUSED = "refused"
    FAILED = "failed"
    GONE = "gone"


class PageKind(StrEnum):
    """Class that the parser assigned to a fetched page."""

    OFFER = "offer"
    OTHER = "other"


class Page(SQLModel, table=True):
    """A URL of a shop: its state in the crawl frontier, the shop's response, and the parser's
    result.

    `url` is cleaned. `body` is the content hash under which the page store keeps the bytes.
    `changed_at` is the time of the last fetch with new content, `unchanged` the number of fetches
    since, `lastmod` the date in the shop's sitemap. `language` is the code that the page gives for
    itself, `alternates` maps such codes to the URLs of its versions in other languages, as the page
    names them, `sitemap_alternates` as sitemaps do. `rules_version` is the version of the rules
    that parsed the page last; None means not parsed since it was fetched. `read_key` is a digest of
    everything that this reading depends on, `digest_key` one of the code that extracted the links.
    """

    __table_args__ = (
        UniqueConstraint("shop_id", "url"),
        Index("page_frontier", "shop_id", "state", text("priority DESC"), "id"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    shop_id: int = Field(foreign_key="shop.id")
    url: str
    state: PageState = Field(default=PageState.PENDING, sa_type=String)
    reason: str | None = None
    source: str = "link"
    priority: int = 0
    depth: int = 0
    chain: int = 0
    attempts: int = 0
    not_before: datetime | None = Field(default=None, sa_type=UtcDateTime)
    leased_until: datetime | None = Field(default=None, sa_type=UtcDateTime)
    status: int | None = None
    content_type: str | None = None
    size: int | None = None
    body: str | None = Field(default=None, index=True)
    canonical: str | None = None
    language: str | None = None
    alternates: dict[str, str] | None = Field(default=None, sa_type=JSON)
    sitemap_alternates: dict[str, str] | None = Field(default=None, sa_type=JSON)
    etag: str | None = None
    last_modified: str | None = None
    lastmod: datetime | None = Field(default=None, sa_type=UtcDateTime)
    fetched_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    changed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    unchanged: int = 0
    run_id: int | None = Field(default=None, foreign_key="run.id")
    rules_version: int | None = None
    kind: PageKind | None = Field(default=None, sa_type=String)
    read_reason: str | None = None
    read_key: str | None = None
    digest_key: str | None = None


class Crawl(SQLModel, table=True):
    """One crawler process from start to end: its traffic and its result.

    A row without `finished_at` is of a crawl that is running or was killed; `stopped` says why one
    ended early. `pages` counts the shop's pages by state at its end, `reasons` the pages and links
    not fetched by reason.
    """

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    run_id: int | None = Field(default=None, foreign_key="run.id", index=True)
    started_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    requests: int = 0
    bytes: int = Field(default=0, sa_type=BigInteger)
    seconds: float = 0.0
    stopped: str | None = None
    pages: dict[str, int] = Field(default_factory=empty_dict, sa_type=JSON)
    reasons: dict[str, int] = Field(default_factory=empty_dict, sa_type=JSON)
    figures: dict[str, Any] = Field(default_factory=empty_dict, sa_type=JSON)


class CrawlEvent(SQLModel, table=True):
    """A step from which a crawl has learnt, kept until the crawl has ended.

    A crawl that was interrupted learns from its events again, in the order of their `number`
    (`crawler.fetch.crawl_memory`).
    """

    __tablename__ = "crawl_event"
    __table_args__ = (UniqueConstraint("shop_id", "run_id", "number"),)

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    shop_id: int = Field(foreign_key="shop.id")
    run_id: int
    number: int
    data: bytes = Field(sa_type=LargeBinary)


class SitemapSeen(SQLModel, table=True):
    """A sitemap that a run has read completely or given up, so that a resumed crawl does not fetch
    it again.

    Status 0 means no response. After one of `FINAL_SITEMAP_STATUSES` it was read or does not exist,
    else it is unread.
    """

    __tablename__ = "sitemap_seen"
    __table_args__ = (UniqueConstraint("run_id", "url"),)

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    run_id: int = Field(foreign_key="run.id", index=True)
    url: str
    status: int
    urls_found: int = Field(default=0, sa_type=BigInteger)
