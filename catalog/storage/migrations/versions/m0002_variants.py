"""Offers of one page as variants of one product.

Revision: 0002, after 0001.
"""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("shop_offer", "match"):
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.add_column(
                sa.Column("variant_of", sqlmodel.sql.sqltypes.AutoString(), nullable=True)
            )


def downgrade() -> None:
    for table in ("shop_offer", "match"):
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.drop_column("variant_of")
