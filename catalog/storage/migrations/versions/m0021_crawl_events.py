"""Events from which an interrupted crawl learns again.

Revision: 0021, after 0020.
"""

import sqlalchemy as sa
from alembic import op

from catalog.models import LargeId

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "crawl_event",
        sa.Column("id", LargeId(), primary_key=True),
        sa.Column("shop_id", sa.Integer(), sa.ForeignKey("shop.id"), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.UniqueConstraint("shop_id", "run_id", "number"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    op.drop_table("crawl_event")
