"""Log of review decisions: who decided, when, in which step, and the decision before.

Revision: 0011, after 0010.

Each decision of an earlier version becomes a step of its own, so that it can be undone as well.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from catalog.models import UtcDateTime

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_TEXT = sa.String()


def upgrade() -> None:
    op.add_column("persons_word", sa.Column("reviewer", _TEXT, nullable=True))
    op.add_column("finding", sa.Column("reviewer", _TEXT, nullable=True))
    op.create_table(
        "review_step",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("shop_id", sa.Integer(), sa.ForeignKey("shop.id"), nullable=False),
        sa.Column("action", _TEXT, nullable=False),
        sa.Column("selection", _TEXT, nullable=False),
        sa.Column("reviewer", _TEXT, nullable=True),
        sa.Column("made_at", UtcDateTime(), nullable=False),
    )
    op.create_index("ix_review_step_shop_id", "review_step", ["shop_id"])
    op.create_table(
        "review_change",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("step_id", sa.Integer(), sa.ForeignKey("review_step.id"), nullable=False),
        sa.Column("shop_id", sa.Integer(), sa.ForeignKey("shop.id"), nullable=False),
        sa.Column("url", _TEXT, nullable=False),
        sa.Column("before", sa.JSON(), nullable=True),
        sa.Column("after", sa.JSON(), nullable=True),
        sa.Column("finding", sa.JSON(), nullable=True),
        sa.Column("undone_at", UtcDateTime(), nullable=True),
        sa.Column("undone_by", _TEXT, nullable=True),
    )
    op.create_index("review_change_step", "review_change", ["step_id"])
    op.create_index("review_change_url", "review_change", ["shop_id", "url"])
    _log_stored_decisions()


def _log_stored_decisions() -> None:
    """Log the decisions that are stored, the oldest first."""
    review = sa.table(
        "persons_word",
        sa.column("id", sa.Integer),
        sa.column("shop_id", sa.Integer),
        sa.column("url", sa.String),
        sa.column("word", sa.String),
        sa.column("note", sa.String),
        sa.column("at", UtcDateTime()),
    )
    step = sa.table(
        "review_step",
        sa.column("id", sa.Integer),
        sa.column("shop_id", sa.Integer),
        sa.column("action", sa.String),
        sa.column("selection", sa.String),
        sa.column("made_at", UtcDateTime()),
    )
    change = sa.table(
        "review_change",
        sa.column("step_id", sa.Integer),
        sa.column("shop_id", sa.Integer),
        sa.column("url", sa.String),
        sa.column("after", sa.JSON),
    )
    connection = op.get_bind()
    rows = connection.execute(sa.select(review).order_by(review.c.at, review.c.id)).all()
    for number, row in enumerate(rows, 1):
        connection.execute(
            sa.insert(step).values(
                id=number, shop_id=row.shop_id, action=row.word, selection=row.url, made_at=row.at
            )
        )
        after: dict[str, Any] = {
            "decision": row.word,
            "note": row.note,
            "reviewer": None,
            "reviewed_at": row.at.isoformat(),
        }
        connection.execute(
            sa.insert(change).values(step_id=number, shop_id=row.shop_id, url=row.url, after=after)
        )
    if rows and connection.dialect.name == "postgresql":
        # Rows with explicit ids do not move the sequence on.
        connection.exec_driver_sql(
            "SELECT setval(pg_get_serial_sequence('review_step', 'id'), "
            "(SELECT max(id) FROM review_step))"
        )


def downgrade() -> None:
    op.drop_table("review_change")
    op.drop_table("review_step")
    op.drop_column("finding", "reviewer")
    op.drop_column("persons_word", "reviewer")
