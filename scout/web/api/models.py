"""The shapes of requests and responses of the API.

Amounts are exact texts, times ISO 8601 with a zone. Fields of a finding are those of
`scout offers --json`.
"""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from scout.shops.registration import MAX_CRAWLERS
from scout.web.plain_text import ShortText, UrlText
from scout.work_status import RunningShop, SetAsideJob

# Largest limits of a crawl: the same as those of the command line.
MAX_PAGES = 1_000_000_000
MAX_CRAWL_MINUTES = 365 * 24 * 60
MAX_DELAY_SECONDS = 3600
MAX_URLS = 1000
"""URLs that one request decides on."""


class Problem(BaseModel):
    """An error (RFC 9457, application/problem+json)."""

    type: str
    title: str
    status: int
    detail: str


class _Input(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ShopSummary(BaseModel):
    """A shop with its newest run (`run`, `state`) and the figures of its last finished one."""

    name: str
    url: str
    known: int = Field(description="Offers that the catalog lists.")
    pages: int
    run: int | None = Field(description="The newest run.")
    last_run: datetime | None = Field(description="Start of the newest run.")
    state: str = Field(description="State of the newest run, or `never run`.")
    stage: str | None
    reason: str | None = Field(description="Why the newest run failed or stopped.")
    finished_run: int | None = Field(description="The run that all figures are of.")
    finished_at: datetime | None
    seen: int | None
    listed: int | None
    missing: int | None
    unsure: int | None
    ignored: int | None
    values: dict[str, str] = Field(description="Value of the missing offers by currency.")
    without_import: bool = Field(description="Nothing was imported: every offer counts as missing.")
    changes: dict[str, int]
    reports: list[str] = Field(description="Formats in which the report can be downloaded.")


class ShopDetails(ShopSummary):
    """A shop with its crawl limits."""

    allow_private: bool
    max_pages: int
    max_bytes: int | None
    max_minutes: float | None
    window: str | None
    delay: float
    javascript: bool
    crawlers: int
    sitemaps: list[str]
    added: datetime
    schedule: str | None = Field(description="Cron expression of its runs.")
    job: str | None = Field(description="`run` or `learn` while such a job waits or works.")


class ShopPage(BaseModel):
    """One page of the list of shops."""

    items: list[ShopSummary]
    total: int
    next: str | None


class CrawlLimits(_Input):
    """Limits of a shop's crawls; None leaves one as it is, 0 and `always` remove it."""

    max_pages: int | None = Field(None, ge=1, le=MAX_PAGES)
    max_bytes: ShortText | None = Field(None, description="Such as 500MB.")
    max_minutes: float | None = Field(None, ge=0, le=MAX_CRAWL_MINUTES)
    window: ShortText | None = Field(None, description="Such as 22:00-06:00.")
    delay: float | None = Field(None, ge=0, le=MAX_DELAY_SECONDS)
    sitemaps: list[UrlText] | None = Field(None, max_length=100)
    javascript: bool | None = None
    crawlers: int | None = Field(None, ge=1, le=MAX_CRAWLERS)


class NewShop(CrawlLimits):
    """A shop to add. `allow_private` needs the role admin."""

    name: ShortText
    url: UrlText
    allow_private: bool = False


class RunRow(BaseModel):
    """A run in a list."""

    id: int
    shop: str
    state: str
    stage: str
    reason: str | None
    started_at: datetime
    finished_at: datetime | None
    listed: int | None
    missing: int | None
    unsure: int | None


class RunPage(BaseModel):
    """One page of a list of runs, the newest first."""

    items: list[RunRow]
    total: int
    next: str | None


class RunDetails(BaseModel):
    """A run: pages by state, offers by verdict, coverage, stage seconds (`run --json`)."""

    run: int
    shop: str
    state: str
    stage: str
    reason: str | None
    started_at: datetime
    finished_at: datetime | None
    pages: dict[str, int]
    offers: dict[str, int]
    missing: int
    ignored: int
    known: int
    values: dict[str, str]
    coverage: dict[str, Any]
    seconds: dict[str, float]
    rules: int = Field(description="Version of the rules.")
    drift: str
    reports: list[str]


class NewRun(_Input):
    """A run to start; without `fresh` an unfinished one is resumed."""

    fresh: bool = False


class JobStatus(BaseModel):
    """The job of a shop: `waiting` covers running as well."""

    shop: str
    job: Literal["run", "learn"]
    state: Literal["waiting", "done", "failed"]
    error: str | None = None


class WorkStatus(BaseModel):
    """The work under way on all machines, as `scout status --json` prints it."""

    running: list[RunningShop]
    jobs: dict[str, int] | None = Field(description="Jobs by state; None: there is no queue.")
    workers: int
    set_aside: list[SetAsideJob]


class FindingPage(BaseModel):
    """One page of findings, as `scout offers --json` prints them."""

    run: int | None = Field(description="The run that the findings are of; None: none finished.")
    items: list[dict[str, Any]]
    total: int
    next: str | None


class FacetCount(BaseModel):
    """A value of a facet with the number of findings."""

    value: str
    count: int


class Facets(BaseModel):
    """How many findings each value of a filter would keep, given the other filters."""

    run: int | None
    verdict: list[FacetCount]
    cause: list[FacetCount]
    category: list[FacetCount]
    brand: list[FacetCount]
    change: list[FacetCount]


class Cause(BaseModel):
    """A cause with its missing offers and their value by currency."""

    cause: str | None
    missing: int
    values: dict[str, str]


class Causes(BaseModel):
    """Causes of the missing offers of a run."""

    run: int | None
    items: list[Cause]


class FindingFilterInput(_Input):
    """The filters of `scout offers`."""

    verdict: ShortText = "missing"
    category: ShortText | None = None
    brand: ShortText | None = None
    price: ShortText | None = None
    cause: ShortText | None = None
    change: ShortText | None = None
    since: ShortText | None = None


class NewDecision(_Input):
    """A decision on offers: some by URL, or all that a filter keeps."""

    decision: Literal["confirm", "reject", "ignore"]
    urls: list[UrlText] | None = Field(None, min_length=1, max_length=MAX_URLS)
    filter: FindingFilterInput | None = None
    note: ShortText | None = None


class Decided(BaseModel):
    """The offers that a decision was recorded on; `unknown` are no findings of the last run."""

    decision: str
    offers: int
    unknown: int


class Undo(_Input):
    """Undo the last decision on some offers, or (without URLs) the last steps."""

    urls: list[UrlText] | None = Field(None, min_length=1, max_length=MAX_URLS)
    steps: int = Field(1, ge=1, le=100)


class UndoneStep(BaseModel):
    """A step that was undone."""

    step: int
    action: str
    made_at: datetime
    reviewer: str | None
    offers: int


class Undone(BaseModel):
    """The steps that were undone."""

    items: list[UndoneStep]


class DecisionRow(BaseModel):
    """A review decision."""

    url: str
    decision: str
    note: str | None
    reviewer: str | None
    reviewed_at: datetime


class DecisionPage(BaseModel):
    """One page of decisions, the newest first."""

    items: list[DecisionRow]
    total: int
    next: str | None


class RuleRow(BaseModel):
    """A rule; `number` counts the rules of an attribute, from 1."""

    template: str
    attribute: str
    number: int
    score: float
    support: int
    origin: str
    locked: bool
    selector: str
    trim: str
    form: str


class Rules(BaseModel):
    """The rules of a shop: as rows, and as the rule set that `scout rules import` takes."""

    version: int
    rules: list[RuleRow]
    rule_set: dict[str, Any]


class KnownOfferRow(BaseModel):
    """An offer that the catalog lists."""

    ref: str
    url: str | None
    link: str | None
    title: str | None
    price: str | None
    currency: str | None
    brand: str | None
    category: str | None
    ean: str | None
    han: str | None
    sku: str | None
    product: str | None
    availability: str | None
    imported_at: datetime


class KnownOfferPage(BaseModel):
    """One page of known offers, in the order of the catalog."""

    items: list[KnownOfferRow]
    total: int
    next: str | None


class ImportRow(BaseModel):
    """An import of known offers."""

    id: int
    source: str
    format: str
    columns: dict[str, list[str]]
    read: int
    kept: int
    bad: int
    reasons: dict[str, int]
    imported_at: datetime


class ImportPage(BaseModel):
    """One page of imports, the newest first."""

    items: list[ImportRow]
    total: int
    next: str | None


class ScheduleRow(BaseModel):
    """The schedule of a shop; `next` are the next five times, none while it is paused."""

    shop: str
    cron: str
    next: list[datetime]
    paused: bool
    last_started_at: datetime | None


class SchedulePage(BaseModel):
    """One page of schedules, by the names of the shops."""

    items: list[ScheduleRow]
    total: int
    next: str | None


class NewSchedule(_Input):
    """A cron expression of five fields in the server's local time, or @daily and the like."""

    cron: ShortText


class AccountDetails(BaseModel):
    """The account that a request is made by; `role` is that of its token."""

    name: str
    role: str
