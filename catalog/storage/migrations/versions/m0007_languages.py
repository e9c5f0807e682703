"""The language of a page, and its versions in other languages.

Revision: 0007, after 0006.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("page", sa.Column("language", sa.String(), nullable=True))
    op.add_column("page", sa.Column("alternates", sa.JSON(), nullable=True))
    op.add_column("page", sa.Column("sitemap_alternates", sa.JSON(), nullable=True))


def downgrade() -> None:
    for column in ("sitemap_alternates", "alternates", "language"):
        op.drop_column("page", column)
