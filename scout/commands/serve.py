"""`scout serve`: the web pages, the JSON API, and the timetable."""

from typing import Annotated

import typer

from scout.commands.context import get_invocation


def add_to(app: typer.Typer) -> None:
    """Add this module's command to the application."""
    app.command("serve")(serve_web)


def serve_web(
    context: typer.Context,
    host: Annotated[str, typer.Option(metavar="H", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="P", help="The port; 0 for any free one.")
    ] = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another host name to answer to; may be repeated."),
    ] = None,
    no_schedule: Annotated[
        bool, typer.Option("--no-schedule", help="Do not run scheduled shops.")
    ] = False,
) -> None:
    """Serve the web pages, the JSON API, and the timetable.

    The first start makes the account 'admin' and prints its password. Scheduled shops are run, each
    in a process of its own.
    """
    from scout.web.server import serve_application

    invocation = get_invocation(context)
    serve_application(
        invocation.settings,
        invocation.store,
        invocation.flags(),
        host=host,
        port=port,
        further_hosts=allow_host or (),
        runs_schedule=not no_schedule,
    )
