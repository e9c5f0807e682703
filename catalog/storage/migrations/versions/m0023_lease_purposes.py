"""The purpose for which a lease is held: a run, an import.

Revision: 0023, after 0022.
"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("lease", sa.Column("purpose", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("lease", "purpose")
