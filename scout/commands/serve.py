"""`scout serve`: the web pages, the JSON API, and the timetable."""

from typing import TYPE_CHECKING, Annotated

import typer

from scout.commands.context import get_invocation
from scout.terminal.output import print_note

if TYPE_CHECKING:
    from socket import socket

LOOPBACK = ("127.0.0.1", "localhost", "::1", "[::1]")
"""Host names of this machine, as they appear in a Host header."""


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
    """Serve the web pages and the timetable.

    The pages and the JSON API show the content of the store; scheduled shops are run, each in a
    process of its own.
    """
    import uvicorn

    from scout.schedule.timetable import Timetable
    from scout.terminal.logs import configure_structlog
    from scout.web.app import create_app

    invocation = get_invocation(context)
    settings, store = invocation.settings, invocation.store
    # The web application logs by structlog.
    configure_structlog()
    timetable = None
    if not no_schedule:
        timetable = Timetable(settings, store, invocation.flags())
    app = create_app(settings, store, [*LOOPBACK, host, *(allow_host or ())], timetable)
    listening = _listen(host, port)
    print_note(f"Scout serves http://{host}:{listening.getsockname()[1]}/ (Ctrl-C ends it)")
    if host not in LOOPBACK:
        print_note("anyone who reaches this address can read all findings: there is no login")
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False)
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        print_note("ended")


def _listen(host: str, port: int) -> "socket":
    """Open the listening socket; uvicorn itself would exit on a taken port instead of raising."""
    import socket

    from catalog.errors import ConfigError

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host}:{port}: {error.strerror}; choose others with --host, --port"
        ) from error
