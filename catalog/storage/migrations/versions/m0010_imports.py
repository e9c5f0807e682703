"""History of the imports: source, columns and counts of each.

Revision: 0010, after 0009.
"""

import sqlalchemy as sa
from alembic import op

from catalog.models import UtcDateTime

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "catalog_import",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("shop_id", sa.Integer(), sa.ForeignKey("shop.id"), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("columns", sa.JSON(), nullable=False),
        sa.Column("read", sa.Integer(), nullable=False),
        sa.Column("kept", sa.Integer(), nullable=False),
        sa.Column("bad", sa.Integer(), nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("imported_at", UtcDateTime(), nullable=False),
    )
    op.create_index("ix_catalog_import_shop_id", "catalog_import", ["shop_id"])


def downgrade() -> None:
    op.drop_table("catalog_import")
