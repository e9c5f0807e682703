"""64-bit ids on PostgreSQL for the tables that grow with pages and offers.

Revision: 0017, after 0016.

A table whose rows are written anew by every run counts through 32 bits: ten thousand shops of a
thousand offers, every night, do so in seven months. SQLite's integers have 64 bits.
"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

# Tables with a sequence.
_COUNTED = (
    "page",
    "shop_offer",
    "match",
    "finding",
    "known_offer",
    "former_offer",
    "lost_offer",
    "bad_row",
    "sitemap_seen",
    "review_change",
)
# Columns that hold ids of theirs.
_REFERENCES = (
    ("shop_offer", "page_id"),
    ("match", "known_id"),
    ("finding", "match_id"),
    ("run_counts", "newest_match_id"),
    ("former_offer", "known_id"),
)


def upgrade() -> None:
    _set_types("BIGINT")


def downgrade() -> None:
    _set_types("INTEGER")


def _set_types(size: str) -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    for table in _COUNTED:
        op.execute(sa.text(f'ALTER TABLE "{table}" ALTER COLUMN id TYPE {size}'))
        op.execute(sa.text(f'ALTER SEQUENCE "{table}_id_seq" AS {size}'))
    for table, column in _REFERENCES:
        op.execute(sa.text(f'ALTER TABLE "{table}" ALTER COLUMN {column} TYPE {size}'))
