"""Evidence for and against a decision, for programs.

Revision: 0005, after 0004.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("match", sa.Column("why", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("match", "why")
