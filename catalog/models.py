"""Data model: shops, runs, crawled pages, offers, rules, matches and review decisions, as tables.

`OfferFields` is the one schema of an offer. It serves as a plain value (read by the parser,
compared by the matcher) and as the base of both offer tables, so that no package needs a second
schema.
"""

from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    DateTime,
    Dialect,
    Index,
    Integer,
    LargeBinary,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy.types import TypeDecorator, TypeEngine
from sqlmodel import Field, SQLModel


class Attribute(StrEnum):
    """Attributes of an offer that are read from a page; `image` stands for the list of product
    images.
    """

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


# Attributes that identify an offer or product.
IDENTIFIERS = (Attribute.SKU, Attribute.EAN, Attribute.HAN)

# Largest row id: the signed 64-bit integer of SQLite and PostgreSQL.
MAX_ROW_ID = 2**63 - 1

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


class RunState(StrEnum):
    """State of a run: running until it is done, failed with a reason, or abandoned for a fresh
    one.
    """

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    ABANDONED = "abandoned"


class Stage(StrEnum):
    """Steps of a run, in order."""

    CRAWL = "crawl"
    LEARN = "learn"
    PARSE = "parse"
    MATCH = "match"
    REPORT = "report"


class Verdict(StrEnum):
    """Verdict of the matcher on a shop offer: the catalog lists it, lacks it, or the evidence does
    not decide.
    """

    LISTED = "listed"
    MISSING = "missing"
    UNSURE = "unsure"


class DriftKind(StrEnum):
    """Result of comparing a shop's rules with its newest pages: they hold, some have drifted, or
    the shop was redesigned.
    """

    HOLDS = "holds"
    DRIFTED = "drifted"
    REDESIGNED = "redesigned"


class ReviewDecision(StrEnum):
    """Decision of a reviewer on a finding: accept (it is missing), reject (it is listed), or
    ignore.
    """

    ACCEPT = "accept"
    REJECT = "reject"
    IGNORE = "ignore"


class DecimalText(TypeDecorator[Decimal]):
    """Column type: a decimal stored as text, since SQLite would turn it into a float."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        return str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Decimal | None:
        if value is None:
            return None
        return Decimal(value)


class UtcDateTime(TypeDecorator[datetime]):
    """Column type: a timezone-aware time, stored as UTC."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        # Neither SQLite nor a plain PostgreSQL timestamp keeps a timezone.
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC)


class LargeId(TypeDecorator[int]):
    """Column type: an id of 64 bits, for tables that grow with pages and offers.

    SQLite counts the ids of a column of type INTEGER only, which has 64 bits there.
    """

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[int]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(Integer())
        return dialect.type_descriptor(BigInteger())


def utc_now() -> datetime:
    """Return the current time, timezone-aware, in UTC."""
    return datetime.now(UTC)


class Shop(SQLModel, table=True):
    """A merchant's website with its crawl limits.

    `max_bytes` and `max_minutes` bound one crawl, `max_pages` the pages of one run. `delay` is in
    seconds between requests. `window` is the time of day in which the shop may be crawled, as
    `22:00-06:00`, local time. With `javascript`, a browser fetches the pages. `crawlers` is the
    number of crawl processes that share the shop's pages.
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
    crawlers: int = 1
    sitemaps: list[str] = Field(default_factory=list, sa_type=JSON)
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)


class Run(SQLModel, table=True):
    """One pass over a shop: crawl, learn, parse, match, report.

    `stage` is the current step, or the next one. `fingerprints` has a digest of everything that a
    stage's result depends on, per stage (`catalog.storage.fingerprints`).
    """

    __table_args__ = (
        Index("run_newest", "shop_id", "id", "state"),
        Index("run_state", "shop_id", "state", "id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id")
    state: RunState = Field(default=RunState.RUNNING, sa_type=String)
    stage: Stage = Field(default=Stage.CRAWL, sa_type=String)
    reason: str | None = None
    figures: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    fingerprints: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    started_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


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
    pages: dict[str, int] = Field(default_factory=dict, sa_type=JSON)
    reasons: dict[str, int] = Field(default_factory=dict, sa_type=JSON)
    figures: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)


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


class OfferFields(SQLModel):
    """The attributes of an offer, normalised (`catalog.values`); None where unknown.

    `url` is cleaned and, where the page names a canonical link, canonical. `category` is a path
    joined by ` > `. `ean` is a GTIN of 8, 12, 13 or 14 digits. `availability` is in_stock,
    out_of_stock or preorder.
    """

    url: str | None = None
    title: str | None = None
    description: str | None = None
    price: Decimal | None = Field(default=None, sa_type=DecimalText)
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

    `ref` is the catalog's own key, unique per shop. `link` is the link as delivered; `url` is the
    cleaned link, or None where it is opaque (`opaque`) or malformed. `product` groups offers of one
    catalog product. `generation` numbers the shop's imports: all offers have that of the last one.
    `content_key` is a digest of the fields by which offers are found
    (`catalog.values.content_keys`), None where it was not computed.
    """

    __tablename__ = "known_offer"
    __table_args__ = (
        UniqueConstraint("shop_id", "ref"),
        # The keys of all offers of a shop are read from this index alone.
        Index("known_offer_content", "shop_id", "id", "content_key"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    shop_id: int = Field(foreign_key="shop.id")
    ref: str
    link: str | None = None
    opaque: bool = False
    product: str | None = None
    imported_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    generation: int = 0
    content_key: int | None = Field(default=None, sa_type=BigInteger)


class FormerOffer(OfferFields, table=True):
    """A known offer as it was before the shop's last import, so that the import can be undone.

    `known_id` is the id that it had among the known offers.
    """

    __tablename__ = "former_offer"

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    known_id: int = Field(sa_type=LargeId)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    ref: str
    link: str | None = None
    opaque: bool = False
    product: str | None = None
    imported_at: datetime = Field(sa_type=UtcDateTime)
    generation: int = 0
    content_key: int | None = Field(default=None, sa_type=BigInteger)


class KnownIndex(SQLModel, table=True):
    """The index of a shop's known offers, by which the matcher finds candidates.

    It consists of the parts of its `build`; parts of other builds are of an indexing that was
    killed. `catalog_state` names the catalog that it was made from, `layout` the version of its
    format. `updates` counts the changes of the catalog that were added since, `documents` all
    offers that were ever indexed in this build.
    """

    __tablename__ = "known_index"

    shop_id: int = Field(primary_key=True, foreign_key="shop.id")
    build: int
    layout: int
    catalog_state: str
    updates: int = 0
    documents: int = 0
    parts: int = 0
    built_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)


class KnownIndexPart(SQLModel, table=True):
    """A part of an index of known offers: arrays as bytes (`matcher.known_index`)."""

    __tablename__ = "known_index_part"
    __table_args__ = (UniqueConstraint("shop_id", "build", "kind", "number"),)

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    shop_id: int = Field(foreign_key="shop.id")
    build: int
    kind: str
    number: int
    data: bytes = Field(sa_type=LargeBinary)


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


class LostOffer(SQLModel, table=True):
    """An offer that the catalog listed until an import of a feed without it.

    `generation` is that of the last import with it, `lost_at` the time of the first one without.
    It goes when the offer comes back.
    """

    __tablename__ = "lost_offer"
    __table_args__ = (UniqueConstraint("shop_id", "ref"),)

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    ref: str
    url: str | None = None
    title: str | None = None
    ean: str | None = None
    han: str | None = None
    sku: str | None = None
    generation: int = 0
    lost_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)


class ShopOffer(OfferFields, table=True):
    """An offer parsed from a page of the shop. `variant` numbers the offers of one page, from 0.

    Where a page has several offers, the variants of one product, `variant_of` is that page's URL.
    `readings` holds, per attribute, the confidence of the winning value, the number of votes, and
    the text and selector that it comes from: `{"price": {"weight": 0.97, "votes": 4, "raw": "7,90
    €", "rule": ".price"}}`. Offers parsed by earlier versions lack the last two.
    """

    __tablename__ = "shop_offer"
    __table_args__ = (UniqueConstraint("page_id", "variant"),)

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    page_id: int = Field(foreign_key="page.id", index=True, sa_type=LargeId)
    variant: int = 0
    variant_of: str | None = None
    readings: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)


class CatalogImport(SQLModel, table=True):
    """One import of a shop's feed: source without password, columns by field, and its counts.

    `generation` is that of the known offers it wrote. `reasons` counts the reasons of bad rows and
    the notes on rows that were kept. `undone_at` is None until the import is undone.
    """

    __tablename__ = "catalog_import"
    __table_args__ = (Index("catalog_import_newest", "shop_id", "id", "kept"),)

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    generation: int
    source: str
    format: str
    columns: dict[str, list[str]] = Field(default_factory=dict, sa_type=JSON)
    read: int = 0
    kept: int = 0
    bad: int = 0
    reasons: dict[str, int] = Field(default_factory=dict, sa_type=JSON)
    imported_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    undone_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    undone_by: str | None = None


class BadRow(SQLModel, table=True):
    """A row of a feed that is no known offer, with its line and the reason."""

    __tablename__ = "bad_row"

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    source: str
    line: int
    reason: str
    raw: str
    at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)


class StoredRules(SQLModel, table=True):
    """One version of a shop's rules (`parser.rules.model.RuleSet` as JSON), with a log of how they
    were learnt.
    """

    __tablename__ = "stored_rules"
    __table_args__ = (UniqueConstraint("shop_id", "version"),)

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    version: int
    run_id: int | None = Field(default=None, foreign_key="run.id")
    rules: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    story: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)


class Match(SQLModel, table=True):
    """Result of matching one shop offer in one run.

    The offer's fields are copied into `offer` (JSON), so that an old run's report can be written
    again after a recrawl. `nearest` likewise holds the catalog offer it was paired with (listed) or
    the most similar one (otherwise), and `known_id` the key of that offer. `urls` are all URLs
    under which the offer was found. `reasons` are sentences; `why` is the evidence for programs,
    with the candidates considered. `variant_of` is the URL of the page that has this offer among
    several, the variants of one product.
    """

    __table_args__ = (
        UniqueConstraint("run_id", "url"),
        Index("match_verdict", "run_id", "verdict", "id"),
        # Without it PostgreSQL looks for a run's newest match from the end of the table.
        Index("match_newest", "run_id", "id"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    run_id: int = Field(foreign_key="run.id")
    shop_id: int = Field(foreign_key="shop.id", index=True)
    url: str
    urls: list[str] = Field(default_factory=list, sa_type=JSON)
    known_id: int | None = Field(default=None, sa_type=LargeId)
    verdict: Verdict = Field(sa_type=String)
    score: float = 0.0
    reasons: list[str] = Field(default_factory=list, sa_type=JSON)
    why: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    offer: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    nearest: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    variant_of: str | None = None


class Review(SQLModel, table=True):
    """Decision of a reviewer on a finding, by the offer's URL; it outlives runs.

    `reviewer` is None for a decision that an earlier version of Scout stored.
    """

    # Table and columns keep the names that databases in use have.
    __tablename__ = "persons_word"
    __table_args__ = (
        UniqueConstraint("shop_id", "url"),
        Index("review_newest", "shop_id", "at", "url"),
    )

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    url: str
    decision: ReviewDecision = Field(sa_column=Column("word", String, nullable=False))
    note: str | None = None
    reviewed_at: datetime = Field(
        default_factory=utc_now, sa_column=Column("at", UtcDateTime, nullable=False)
    )
    reviewer: str | None = None


class ReviewStep(SQLModel, table=True):
    """One step of reviewing, to be undone as a whole: a decision on some offers, or an import.

    `action` is the decision, or `import`. `selection` says in words which offers it concerned.
    """

    __tablename__ = "review_step"

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    action: str
    selection: str
    reviewer: str | None = None
    made_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)


class ReviewChange(SQLModel, table=True):
    """Change of the decision on one URL by a step: the decision before it and after it.

    Both are None where there is no decision, else have the keys decision, note, reviewer and
    reviewed_at. `finding` is the state that the stored finding had before: the decision removes its
    cause, which only a report infers again. `undone_at` is None until the change is undone.
    """

    __tablename__ = "review_change"
    __table_args__ = (
        Index("review_change_step", "step_id"),
        Index("review_change_url", "shop_id", "url"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    step_id: int = Field(foreign_key="review_step.id")
    shop_id: int = Field(foreign_key="shop.id")
    url: str
    before: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    after: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    finding: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    undone_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    undone_by: str | None = None


class StoredFinding(SQLModel, table=True):
    """A finding of a finished run: a match as people see it, for lists that the database sorts.

    `verdict` follows the review decision; an ignored finding keeps its verdict and counts nowhere.
    `rank` numbers the run's findings from 1: missing, unsure, listed and ignored ones, the most
    valuable of each first. `amount` is the
    price as a number for ranges and sorting only; `price` is exact. `value` is the value at stake,
    in `currency`: the price of a missing offer, None for all others. `brand_key` and `category_key`
    are casefolded.

    `change` compares with the previous finished run (`catalog.storage.findings.Change`).
    `first_seen_at` and `last_seen_at` are the fetch times of the offer's page; `since_at` and
    `since_run_id` say when it got its present verdict. `was_missing` is True if the offer was
    missing in this or any earlier run; `lost_run_id` is the next finished run if the offer was
    missing here and not seen there. The page, the evidence of the matcher and the nearest offer are
    in the row `match_id` of the matches, which are written again when a run is matched again, so it
    is no foreign key. `evidence` are sentences as `catalog.language.sentences` stores them.
    """

    __tablename__ = "finding"
    __table_args__ = (
        # Not unique: URLs are shortened, and two long ones may begin alike.
        Index("finding_url", "url", "run_id"),
        Index("finding_rank", "run_id", "rank"),
        Index("finding_verdict", "run_id", "is_ignored", "verdict", "rank"),
        Index("finding_amount", "run_id", "is_ignored", "verdict", "amount"),
        Index("finding_category", "run_id", "category_key", "is_ignored", "verdict", "rank"),
        Index("finding_brand", "run_id", "brand_key", "is_ignored", "verdict", "rank"),
        Index("finding_cause", "run_id", "cause", "is_ignored", "verdict", "rank"),
        Index("finding_change", "run_id", "change", "is_ignored", "verdict", "rank"),
        Index("finding_since", "run_id", "since_run_id", "is_ignored", "verdict", "rank"),
        Index("finding_title", "run_id", "is_ignored", "verdict", "title", "rank"),
        Index("finding_score", "run_id", "is_ignored", "verdict", "score", "rank"),
        Index("finding_lost", "lost_run_id", "rank"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=LargeId)
    run_id: int = Field(foreign_key="run.id")
    shop_id: int = Field(foreign_key="shop.id", index=True)
    match_id: int | None = Field(default=None, sa_type=LargeId)
    url: str
    rank: int
    verdict: Verdict = Field(sa_type=String)
    is_ignored: bool = False
    amount: float | None = None
    price: Decimal | None = Field(default=None, sa_type=DecimalText)
    value: Decimal | None = Field(default=None, sa_type=DecimalText)
    currency: str | None = None
    title: str | None = None
    brand: str | None = None
    brand_key: str = ""
    category: str | None = None
    category_key: str = ""
    ean: str | None = None
    han: str | None = None
    sku: str | None = None
    availability: str | None = None
    score: float = 0.0
    cause: str | None = None
    change: str | None = None
    decision: ReviewDecision | None = Field(default=None, sa_type=String)
    note: str | None = None
    reviewed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    reviewer: str | None = None
    fetched_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    first_seen_at: datetime = Field(sa_type=UtcDateTime)
    first_seen_run_id: int
    last_seen_at: datetime = Field(sa_type=UtcDateTime)
    since_at: datetime = Field(sa_type=UtcDateTime)
    since_run_id: int
    was_missing: bool = False
    lost_run_id: int | None = None
    variant_of: str | None = None
    urls: list[str] = Field(default_factory=list, sa_type=JSON)
    evidence: list[Any] = Field(default_factory=list, sa_type=JSON)


class RunCounts(SQLModel, table=True):
    """Counts of a finished run's findings; everything that shows figures reads them here.

    `values` is the value at stake per currency, as exact text, and `unpriced` the number of missing
    offers without a price. `no_longer_seen` counts the offers that were missing in the previous run
    and not seen in this one. `changes` counts by `change`, `decisions` by review decision, `pages`
    by state. Each entry of `causes` is a cause with its missing offers and their values. `currency`
    is the one of most offers; `ranking` says in words how amounts of several currencies are ranked.
    `known_offers` is the size of the catalog at the run: 0 means that nothing was imported.
    `newest_match_id` is the newest of the matches that were stored as findings: matches written
    later are not among them.
    """

    __tablename__ = "run_counts"

    run_id: int = Field(primary_key=True, foreign_key="run.id")
    shop_id: int = Field(foreign_key="shop.id", index=True)
    previous_run_id: int | None = None
    listed: int = 0
    missing: int = 0
    unsure: int = 0
    ignored: int = 0
    unpriced: int = 0
    known_offers: int = 0
    newest_match_id: int | None = Field(default=None, sa_type=LargeId)
    currency: str | None = None
    ranking: str = ""
    no_longer_seen: int = 0
    values: dict[str, str] = Field(
        default_factory=dict, sa_column=Column("amounts", JSON, nullable=False)
    )
    changes: dict[str, int] = Field(default_factory=dict, sa_type=JSON)
    decisions: dict[str, int] = Field(default_factory=dict, sa_type=JSON)
    causes: list[dict[str, Any]] = Field(default_factory=list, sa_type=JSON)
    pages: dict[str, int] = Field(default_factory=dict, sa_type=JSON)
    stored_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)

    @property
    def seen(self) -> int:
        """Number of offers with a verdict, without the ignored ones."""
        return self.listed + self.missing + self.unsure


class ShopAssessment(SQLModel, table=True):
    """What needs a look at a shop, as of its newest run and import.

    `basis` names these two with the state of the run; the assessment is made again when it differs.
    """

    __tablename__ = "shop_assessment"

    shop_id: int = Field(primary_key=True, foreign_key="shop.id")
    basis: str
    assessed_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)


class AttentionItem(SQLModel, table=True):
    """One reason why a shop needs a look (`scout.attention.notices.AttentionKind`).

    `arguments` are those of its sentence. A dismissed item stays dismissed while it is about the
    same run or import, its `subject`.
    """

    __tablename__ = "attention_item"
    __table_args__ = (
        UniqueConstraint("shop_id", "kind"),
        Index("attention_open", "dismissed_at", "severity", "shop_id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    kind: str
    severity: int
    subject: str
    arguments: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    noticed_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    dismissed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    dismissed_by: str | None = None


class DismissedCause(SQLModel, table=True):
    """A cause of missing offers that a reviewer has dismissed for a shop."""

    __tablename__ = "dismissed_cause"
    __table_args__ = (UniqueConstraint("shop_id", "cause"),)

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    cause: str
    dismissed_by: str | None = None
    dismissed_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)


class DeliveryKind(StrEnum):
    """Ways by which a digest goes out."""

    MAIL = "mail"
    WEBHOOK = "webhook"


class Delivery(SQLModel, table=True):
    """A digest of what needs a look, sent on a schedule by mail or to a webhook.

    `target` is an address of a webhook, or mail addresses separated by commas. `shops` are the
    names of the shops that it is about, empty for all. `secret` signs the requests of a webhook.
    `with_report` attaches the reports of the shops to mails; links lead to them otherwise.
    """

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    kind: DeliveryKind = Field(sa_type=String)
    target: str
    shops: list[str] = Field(default_factory=list, sa_type=JSON)
    cron: str
    language: str = "en"
    secret: str | None = None
    with_report: bool = False
    is_paused: bool = False
    last_sent_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    last_error: str | None = None


class Schedule(SQLModel, table=True):
    """Schedule of a shop's runs: one five-field cron expression per shop; none while paused."""

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", unique=True)
    cron: str
    last_started_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    is_paused: bool = False


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


class Role(StrEnum):
    """Role of an account in the web application; each may do what the ones before it may.

    A viewer reads, a reviewer decides on findings, an editor changes rules, imports, schedules and
    runs, an admin manages accounts and shops.
    """

    VIEWER = "viewer"
    REVIEWER = "reviewer"
    EDITOR = "editor"
    ADMIN = "admin"

    def includes(self, role: "Role") -> bool:
        """Return True if an account of this role may do what `role` may do.

        >>> Role.EDITOR.includes(Role.REVIEWER), Role.EDITOR.includes(Role.ADMIN)
        (True, False)
        """
        roles = list(Role)
        return roles.index(self) >= roles.index(role)


class Account(SQLModel, table=True):
    """A person or program that uses the web application.

    `name_key` is the casefolded name. `password_hash` is an Argon2 hash, None where the account
    signs in elsewhere (`subject`, `issuer subject` of OpenID Connect) or by API tokens only.
    """

    id: int | None = Field(default=None, primary_key=True)
    name: str
    name_key: str = Field(unique=True)
    role: Role = Field(default=Role.VIEWER, sa_type=String)
    password_hash: str | None = None
    subject: str | None = Field(default=None, unique=True)
    language: str | None = None
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    last_login_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class ApiToken(SQLModel, table=True):
    """A token of an account for the API. Only its SHA-256 digest is stored.

    `role` bounds what the token may do, below the role of its account.
    """

    __tablename__ = "api_token"
    __table_args__ = (UniqueConstraint("account_id", "name"),)

    id: int | None = Field(default=None, primary_key=True)
    account_id: int = Field(foreign_key="account.id", index=True)
    name: str
    role: Role = Field(default=Role.VIEWER, sa_type=String)
    digest: str = Field(unique=True)
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    expires_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    last_used_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class WebSession(SQLModel, table=True):
    """A browser that is signed in. Only the SHA-256 digest of its cookie is stored.

    `messages` are shown on the next page, then deleted.
    """

    __tablename__ = "web_session"

    id: int | None = Field(default=None, primary_key=True)
    account_id: int = Field(foreign_key="account.id", index=True)
    digest: str = Field(unique=True)
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    seen_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    messages: list[dict[str, Any]] = Field(default_factory=list, sa_type=JSON)


class LoginFailure(SQLModel, table=True):
    """A refused attempt to sign in; counted for the rate limit, deleted when it is over."""

    __tablename__ = "login_failure"

    id: int | None = Field(default=None, primary_key=True)
    name_key: str = Field(index=True)
    address: str = Field(index=True)
    failed_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime, index=True)


class AuditEntry(SQLModel, table=True):
    """One action of an account, for the audit log; it outlives the account and the shop.

    `actor` is the account's name at that time, or the user of the operating system for commands.
    """

    __tablename__ = "audit_entry"
    __table_args__ = (
        Index("audit_entry_shop", "shop", "id"),
        Index("audit_entry_actor", "actor", "id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    made_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    actor: str
    action: str
    shop: str | None = None
    details: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)


class Lease(SQLModel, table=True):
    """The right of one process to do something alone: to run a shop, to lead the timetable.

    `token` grows with each holder (a fencing token): a write of a former holder is refused by it.
    `host` and `process_id` name the holder; without one, `expires_at` is None. Times are those of
    the database. `lock_file` identifies the file that the holder has locked on its machine: whoever
    holds that lock knows that the holder is dead. `is_end_requested` asks the holder to end.
    """

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    token: int = Field(default=0, sa_type=BigInteger)
    host: str | None = None
    process_id: int | None = Field(default=None, sa_type=BigInteger)
    lock_file: str | None = None
    acquired_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    renewed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    expires_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    is_end_requested: bool = False


class AttemptOutcome(StrEnum):
    """Outcome of a worker's attempt at a job."""

    DONE = "done"
    FAILED = "failed"
    HANDED_BACK = "handed back"
    ENDED = "ended by request"
    WORKER_LOST = "worker lost"


class JobAttempt(SQLModel, table=True):
    """One attempt of a worker at a job of the queue; without an outcome it is under way.

    `job_id` is the id of the job in Procrastinate's table. `reason` says why it failed.
    """

    __tablename__ = "job_attempt"

    id: int | None = Field(default=None, primary_key=True)
    job_id: int = Field(sa_type=BigInteger, index=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    kind: str
    worker: str
    started_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    ended_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    outcome: AttemptOutcome | None = Field(default=None, sa_type=String)
    reason: str | None = None


class QueueSchema(SQLModel, table=True):
    """The version of Procrastinate whose tables the database has; one row, or none."""

    __tablename__ = "queue_schema"

    id: int | None = Field(default=None, primary_key=True)
    version: str
