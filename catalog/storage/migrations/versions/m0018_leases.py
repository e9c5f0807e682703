"""Leases of the database, so that a shop is run by one process at a time; crawlers per shop.

Revision: 0018, after 0017.
"""

import sqlalchemy as sa
from alembic import op

from catalog.models import UtcDateTime

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "lease",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", sa.String(), nullable=False, unique=True),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("host", sa.String(), nullable=True),
        sa.Column("process_id", sa.BigInteger(), nullable=True),
        sa.Column("lock_file", sa.String(), nullable=True),
        sa.Column("acquired_at", UtcDateTime(), nullable=True),
        sa.Column("renewed_at", UtcDateTime(), nullable=True),
        sa.Column("expires_at", UtcDateTime(), nullable=True),
        sa.Column("is_end_requested", sa.Boolean(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.add_column("shop", sa.Column("crawlers", sa.Integer(), nullable=False, server_default="1"))


def downgrade() -> None:
    op.drop_column("shop", "crawlers")
    op.drop_table("lease")
