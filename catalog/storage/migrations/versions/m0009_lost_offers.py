"""Offers that an import dropped, so that a report can say that the feed once had them.

Revision: 0009, after 0008.
"""

import sqlalchemy as sa
from alembic import op

import catalog.models

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "lost_offer",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("shop_id", sa.Integer(), nullable=False),
        sa.Column("ref", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=True),
        sa.Column("title", sa.String(), nullable=True),
        sa.Column("ean", sa.String(), nullable=True),
        sa.Column("han", sa.String(), nullable=True),
        sa.Column("sku", sa.String(), nullable=True),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("lost_at", catalog.models.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["shop_id"], ["shop.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("shop_id", "ref"),
    )
    op.create_index("ix_lost_offer_shop_id", "lost_offer", ["shop_id"])


def downgrade() -> None:
    op.drop_table("lost_offer")
