"""Accounts of the web application, their tokens and sessions, the audit log; indexes of lists.

Revision: 0013, after 0011.
"""

import sqlalchemy as sa
from alembic import op

from catalog.models import UtcDateTime

revision = "0013"
down_revision = "0011"
branch_labels = None
depends_on = None

_TEXT = sa.String()


def upgrade() -> None:
    op.create_table(
        "account",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("name_key", _TEXT, nullable=False, unique=True),
        sa.Column("role", _TEXT, nullable=False),
        sa.Column("password_hash", _TEXT, nullable=True),
        sa.Column("subject", _TEXT, nullable=True, unique=True),
        sa.Column("language", _TEXT, nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("last_login_at", UtcDateTime(), nullable=True),
    )
    op.create_table(
        "api_token",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("account_id", sa.Integer(), sa.ForeignKey("account.id"), nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("role", _TEXT, nullable=False),
        sa.Column("digest", _TEXT, nullable=False, unique=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=True),
        sa.Column("last_used_at", UtcDateTime(), nullable=True),
        sa.UniqueConstraint("account_id", "name"),
    )
    op.create_index("ix_api_token_account_id", "api_token", ["account_id"])
    op.create_table(
        "web_session",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("account_id", sa.Integer(), sa.ForeignKey("account.id"), nullable=False),
        sa.Column("digest", _TEXT, nullable=False, unique=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("seen_at", UtcDateTime(), nullable=False),
        sa.Column("messages", sa.JSON(), nullable=False),
    )
    op.create_index("ix_web_session_account_id", "web_session", ["account_id"])
    op.create_table(
        "login_failure",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name_key", _TEXT, nullable=False),
        sa.Column("address", _TEXT, nullable=False),
        sa.Column("failed_at", UtcDateTime(), nullable=False),
    )
    for column in ("name_key", "address", "failed_at"):
        op.create_index(f"ix_login_failure_{column}", "login_failure", [column])
    op.create_table(
        "audit_entry",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("made_at", UtcDateTime(), nullable=False),
        sa.Column("actor", _TEXT, nullable=False),
        sa.Column("action", _TEXT, nullable=False),
        sa.Column("shop", _TEXT, nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
    )
    op.create_index("audit_entry_shop", "audit_entry", ["shop", "id"])
    op.create_index("audit_entry_actor", "audit_entry", ["actor", "id"])
    op.drop_index("ix_run_shop_id", "run")
    op.create_index("run_newest", "run", ["shop_id", "id", "state"])
    op.create_index("run_state", "run", ["shop_id", "state", "id"])
    op.drop_index("ix_match_run_id", "match")
    op.create_index("match_newest", "match", ["run_id", "id"])
    op.create_index("catalog_import_newest", "catalog_import", ["shop_id", "id", "kept"])
    op.create_index("review_newest", "persons_word", ["shop_id", "at", "url"])


def downgrade() -> None:
    op.drop_index("review_newest", "persons_word")
    op.drop_index("catalog_import_newest", "catalog_import")
    op.drop_index("match_newest", "match")
    op.create_index("ix_match_run_id", "match", ["run_id"])
    op.drop_index("run_state", "run")
    op.drop_index("run_newest", "run")
    op.create_index("ix_run_shop_id", "run", ["shop_id"])
    for table in ("audit_entry", "login_failure", "web_session", "api_token", "account"):
        op.drop_table(table)
