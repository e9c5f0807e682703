"""Tables of shops that need a look, and of the digests that report them."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, Index, String, UniqueConstraint
from sqlmodel import Field, SQLModel

from catalog.models.columns import UtcDateTime, empty_dict, empty_list, utc_now


class ShopAssessment(SQLModel, table=True):
    """The open problems of a shop, as of its newest run and import.

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
    arguments: dict[str, Any] = Field(default_factory=empty_dict, sa_type=JSON)
    noticed_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    dismissed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    dismissed_by: str | None = None


class DeliveryKind(StrEnum):
    """Ways by which a digest goes out."""

    MAIL = "mail"
    WEBHOOK = "webhook"


class Delivery(SQLModel, table=True):
    """A digest of shops' open problems, sent on a schedule by mail or to a webhook.

    `target` is an address of a webhook, or mail addresses separated by commas. `shops` are the
    names of the shops that it is about, empty for all. `secret` signs the requests of a webhook.
    `with_report` attaches the reports of the shops to mails; links lead to them otherwise.
    """

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    kind: DeliveryKind = Field(sa_type=String)
    target: str
    shops: list[str] = Field(default_factory=empty_list, sa_type=JSON)
    cron: str
    language: str = "en"
    secret: str | None = None
    with_report: bool = False
    is_paused: bool = False
    last_sent_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    last_error: str | None = None
