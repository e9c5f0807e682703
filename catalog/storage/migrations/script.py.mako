"""${message}.

Revision: ${up_revision}, after ${down_revision}.
"""

import sqlalchemy as sa
import sqlmodel
from alembic import op

import catalog.models

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    ${downgrades if downgrades else "pass"}
