"""The server of the web application: its first account, its socket, and its end."""

import signal
import socket
from collections.abc import Callable, Sequence
from functools import partial

import uvicorn

from catalog.errors import ConfigError
from catalog.runtime.garbage_collection import tune_gc
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.attention.assessment import refresh_attention
from scout.delivery.dispatch import send_delivery
from scout.maintenance.prune import daily_pruning
from scout.schedule.timetable import Timetable
from scout.terminal.logs import configure_structlog
from scout.terminal.output import print_note
from scout.web.access import accounts
from scout.web.app import create_app

LOOPBACK = ("127.0.0.1", "localhost", "::1", "[::1]")
"""Host names of this machine, as they appear in a Host header."""


def serve_application(
    settings: Settings,
    store: Store,
    flags: Sequence[str],
    *,
    host: str = LOOPBACK[0],
    port: int = 0,
    further_hosts: Sequence[str] = (),
    runs_schedule: bool = True,
    on_start: Callable[[str], None] | None = None,
) -> None:
    """Serve the web application until Ctrl-C or SIGTERM; `on_start` gets its address.

    `flags` are the global options of `scout` for the processes that it starts. Without an account,
    the first one is made and its password printed. Raises ConfigError where the address is taken,
    or others could sign in before the first account's owner does.
    """
    # The web application logs by structlog.
    configure_structlog()
    _make_first_admin(store, host)
    timetable = None
    if runs_schedule:
        timetable = Timetable(
            settings,
            store,
            list(flags),
            partial(send_delivery, settings, store),
            daily_pruning(settings, store),
            partial(refresh_attention, store),
        )
    hosts = [*LOOPBACK, host, *further_hosts]
    app = create_app(settings, store, hosts, timetable, flags)
    # A collection of everything that is loaded by now takes 0.2 s, in the midst of some answer.
    tune_gc()
    listening = _listen(host, port)
    address = f"http://{host}:{listening.getsockname()[1]}/"
    print_note(f"Scout serves {address} (Ctrl-C ends it)")
    if on_start is not None:
        on_start(address)
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False)
    # uvicorn answers the requests under way, then raises the signal again for the handler that was
    # there before: a server that was asked to end has not failed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        print_note("ended")


def _make_first_admin(store: Store, host: str) -> None:
    """Make the first account and print its password once. Raises ConfigError."""
    if accounts.has_accounts(store):
        return
    if host not in LOOPBACK:
        raise ConfigError(
            f"{host} can be reached from other machines, and there is no account yet: "
            f"'scout user add NAME --role admin' adds one"
        )
    password = accounts.make_first_admin(store)
    if password is not None:
        print_note(
            f"first start: sign in as {accounts.FIRST_ADMIN!r} with the password {password} "
            f"(shown once; 'scout user password {accounts.FIRST_ADMIN}' sets another)"
        )


def _listen(host: str, port: int) -> socket.socket:
    """Open the listening socket; uvicorn itself would exit on a taken port instead of raising."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host}:{port}: {error.strerror}; choose others with --host, --port"
        ) from error
