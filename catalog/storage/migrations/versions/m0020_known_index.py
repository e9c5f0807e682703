"""Index of the known offers, and the digest of the fields by which they are found.

Revision: 0020, after 0015.
"""

import sqlalchemy as sa
from alembic import op

from catalog.models import UtcDateTime

revision = "0020"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("known_offer", sa.Column("content_key", sa.BigInteger(), nullable=True))
    op.add_column("former_offer", sa.Column("content_key", sa.BigInteger(), nullable=True))
    # It begins with the shop, so the index by shop alone is not needed any more.
    op.create_index("known_offer_content", "known_offer", ["shop_id", "id", "content_key"])
    op.drop_index("ix_known_offer_shop_id", "known_offer")
    op.create_table(
        "known_index",
        sa.Column("shop_id", sa.Integer(), sa.ForeignKey("shop.id"), primary_key=True),
        sa.Column("build", sa.Integer(), nullable=False),
        sa.Column("layout", sa.Integer(), nullable=False),
        sa.Column("catalog_state", sa.String(), nullable=False),
        sa.Column("updates", sa.Integer(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("parts", sa.Integer(), nullable=False),
        sa.Column("built_at", UtcDateTime(), nullable=False),
    )
    op.create_table(
        "known_index_part",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("shop_id", sa.Integer(), sa.ForeignKey("shop.id"), nullable=False),
        sa.Column("build", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.UniqueConstraint("shop_id", "build", "kind", "number"),
    )


def downgrade() -> None:
    op.drop_table("known_index_part")
    op.drop_table("known_index")
    op.create_index("ix_known_offer_shop_id", "known_offer", ["shop_id"])
    op.drop_index("known_offer_content", "known_offer")
    op.drop_column("former_offer", "content_key")
    op.drop_column("known_offer", "content_key")
