"""`scout db`: care of the database: migrations and checks."""

import typer

from scout.commands.context import Invocation, command_group, get_invocation
from scout.commands.doctor import check_installation
from scout.terminal.output import print_lines

database_commands = command_group("db", "The database: migrations and checks.")
database_commands.command("doctor")(check_installation)


def add_to(app: typer.Typer) -> None:
    """Add this module's commands to the application."""
    app.add_typer(database_commands)


@database_commands.command("upgrade")
def upgrade_database(context: typer.Context) -> None:
    """Migrate the database to this version's schema.

    Runs of earlier versions get the stored findings that lists and figures are read from.
    """
    from catalog.storage.store import upgrade_schema

    invocation = get_invocation(context)
    before, after = upgrade_schema(invocation.settings)
    _backfill_findings(invocation)
    if before == after:
        print_lines(f"schema {after}: nothing to do")
    else:
        print_lines(f"schema {before or 'none'} -> {after}")


def _backfill_findings(invocation: Invocation) -> None:
    """Store the findings of the finished runs that have none; a killed upgrade goes on here."""
    from sqlmodel import select

    from catalog.models import Shop
    from reports.model.finding_storage import backfill_findings

    store = invocation.store
    with store.read() as session:
        shops = list(session.exec(select(Shop)))
    with invocation.progress() as progress:
        for shop in shops:
            backfill_findings(store, shop, progress=progress, rates=invocation.settings.rates)
