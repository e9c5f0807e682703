"""The context of a command: global options, and the settings and store that follow from them."""

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

import typer

from scout.terminal.output import print_note

if TYPE_CHECKING:
    from catalog.models import Run, Shop
    from catalog.runtime.progress import Progress
    from catalog.runtime.settings import Settings
    from catalog.runtime.spark.session import SparkJobs
    from catalog.storage.store import Store

MAX_ROWS = 1_000_000_000
"""Largest count that an option takes: a bound against numbers that the database cannot store."""

READING_SECONDS = 600
"""Seconds of processor time in which a command reads pages: a bound against hostile input."""

GRACE_SECONDS = 60
"""Seconds of processor time between the error of a limit and the end by the operating system."""

FollowOption = Annotated[
    bool,
    typer.Option(
        "--follow",
        help="Resolve links that hide their target: one request each, which may count as a paid click.",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON for scripts instead of tables.")
]
ShopArgument = Annotated[
    str, typer.Argument(metavar="SHOP", help="The shop's name, as given to 'scout shop add'.")
]
EngineOption = Annotated[
    Literal["local", "spark"],
    typer.Option(
        help="Where the work is done: on this machine, or by Spark (needs the extra spark)."
    ),
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="With --engine spark: its master, as spark://HOST:7077 (else local[*]: all cores of this machine).",
    ),
]


def check_writable(path: Path | None) -> Path | None:
    """Check the file of an output option before any work is done.

    Raises UsageError where it cannot be made.
    """
    from catalog.errors import UsageError

    if path is None:
        return None
    if path.is_dir():
        raise UsageError(f"{path} cannot be written: it is a folder")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path} cannot be written: {path.parent} is no folder")
    return path


@dataclass
class Invocation:
    """One invocation of `scout` with its global options; None where an option was not given."""

    verbose: bool = False
    database_url: str | None = None
    data_dir: Path | None = None

    @cached_property
    def settings(self) -> "Settings":
        """The settings in force; logging is set up by them. Raises ConfigError."""
        from catalog.runtime.settings import Settings
        from scout.terminal import logs

        if self.database_url is not None and urlsplit(self.database_url).password:
            print_note(
                "everybody on this machine can read the password in --database-url: "
                "use SCOUT_DATABASE_URL or SCOUT_DATABASE_URL_FILE"
            )
        settings = Settings.load(database_url=self.database_url, data_dir=self.data_dir)
        logs.configure_logging(settings, self.verbose)
        if settings.traces_url:
            from catalog.runtime.telemetry.tracing import start_traces, stop_traces

            start_traces(settings.traces_url)
            atexit.register(stop_traces)
        return settings

    @cached_property
    def store(self) -> "Store":
        """The opened store. Raises StoreError, ConfigError."""
        from catalog.storage.store import Store

        return Store.open(self.settings)

    def shop(self, name: str) -> "Shop":
        """Return the shop of that name. Raises UnknownShop."""
        return self.store.shop(name)

    @contextmanager
    def progress(self) -> "Iterator[Progress]":
        """Display progress for the block, and serve it to Prometheus if a port is set."""
        from scout.terminal.progress import show_progress

        with show_progress(as_json=self.settings.log_format == "json") as progress:
            if not self.settings.metrics_port:
                yield progress
                return
            from scout.metrics.run_metrics import serve_run_metrics

            with serve_run_metrics(self.settings.metrics_port, progress) as served_progress:
                yield served_progress

    @contextmanager
    def limited(self, seconds: int = READING_SECONDS) -> "Iterator[None]":
        """Limit this process for the block, in which it reads pages or a feed from outside.

        Its memory is limited by the setting `run_memory`, its processor time to `seconds`. Raises
        WorkerError beyond that.
        """
        from catalog.errors import WorkerError
        from catalog.runtime.limits.process_limits import ProcessLimits
        from catalog.runtime.limits.processor_time import ProcessorTimeLimit

        memory = self.settings.run_memory
        # The operating system ends a process that an extension module does not return to.
        limits = ProcessLimits(memory, seconds + GRACE_SECONDS)
        try:
            with limits.enforced(), ProcessorTimeLimit(seconds):
                yield
        except MemoryError as error:
            raise WorkerError(
                f"this needs more memory than 'run_memory' allows ({memory} MB): nothing was stored"
            ) from error
        except TimeoutError as error:
            raise WorkerError(f"{error}: nothing was stored") from error

    def flags(self) -> list[str]:
        """Return the global options as arguments for another `scout` process."""
        arguments = ["--verbose"] if self.verbose else []
        if self.database_url is not None:
            arguments += ["--database-url", self.database_url]
        if self.data_dir is not None:
            arguments += ["--data-dir", str(self.data_dir)]
        return arguments


@contextmanager
def open_engine(
    invocation: Invocation, engine: str, master: str | None
) -> "Iterator[SparkJobs | None]":
    """Start Spark if it is the engine; None stands for the local engine.

    Raises UsageError, and ConfigError where Spark is not installed.
    """
    from catalog.errors import UsageError

    if engine == "local":
        if master is not None:
            raise UsageError("--master: names the master of --engine spark, which is not given")
        yield None
        return
    from catalog.runtime.spark import DEFAULT_MASTER
    from catalog.runtime.spark.session import open_spark

    folder = invocation.settings.spark_folder
    with open_spark(master or DEFAULT_MASTER, folder=folder) as jobs:
        yield jobs


def get_invocation(context: typer.Context) -> Invocation:
    """Return the invocation that a command's context belongs to."""
    invocation = context.find_object(Invocation)
    assert invocation is not None
    return invocation


def require_run(invocation: Invocation, shop: "Shop") -> "Run":
    """Return the shop's newest run, finished or not. Raises UsageError where it has none."""
    from catalog.errors import UsageError
    from scout.pipeline import run_records

    run = run_records.latest_run(invocation.store, shop)
    if run is None:
        raise UsageError(f"shop {shop.name!r} has not been run yet: 'scout run {shop.name}'")
    return run


def require_finished_run(invocation: Invocation, shop: "Shop") -> "Run":
    """Return the shop's last finished run; mention a newer one that is under way or failed.

    Raises UsageError where no run has finished.
    """
    from catalog.errors import UsageError
    from scout.pipeline import run_records

    newest = require_run(invocation, shop)
    finished = run_records.shop_runs(invocation.store, shop).finished
    state = f"run {newest.id} is under way ({newest.stage})"
    if newest.state == "failed":
        state = f"run {newest.id} failed: {newest.reason}"
    if finished is None:
        raise UsageError(
            f"no run of shop {shop.name!r} has finished; {state}: 'scout run {shop.name}' resumes it"
        )
    if finished.id != newest.id:
        print_note(f"{state}; these are the figures of run {finished.id}, the last finished one")
    return finished


def command_group(name: str, summary: str) -> typer.Typer:
    """Make a group of commands, such as `scout shop ...`."""
    return typer.Typer(name=name, help=summary, no_args_is_help=True, rich_markup_mode=None)
