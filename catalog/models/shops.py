"""Tables of shops, their schedules, and their runs."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, BigInteger, Index, String
from sqlmodel import Field, SQLModel

from catalog.models.columns import UtcDateTime, empty_dict, empty_list, utc_now


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
    sitemaps: list[str] = Field(default_factory=empty_list, sa_type=JSON)
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)


class Schedule(SQLModel, table=True):
    """Schedule of a shop's runs: one five-field cron expression per shop; none while paused."""

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", unique=True)
    cron: str
    last_started_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    is_paused: bool = False


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
    figures: dict[str, Any] = Field(default_factory=empty_dict, sa_type=JSON)
    fingerprints: dict[str, Any] = Field(default_factory=empty_dict, sa_type=JSON)
    started_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
