"""Fingerprints of the stages of a run, and of the last reading and digest of a page.

Revision: 0014, after 0013.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run", sa.Column("fingerprints", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("page", sa.Column("read_key", sa.String(), nullable=True))
    op.add_column("page", sa.Column("digest_key", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("page", "digest_key")
    op.drop_column("page", "read_key")
    op.drop_column("run", "fingerprints")
