"""Table of a shop's rules, and the result of comparing them with new pages."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, UniqueConstraint
from sqlmodel import Field, SQLModel

from catalog.models.columns import UtcDateTime, empty_dict, utc_now


class DriftKind(StrEnum):
    """Result of comparing a shop's rules with its newest pages: they hold, some have drifted, or
    the shop was redesigned.
    """

    HOLDS = "holds"
    DRIFTED = "drifted"
    REDESIGNED = "redesigned"


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
    rules: dict[str, Any] = Field(default_factory=empty_dict, sa_type=JSON)
    story: dict[str, Any] = Field(default_factory=empty_dict, sa_type=JSON)
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)

    @property
    def drift_summary(self) -> str:
        """The drift of the rules before, in one line; "" where there were none."""
        drift = self.story.get("drift") or {}
        # Scout 0.1 stored it as `said`.
        return str(drift.get("summary") or drift.get("said") or "")
