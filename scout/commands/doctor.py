"""`scout doctor` and `scout db`: checks of the installation, and migrations of the database."""

import typer

from scout.commands.context import Invocation, JsonOption, command_group, get_invocation
from scout.terminal.output import print_json, print_lines, print_table

database_commands = command_group("db", "The database: migrations and checks.")


def add_to(app: typer.Typer) -> None:
    """Add this module's commands to the application."""
    app.command("doctor")(check_installation)
    database_commands.command("doctor")(check_installation)
    app.add_typer(database_commands)


def check_installation(context: typer.Context, as_json: JsonOption = False) -> None:
    """Check the installation and the store.

    The exit code is 1 when something is wrong.
    """
    from scout.doctor.checks import run_checks

    results = run_checks(get_invocation(context).settings)
    if as_json:
        print_json([result.as_json() for result in results])
    else:
        rows = [(result.state, result.check, result.message) for result in results]
        print_table(("", "check", "found"), rows)
    if any(result.state == "wrong" for result in results):
        raise typer.Exit(1)


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
