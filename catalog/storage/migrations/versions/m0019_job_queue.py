"""Attempts of workers at the jobs of the queue, and the version of the queue's own tables.

The tables of the queue are Procrastinate's: `scout.job_queue.schema` makes them when the queue is
used first, since Procrastinate is installed only where workers are.

Revision: 0019, after 0018.
"""

import sqlalchemy as sa
from alembic import op

from catalog.models import UtcDateTime

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "job_attempt",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("shop_id", sa.Integer(), sa.ForeignKey("shop.id"), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("worker", sa.String(), nullable=False),
        sa.Column("started_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_job_attempt_job_id", "job_attempt", ["job_id"])
    op.create_index("ix_job_attempt_shop_id", "job_attempt", ["shop_id"])
    op.create_table(
        "queue_schema",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("version", sa.String(), nullable=False),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    op.drop_table("queue_schema")
    op.drop_table("job_attempt")
