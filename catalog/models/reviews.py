"""Tables of review decisions on findings, with the steps by which they are undone."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, Column, Index, String, UniqueConstraint
from sqlmodel import Field, SQLModel

from catalog.models.columns import LargeId, UtcDateTime, utc_now


class ReviewDecision(StrEnum):
    """Decision of a reviewer on a finding: accept (it is missing), reject (it is listed), or
    ignore.
    """

    ACCEPT = "accept"
    REJECT = "reject"
    IGNORE = "ignore"


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


class DismissedCause(SQLModel, table=True):
    """A cause of missing offers that a reviewer has dismissed for a shop."""

    __tablename__ = "dismissed_cause"
    __table_args__ = (UniqueConstraint("shop_id", "cause"),)

    id: int | None = Field(default=None, primary_key=True)
    shop_id: int = Field(foreign_key="shop.id", index=True)
    cause: str
    dismissed_by: str | None = None
    dismissed_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
