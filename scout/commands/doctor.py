"""`scout doctor`: checks of the installation and the store."""

import typer

from scout.commands.context import JsonOption, get_invocation
from scout.terminal.output import print_json, print_table


def add_to(app: typer.Typer) -> None:
    """Add this module's command to the application."""
    app.command("doctor")(check_installation)


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
