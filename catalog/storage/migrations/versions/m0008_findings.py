"""Findings and counts of finished runs; paths of reports relative to the data folder.

Revision: 0008, after 0007.

The findings of earlier runs are stored by `scout db upgrade`, or when they are first shown: they
take more than SQL to infer.
"""

import re

import sqlalchemy as sa
from alembic import op

import catalog.models

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_TEXT = sa.String()
_TIME = catalog.models.UtcDateTime()
_AMOUNT = catalog.models.DecimalText()

# A report below the data folder: reports/SHOP/RUN/report.KIND.
_REPORT = re.compile(r"(?:^|.*[/\\])(reports[/\\][^/\\]+[/\\](\d+)[/\\]report\.\w+)$", re.DOTALL)


def upgrade() -> None:
    op.create_table(
        "finding",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("shop_id", sa.Integer(), nullable=False),
        sa.Column("match_id", sa.Integer(), nullable=True),
        sa.Column("url", _TEXT, nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("verdict", _TEXT, nullable=False),
        sa.Column("is_ignored", sa.Boolean(), nullable=False),
        sa.Column("amount", sa.Float(), nullable=True),
        sa.Column("price", _AMOUNT, nullable=True),
        sa.Column("value", _AMOUNT, nullable=True),
        sa.Column("currency", _TEXT, nullable=True),
        sa.Column("title", _TEXT, nullable=True),
        sa.Column("brand", _TEXT, nullable=True),
        sa.Column("brand_key", _TEXT, nullable=False),
        sa.Column("category", _TEXT, nullable=True),
        sa.Column("category_key", _TEXT, nullable=False),
        sa.Column("ean", _TEXT, nullable=True),
        sa.Column("han", _TEXT, nullable=True),
        sa.Column("sku", _TEXT, nullable=True),
        sa.Column("availability", _TEXT, nullable=True),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("cause", _TEXT, nullable=True),
        sa.Column("change", _TEXT, nullable=True),
        sa.Column("decision", _TEXT, nullable=True),
        sa.Column("note", _TEXT, nullable=True),
        sa.Column("reviewed_at", _TIME, nullable=True),
        sa.Column("fetched_at", _TIME, nullable=True),
        sa.Column("first_seen_at", _TIME, nullable=False),
        sa.Column("first_seen_run_id", sa.Integer(), nullable=False),
        sa.Column("last_seen_at", _TIME, nullable=False),
        sa.Column("since_at", _TIME, nullable=False),
        sa.Column("since_run_id", sa.Integer(), nullable=False),
        sa.Column("was_missing", sa.Boolean(), nullable=False),
        sa.Column("lost_run_id", sa.Integer(), nullable=True),
        sa.Column("variant_of", _TEXT, nullable=True),
        sa.Column("urls", sa.JSON(), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.ForeignKeyConstraint(["shop_id"], ["shop.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_finding_shop_id", "finding", ["shop_id"])
    op.create_index("finding_url", "finding", ["url", "run_id"])
    op.create_index("finding_rank", "finding", ["run_id", "rank"])
    listed = ["is_ignored", "verdict", "rank"]
    op.create_index("finding_verdict", "finding", ["run_id", *listed])
    op.create_index("finding_amount", "finding", ["run_id", "is_ignored", "verdict", "amount"])
    op.create_index("finding_category", "finding", ["run_id", "category_key", *listed])
    op.create_index("finding_brand", "finding", ["run_id", "brand_key", *listed])
    op.create_index("finding_cause", "finding", ["run_id", "cause", *listed])
    op.create_index("finding_change", "finding", ["run_id", "change", *listed])
    op.create_index("finding_since", "finding", ["run_id", "since_run_id", *listed])
    op.create_index(
        "finding_title", "finding", ["run_id", "is_ignored", "verdict", "title", "rank"]
    )
    op.create_index(
        "finding_score", "finding", ["run_id", "is_ignored", "verdict", "score", "rank"]
    )
    op.create_index("finding_lost", "finding", ["lost_run_id", "rank"])
    op.create_table(
        "run_counts",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("shop_id", sa.Integer(), nullable=False),
        sa.Column("previous_run_id", sa.Integer(), nullable=True),
        sa.Column("listed", sa.Integer(), nullable=False),
        sa.Column("missing", sa.Integer(), nullable=False),
        sa.Column("unsure", sa.Integer(), nullable=False),
        sa.Column("ignored", sa.Integer(), nullable=False),
        sa.Column("unpriced", sa.Integer(), nullable=False),
        sa.Column("known_offers", sa.Integer(), nullable=False),
        sa.Column("currency", _TEXT, nullable=True),
        sa.Column("ranking", _TEXT, nullable=False),
        sa.Column("newest_match_id", sa.Integer(), nullable=True),
        sa.Column("no_longer_seen", sa.Integer(), nullable=False),
        sa.Column("amounts", sa.JSON(), nullable=False),
        sa.Column("changes", sa.JSON(), nullable=False),
        sa.Column("decisions", sa.JSON(), nullable=False),
        sa.Column("causes", sa.JSON(), nullable=False),
        sa.Column("pages", sa.JSON(), nullable=False),
        sa.Column("stored_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.ForeignKeyConstraint(["shop_id"], ["shop.id"]),
        sa.PrimaryKeyConstraint("run_id"),
    )
    op.create_index("ix_run_counts_shop_id", "run_counts", ["shop_id"])
    op.create_index("match_verdict", "match", ["run_id", "verdict", "id"])
    _shorten_report_paths()


def _shorten_report_paths() -> None:
    """Make the paths of reports relative to the data folder; drop those of reports elsewhere."""
    run = sa.table("run", sa.column("id", sa.Integer), sa.column("figures", sa.JSON))
    connection = op.get_bind()
    for run_id, figures in connection.execute(sa.select(run.c.id, run.c.figures)).all():
        reports = (figures or {}).get("report")
        if not isinstance(reports, dict):
            continue
        shortened = {}
        for kind, value in reports.items():
            if not isinstance(value, str):
                shortened[kind] = value
                continue
            inside = _REPORT.match(value)
            if inside and int(inside[2]) == run_id:
                shortened[kind] = inside[1].replace("\\", "/")
        changed = {**figures, "report": shortened}
        connection.execute(sa.update(run).where(run.c.id == run_id).values(figures=changed))


def downgrade() -> None:
    op.drop_index("match_verdict", "match")
    op.drop_table("run_counts")
    op.drop_table("finding")
