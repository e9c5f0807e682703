"""The one entry point, `scout`. Exit codes: 0 done, 1 failed with one clear line on standard error, 2 wrong usage.

Commands live in `scout.commands` and raise what goes wrong; it becomes a line and an exit code here and nowhere else.
What nobody foresaw becomes one line too, by `sys.excepthook` (which a call of `app` itself would set to typer's own);
with `-v` the whole traceback is shown.
"""

import os
import signal
import sys
from collections.abc import Sequence
from importlib.metadata import version as version_of
from pathlib import Path
from types import TracebackType
from typing import Annotated

import typer
from typer.main import get_command

from scout.commands import ROOMS
from scout.commands.context import Call
from scout.terminal.output import complain

INTERRUPTED = 130
TERMINATED = 143

app = typer.Typer(
    name="scout",
    help="Which offers of a shop does the catalog lack, and why?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for room in ROOMS:
    room.add_to(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"scout {version_of('scout-offer-gaps')}")
        raise typer.Exit


@app.callback()
def _start(
    context: typer.Context,
    verbose: Annotated[
        bool,
        typer.Option(
            "-v", "--verbose", help="Log all that happens, and show where an error arose."
        ),
    ] = False,
    database_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The database, such as sqlite:///var/scout.db (else SCOUT_DATABASE_URL).",
        ),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where data is kept (else SCOUT_DATA_DIR, else var/)."),
    ] = None,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and end."
        ),
    ] = False,
) -> None:
    context.obj = Call(verbose, database_url, data_dir)


def main(words: Sequence[str] | None = None) -> int:
    """Carry out a command line, this process's own where none is given; gives the exit code."""
    given = sys.argv[1:] if words is None else list(words)
    if words is None:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
        if not {"-v", "--verbose"} & set(given):
            sys.excepthook = _say_briefly
    try:
        code = get_command(app)(given, prog_name="scout", standalone_mode=False)
        sys.stdout.flush()
    except typer.Abort:
        complain("not done, as asked")
        return 1
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        return _nobody_reads()
    except typer.TyperException as error:
        return _wrong_usage(error)
    except _ours() as error:
        return _failed(error)
    if code == INTERRUPTED:
        complain("interrupted: the same command goes on where it stopped")
    return code if isinstance(code, int) else 0


def _ours() -> tuple[type[Exception], ...]:
    from catalog.errors import BadUrl, ScoutError

    return ScoutError, BadUrl


def _failed(error: Exception) -> int:
    from catalog.errors import UnknownShop, UsageError

    complain(str(error))
    return 2 if isinstance(error, UsageError) and not isinstance(error, UnknownShop) else 1


def _wrong_usage(error: typer.TyperException) -> int:
    context = getattr(error, "ctx", None)
    said = error.format_message() if hasattr(error, "format_message") else str(error)
    if not said or type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(said or (context.get_help() if context else ""), err=True)
        return 2
    complain(said + (f" (see '{context.command_path} --help')" if context else ""))
    return int(getattr(error, "exit_code", 2))


def _nobody_reads() -> int:
    """Whoever read our output has gone, as `head` does: that is no failure; Python shall not complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _say_briefly(
    kind: type[BaseException], error: BaseException, _trace: TracebackType | None
) -> None:
    shows = "the same command with 'scout -v ...' shows where; please report it"
    complain(f"unexpected {kind.__name__}: {error} ({shows})")
