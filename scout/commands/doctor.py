"""`scout doctor` and `scout db`: whether all is well with the installation and the store, and migrations."""

from dataclasses import asdict

import typer

from scout.commands.context import Json, call, group
from scout.terminal.output import say, say_json, table

database = group("db", "The database: migrations and checks.")


def add_to(app: typer.Typer) -> None:
    """Put this module's commands into the application."""
    app.command("doctor")(doctor)
    database.command("doctor")(doctor)
    app.add_typer(database)


def doctor(context: typer.Context, as_json: Json = False) -> None:
    """Check the installation and the store.

    The exit code is 1 when something is wrong.
    """
    from scout.doctor import examine

    findings = examine(call(context).settings)
    if as_json:
        say_json([asdict(finding) for finding in findings])
    else:
        table(
            ("", "check", "found"),
            [(finding.state, finding.check, finding.found) for finding in findings],
        )
    if any(finding.state == "wrong" for finding in findings):
        raise typer.Exit(1)


@database.command("upgrade")
def upgrade(context: typer.Context) -> None:
    """Bring the database to this Scout's schema."""
    from catalog.storage.store import upgrade as bring_up

    before, after = bring_up(call(context).settings)
    say(
        f"schema {after}: nothing to do"
        if before == after
        else f"schema {before or 'none'} -> {after}"
    )
