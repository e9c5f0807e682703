"""The entry point, `scout`.

Exit codes: 0 done, 1 failed with one clear line on standard error, 2 wrong usage.

Commands live in `scout.commands` and raise errors; only here an error becomes a line and an exit
code. Unexpected errors become one line too, by `sys.excepthook` (calling `app` itself would install
typer's own hook); with `-v` the whole traceback is shown.
"""

import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any

import typer
from typer.main import get_command

from scout.commands import COMMAND_MODULES
from scout.commands.context import Invocation
from scout.terminal.output import print_error

GC_THRESHOLD = 50_000
"""Allocations between two garbage collections; Python's default costs a third of all imports."""

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT, as shells have it."""

TERMINATED = 143
"""Exit code after SIGTERM: 128 + SIGTERM."""

KILLED = 137
"""Exit code of a run that was killed: 128 + SIGKILL."""

app = typer.Typer(
    name="scout",
    help="Which offers of a shop does the catalog lack, and why?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in COMMAND_MODULES:
    module.add_to(app)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        from importlib.metadata import version

        typer.echo(f"scout {version('scout-offer-gaps')}")
        raise typer.Exit


@app.callback()
def _start(
    context: typer.Context,
    verbose: Annotated[
        bool,
        typer.Option(
            "-v", "--verbose", help="Log at debug level, and show the traceback of an error."
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
        typer.Option(metavar="FOLDER", help="The data folder (else SCOUT_DATA_DIR, else var/)."),
    ] = None,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    context.obj = Invocation(verbose, database_url, data_dir)


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute a command line, by default this process's own; return the exit code."""
    is_whole_process = arguments is None
    if arguments is None:
        gc.set_threshold(GC_THRESHOLD)
        arguments = sys.argv[1:]
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
        if not {"-v", "--verbose"} & set(arguments):
            sys.excepthook = _print_unexpected
    try:
        if is_whole_process and _is_single_run(arguments):
            # Imported late: no other command needs it.
            from scout.pipeline import run_process

            if not run_process.is_run_process():
                # The run prints everything, also what is wrong, unless it is killed.
                code = run_process.run_as_this_process(arguments)
                if code == KILLED:
                    print_error(
                        "the run was killed, perhaps because memory ran out: the same command "
                        "resumes it"
                    )
                return code
        code = _root_command()(list(arguments), prog_name="scout", standalone_mode=False)
        # Flushed here, so that a reader that has gone away is noticed before Python shuts down.
        sys.stdout.flush()
    except typer.Abort:
        print_error("not done, as asked")
        return 1
    except (BrokenPipeError, SystemExit) as error:
        # A command that exits while it handles a broken pipe is a broken pipe as well.
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        return _ignore_broken_pipe()
    except typer.TyperException as error:
        return _report_wrong_usage(error)
    except _expected_errors() as error:
        return _report_failure(error)
    if code == INTERRUPTED:
        print_error("interrupted: the same command resumes the work")
    return code if isinstance(code, int) else 0


def _is_single_run(arguments: Sequence[str]) -> bool:
    """Return True for `scout run SHOP`, without reading its options: that takes a tenth of a second.

    >>> _is_single_run(["--data-dir", "var", "run", "lumo"]), _is_single_run(["run", "--all"])
    (True, False)
    """
    remaining = iter(arguments)
    for argument in remaining:
        if argument in ("--data-dir", "--database-url"):
            next(remaining, None)
        elif not argument.startswith("-"):
            options = list(remaining)
            is_other = {"--all", "-h", "--help"} & set(options)
            has_shop = any(not option.startswith("-") for option in options)
            return argument == "run" and has_shop and not is_other
    return False


@cache
def _root_command() -> Callable[..., Any]:
    """Build the tree of all commands: most of the time of a short call that is not the first."""
    return get_command(app)


def _expected_errors() -> tuple[type[Exception], ...]:
    # Imported when an error is raised: `scout --help` loads none of the packages below.
    from catalog.errors import BadUrl, ScoutError

    return ScoutError, BadUrl


def _report_failure(error: Exception) -> int:
    from catalog.errors import UnknownShop, UsageError

    print_error(str(error))
    is_usage = isinstance(error, UsageError) and not isinstance(error, UnknownShop)
    return 2 if is_usage else 1


def _report_wrong_usage(error: typer.TyperException) -> int:
    context = getattr(error, "ctx", None)
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    # A group without a command: typer raises an error whose message is the group's help.
    if not message or type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(message or (context.get_help() if context else ""), err=True)
        return 2
    if context:
        message += f" (see '{context.command_path} --help')"
    print_error(message)
    return int(getattr(error, "exit_code", 2))


def _ignore_broken_pipe() -> int:
    """Return exit code 0 where the reader of our output has gone, as `head` does."""
    # Python flushes standard output when it exits, and would complain about the closed pipe.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _print_unexpected(
    kind: type[BaseException], error: BaseException, _trace: TracebackType | None
) -> None:
    hint = "the same command with 'scout -v ...' shows where; please report it"
    print_error(f"unexpected {kind.__name__}: {error} ({hint})")
