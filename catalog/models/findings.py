"""Tables of the results of a run: matches, findings, and their counts."""

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, Column, Index, String, UniqueConstraint
from sqlmodel import Field, SQLModel

from catalog.models.columns import (
    DecimalText,
    LargeId,
    UtcDateTime,
    empty_dict,
    empty_list,
    utc_now,
)
from catalog.models.reviews import ReviewDecision


class Verdict(StrEnum):
    """Verdict of the matcher on a shop offer: the catalog lists it, lacks it, or the evidence does
    not decide.
    """

    LISTED = "listed"
    MISSING = "missing"
    UNSURE = "unsure"


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
    urls: list[str] = Field(default_factory=empty_list, sa_type=JSON)
    known_id: int | None = Field(default=None, sa_type=LargeId)
    verdict: Verdict = Field(sa_type=String)
    score: float = 0.0
    reasons: list[str] = Field(default_factory=empty_list, sa_type=JSON)
    why: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    offer: dict[str, Any] = Field(default_factory=empty_dict, sa_type=JSON)
    nearest: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    variant_of: str | None = None


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
    urls: list[str] = Field(default_factory=empty_list, sa_type=JSON)
    evidence: list[Any] = Field(default_factory=empty_list, sa_type=JSON)


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
        default_factory=empty_dict, sa_column=Column("amounts", JSON, nullable=False)
    )
    changes: dict[str, int] = Field(default_factory=empty_dict, sa_type=JSON)
    decisions: dict[str, int] = Field(default_factory=empty_dict, sa_type=JSON)
    causes: list[dict[str, Any]] = Field(default_factory=empty_list, sa_type=JSON)
    pages: dict[str, int] = Field(default_factory=empty_dict, sa_type=JSON)
    stored_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)

    @property
    def seen(self) -> int:
        """Number of offers with a verdict, without the ignored ones."""
        return self.listed + self.missing + self.unsure
