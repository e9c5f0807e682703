"""Open problems of each shop, causes that reviewers have dismissed, paused schedules,
the offers before the last import, and deliveries of digests.

Revision: 0015, after 0014.
"""

import sqlalchemy as sa
from alembic import op

from catalog.models import DecimalText, UtcDateTime

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_TEXT = sa.String()
_OFFER_TEXTS = (
    "url",
    "title",
    "description",
    "currency",
    "brand",
    "category",
    "ean",
    "han",
    "sku",
    "availability",
    "link",
    "product",
)


def upgrade() -> None:
    op.create_table(
        "shop_assessment",
        sa.Column("shop_id", sa.Integer(), sa.ForeignKey("shop.id"), primary_key=True),
        sa.Column("basis", _TEXT, nullable=False),
        sa.Column("assessed_at", UtcDateTime(), nullable=False),
    )
    op.create_table(
        "attention_item",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("shop_id", sa.Integer(), sa.ForeignKey("shop.id"), nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("severity", sa.Integer(), nullable=False),
        sa.Column("subject", _TEXT, nullable=False),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("noticed_at", UtcDateTime(), nullable=False),
        sa.Column("dismissed_at", UtcDateTime(), nullable=True),
        sa.Column("dismissed_by", _TEXT, nullable=True),
        sa.UniqueConstraint("shop_id", "kind"),
    )
    op.create_index("ix_attention_item_shop_id", "attention_item", ["shop_id"])
    op.create_index("attention_open", "attention_item", ["dismissed_at", "severity", "shop_id"])
    op.create_table(
        "dismissed_cause",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("shop_id", sa.Integer(), sa.ForeignKey("shop.id"), nullable=False),
        sa.Column("cause", _TEXT, nullable=False),
        sa.Column("dismissed_by", _TEXT, nullable=True),
        sa.Column("dismissed_at", UtcDateTime(), nullable=False),
        sa.UniqueConstraint("shop_id", "cause"),
    )
    op.create_index("ix_dismissed_cause_shop_id", "dismissed_cause", ["shop_id"])
    op.create_table(
        "former_offer",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("known_id", sa.Integer(), nullable=False),
        sa.Column("shop_id", sa.Integer(), sa.ForeignKey("shop.id"), nullable=False),
        sa.Column("ref", _TEXT, nullable=False),
        *(sa.Column(name, _TEXT, nullable=True) for name in _OFFER_TEXTS),
        sa.Column("images", sa.JSON(), nullable=False),
        sa.Column("price", DecimalText(), nullable=True),
        sa.Column("opaque", sa.Boolean(), nullable=False),
        sa.Column("imported_at", UtcDateTime(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
    )
    op.create_index("ix_former_offer_shop_id", "former_offer", ["shop_id"])
    op.add_column("catalog_import", sa.Column("undone_at", UtcDateTime(), nullable=True))
    op.add_column("catalog_import", sa.Column("undone_by", _TEXT, nullable=True))
    op.create_table(
        "delivery",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", _TEXT, nullable=False, unique=True),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("target", _TEXT, nullable=False),
        sa.Column("shops", sa.JSON(), nullable=False),
        sa.Column("cron", _TEXT, nullable=False),
        sa.Column("language", _TEXT, nullable=False),
        sa.Column("secret", _TEXT, nullable=True),
        sa.Column("with_report", sa.Boolean(), nullable=False),
        sa.Column("is_paused", sa.Boolean(), nullable=False),
        sa.Column("last_sent_at", UtcDateTime(), nullable=True),
        sa.Column("last_error", _TEXT, nullable=True),
    )
    op.add_column(
        "schedule",
        sa.Column("is_paused", sa.Boolean(), nullable=False, server_default=sa.false()),
    )


def downgrade() -> None:
    op.drop_column("schedule", "is_paused")
    op.drop_column("catalog_import", "undone_by")
    op.drop_column("catalog_import", "undone_at")
    op.drop_table("former_offer")
    op.drop_table("delivery")
    for table in ("dismissed_cause", "attention_item", "shop_assessment"):
        op.drop_table(table)
