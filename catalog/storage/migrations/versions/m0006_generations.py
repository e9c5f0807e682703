"""Imports with generation numbers, which decide what an import drops.

Revision: 0006, after 0005.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "known_offer", sa.Column("generation", sa.Integer(), nullable=False, server_default="0")
    )


def downgrade() -> None:
    op.drop_column("known_offer", "generation")
