"""The import that cleared a lost offer, so that undoing it brings the lost offer back.

Revision: 0022, after 0021.
"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("lost_offer", sa.Column("cleared_by", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.execute("DELETE FROM lost_offer WHERE cleared_by IS NOT NULL")
    op.drop_column("lost_offer", "cleared_by")
