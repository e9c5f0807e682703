"""The words of Scout as tables: what a shop is, what was crawled, what is known, what was decided.

`OfferFields` is the one list of what an offer can say. It serves as a plain value (what the parser reads, what the
matcher compares) and as the base of the two tables of offers, so no room has a second schema of its own.
"""

from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Index, String, UniqueConstraint, text
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel


class Attribute(StrEnum):
    """What is read from a page; `image` stands for the list of product images."""

    TITLE = "title"
    DESCRIPTION = "description"
    PRICE = "price"
    CURRENCY = "currency"
    BRAND = "brand"
    CATEGORY = "category"
    IMAGE = "image"
    EAN = "ean"
    HAN = "han"
    SKU = "sku"
    AVAILABILITY = "availability"


LARGEST_KEY = 2**63 - 1
NUMBERS = (Attribute.SKU, Attribute.EAN, Attribute.HAN)


class PageState(StrEnum):
    """Where a page stands in the frontier; all but the first two are final until the next run."""

    PENDING = "pending"
    LEASED = "leased"
    FETCHED = "fetched"
    REDIRECTED = "redirected"
    REFUSED = "refused"
    FAILED = "failed"
    GONE = "gone"


class PageKind(StrEnum):
    """What the parser took a fetched page for."""

    OFFER = "offer"
    OTHER = "other"


class RunState(StrEnum):
    """A run is running until it is done, has failed with a reason, or was abandoned for a fresh one."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    ABANDONED = "abandoned"


class Stage(StrEnum):
    """The steps of a run, in order."""

    CRAWL = "crawl"
    LEARN = "learn"
    PARSE = "parse"
    MATCH = "match"
    REPORT = "report"


class Verdict(StrEnum):
    """What the matcher says of an offer of the shop: the catalog lists it, lacks it, or it cannot tell."""

    LISTED = "listed"
    MISSING = "missing"
    UNSURE = "unsure"


class Word(StrEnum):
    """A person's word on a finding."""

    ACCEPT = "accept"
    REJECT = "reject"
    IGNORE = "ignore"


class Amount(TypeDecorator[Decimal]):
    """A decimal kept as text, because SQLite would turn it into a float."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> str | None:
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Decimal | None:
        return None if value is None else Decimal(value)


class Moment(TypeDecorator[datetime]):
    """An aware time, stored as UTC."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


def now() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(UTC)


class Shop(SQLModel, table=True):
    """A merchant's website, and how it may be crawled.

    `max_bytes` and `max_minutes` bound one crawl, `max_pages` the pages of one run; `window` are the hours of the day
    in which the shop may be asked, as `22:00-06:00`, on this machine's clock. `javascript` has a browser fetch pages.
    """

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    url: str
    allow_private: bool = False
    max_pages: int = 20_000
    max_bytes: int | None = Field(default=None, sa_type=BigInteger)
    max_minutes: float | None = None
    window: str | None = None
    delay: float = 0.0
    javascript: bool = False
    sitemaps: list[str] = Field(default_factory=list, sa_type=JSON)
    created_at: datetime = Field(default_factory=now, sa_type=Moment)


class Run(SQLModel, table=True):
    """One pass over a shop: crawl, learn, parse, match, report. `stage` is the step that comes next or is under way."""

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    state: RunState = Field(default=RunState.RUNNING, sa_type=String)
    stage: Stage = Field(default=Stage.CRAWL, sa_type=String)
    reason: str | None = None
    figures: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    started_at: datetime = Field(default_factory=now, sa_type=Moment)
    finished_at: datetime | None = Field(default=None, sa_type=Moment)


class Crawl(SQLModel, table=True):
    """One life of a crawler process: what it asked for and what it came to.

    A row without `finished_at` is of a crawl that is under way, or was killed; `stopped` says why one ended early.
    `pages` are all pages of the shop by state, `reasons` why pages or links were not fetched, at its end.
    """

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    run_id: int | None = Field(default=None, foreign_key="run.id", index=True)
    started_at: datetime = Field(default_factory=now, sa_type=Moment)
    finished_at: datetime | None = Field(default=None, sa_type=Moment)
    requests: int = 0
    bytes: int = Field(default=0, sa_type=BigInteger)
    seconds: float = 0.0
    stopped: str | None = None
    pages: dict[str, int] = Field(default_factory=dict, sa_type=JSON)
    reasons: dict[str, int] = Field(default_factory=dict, sa_type=JSON)
    figures: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)


class Page(SQLModel, table=True):
    """A URL of a shop: its place in the frontier, what the shop answered, and what the parser made of it.

    `url` is cleaned. `body` is the content hash under which the page store keeps the bytes. `changed_at` is when it
    last became another, `unchanged` how many looks since have found it the same, `lastmod` what a sitemap says of it.
    `rules_version` is the version of the rules that read the page last; None means unread since it was fetched.
    """

    __table_args__ = (
        UniqueConstraint("shop_id", "url"),
        Index("page_frontier", "shop_id", "state", text("priority DESC"), "id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id")
    url: str
    state: PageState = Field(default=PageState.PENDING, sa_type=String)
    reason: str | None = None
    source: str = "link"
    priority: int = 0
    depth: int = 0
    chain: int = 0
    attempts: int = 0
    not_before: datetime | None = Field(default=None, sa_type=Moment)
    leased_until: datetime | None = Field(default=None, sa_type=Moment)
    status: int | None = None
    content_type: str | None = None
    size: int | None = None
    body: str | None = Field(default=None, index=True)
    canonical: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    lastmod: datetime | None = Field(default=None, sa_type=Moment)
    fetched_at: datetime | None = Field(default=None, sa_type=Moment)
    changed_at: datetime | None = Field(default=None, sa_type=Moment)
    unchanged: int = 0
    run_id: int | None = Field(default=None, foreign_key="run.id")
    rules_version: int | None = None
    kind: PageKind | None = Field(default=None, sa_type=String)
    read_reason: str | None = None


class OfferFields(SQLModel):
    """What an offer says, normalised (`catalog.values`): every field may be unknown.

    `url` is cleaned and, where the page names one, canonical. `category` is a path joined by ` > `. `ean` is a GTIN of
    8, 12, 13 or 14 digits. `availability` is in_stock, out_of_stock, preorder or None.
    """

    url: str | None = None
    title: str | None = None
    description: str | None = None
    price: Decimal | None = Field(default=None, sa_type=Amount)
    currency: str | None = None
    brand: str | None = None
    category: str | None = None
    images: list[str] = Field(default_factory=list, sa_type=JSON)
    ean: str | None = None
    han: str | None = None
    sku: str | None = None
    availability: str | None = None


class KnownOffer(OfferFields, table=True):
    """An offer of the shop that the catalog lists.

    `ref` is the catalog's own key, unique per shop. `link` is the link as delivered; `url` the same cleaned, or None
    where it is opaque (`opaque`) or broken. `product` groups offers of one catalog product.
    """

    __tablename__ = "known_offer"
    __table_args__ = (UniqueConstraint("shop_id", "ref"),)

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    ref: str
    link: str | None = None
    opaque: bool = False
    product: str | None = None
    imported_at: datetime = Field(default_factory=now, sa_type=Moment)


class ShopOffer(OfferFields, table=True):
    """An offer read from a page of the shop. `variant` numbers the offers of one page, from 0.

    Where a page keeps several, the variants of one product, `variant_of` is that page's address.

    `readings` keeps, per attribute, the weight of the winning value and the number of votes:
    `{"price": {"weight": 0.97, "votes": 4}}`.
    """

    __tablename__ = "shop_offer"
    __table_args__ = (UniqueConstraint("page_id", "variant"),)

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    page_id: int = Field(foreign_key="page.id", index=True)
    variant: int = 0
    variant_of: str | None = None
    readings: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)


class BadRow(SQLModel, table=True):
    """A row of a feed that could not become a known offer, kept with where it stood and why."""

    __tablename__ = "bad_row"

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    source: str
    line: int
    reason: str
    raw: str
    at: datetime = Field(default_factory=now, sa_type=Moment)


class StoredRules(SQLModel, table=True):
    """One version of a shop's rules (`parser.rules.model.RuleSet` as JSON) with the story of how they were learnt."""

    __tablename__ = "stored_rules"
    __table_args__ = (UniqueConstraint("shop_id", "version"),)

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    version: int
    run_id: int | None = Field(default=None, foreign_key="run.id")
    rules: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    story: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    created_at: datetime = Field(default_factory=now, sa_type=Moment)


class Match(SQLModel, table=True):
    """What a run says of one offer of the shop.

    The offer's fields are copied into `offer` (JSON), so that an old run's report can be written again after a
    recrawl; `nearest` likewise holds the catalog offer it was paired with (listed) or the nearest one (otherwise),
    and `known_id` that one's key. `urls` are all the URLs under which the offer was found. `reasons` are sentences,
    `why` the same for programs: what spoke for and against, and the candidates that were seen.
    `variant_of` is the address of the page that keeps this offer among several, the variants of one product.
    """

    __table_args__ = (UniqueConstraint("run_id", "url"),)

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id", index=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    url: str
    urls: list[str] = Field(default_factory=list, sa_type=JSON)
    known_id: int | None = None
    verdict: Verdict = Field(sa_type=String)
    score: float = 0.0
    reasons: list[str] = Field(default_factory=list, sa_type=JSON)
    why: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    offer: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    nearest: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    variant_of: str | None = None


class PersonsWord(SQLModel, table=True):
    """A person's word on a finding, by the offer's URL; it outlives runs."""

    __tablename__ = "persons_word"
    __table_args__ = (UniqueConstraint("shop_id", "url"),)

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    url: str
    word: Word = Field(sa_type=String)
    note: str | None = None
    at: datetime = Field(default_factory=now, sa_type=Moment)


class Schedule(SQLModel, table=True):
    """When a shop is run: one five-field cron expression a shop."""

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", unique=True)
    cron: str
    last_started_at: datetime | None = Field(default=None, sa_type=Moment)


SITEMAP_TOLD = (200, 404, 410)


class SitemapSeen(SQLModel, table=True):
    """A sitemap that a run has read to its end, or given up, so that a resumed crawl does not fetch it again.

    Status 0 is no answer; with those of `SITEMAP_TOLD` it was read or is not there, with any other it is unread.
    """

    __tablename__ = "sitemap_seen"
    __table_args__ = (UniqueConstraint("run_id", "url"),)

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id", index=True)
    url: str
    status: int
    urls_found: int = Field(default=0, sa_type=BigInteger)
