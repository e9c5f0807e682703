"""Crawls as rows, budgets of a shop, how often pages change; the frontier's index in the order of claims.

Revision: 0003, after 0002.
"""

import sqlalchemy as sa
import sqlmodel
from alembic import op

import catalog.models

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "crawl",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("shop_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=True),
        sa.Column("started_at", catalog.models.UtcDateTime(), nullable=False),
        sa.Column("finished_at", catalog.models.UtcDateTime(), nullable=True),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("stopped", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("pages", sa.JSON(), nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.ForeignKeyConstraint(["shop_id"], ["shop.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("crawl", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_crawl_shop_id"), ["shop_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_crawl_run_id"), ["run_id"], unique=False)
    op.add_column("shop", sa.Column("max_bytes", sa.BigInteger(), nullable=True))
    op.add_column("shop", sa.Column("max_minutes", sa.Float(), nullable=True))
    op.add_column("shop", sa.Column("window", sqlmodel.sql.sqltypes.AutoString(), nullable=True))
    op.add_column("page", sa.Column("lastmod", catalog.models.UtcDateTime(), nullable=True))
    op.add_column("page", sa.Column("changed_at", catalog.models.UtcDateTime(), nullable=True))
    op.add_column("page", sa.Column("unchanged", sa.Integer(), nullable=False, server_default="0"))
    op.drop_index("page_frontier", "page")
    op.create_index(
        "page_frontier", "page", ["shop_id", "state", sa.text("priority DESC"), "id"], unique=False
    )


def downgrade() -> None:
    op.drop_index("page_frontier", "page")
    op.create_index("page_frontier", "page", ["shop_id", "state", "priority", "id"], unique=False)
    for column in ("unchanged", "changed_at", "lastmod"):
        op.drop_column("page", column)
    for column in ("window", "max_minutes", "max_bytes"):
        op.drop_column("shop", column)
    op.drop_table("crawl")
