"""Alembic's entry point: runs on the connection that `catalog.storage.store.upgrade_schema`
passes.
"""

from alembic import context
from sqlmodel import SQLModel

# Imported for its side effect: it registers the tables in SQLModel's metadata.
from catalog import models as models

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
