"""A run in a process of its own, forked from one that has imported all packages already.

It does what `python -m scout run SHOP` does in a fresh interpreter, at a fraction of the cost: also
for a single run, whose stages need processes of their own, most modules are then imported once.
"""

import os
import runpy
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from socket import socket

from catalog.runtime import process_server
from catalog.runtime.served_process import DEFAULT_VARIABLES, ServedProcess

RUN_MODULES = (
    # Scrapy inspects all modules and all imports under way when it imports this one.
    "scrapy.core.downloader.contextfactory",
    "crawler.crawl",
    "crawler.preload",
    "matcher.match_job",
    "parser.parse_job",
    "reports.write.report_files",
    "rules_generator.learn_job",
    "scout.cli",
    "scout.pipeline.shop_run",
    "scout.terminal.run_output",
    "sqlalchemy.dialects.sqlite",
)
"""Modules that each run imports sooner or later."""

MANY_RUNS_MODULES = ("scout.pipeline.preload",)
"""Imported for many runs at once: one in which nothing has changed needs none of it."""

STANDARD_STREAMS = (0, 1, 2)
"""Descriptors of standard input, output and error."""

INTERRUPT_GRACE = 1.0
"""Seconds in which Ctrl-C on a terminal, which reaches all its processes, ends the run."""


def start_run(arguments: Sequence[str], out: int) -> ServedProcess:
    """Start `scout` with these arguments; its output goes to the descriptor `out`."""
    # Several runs cannot serve metrics on the one port of the settings.
    environment = {**os.environ, "SCOUT_METRICS_PORT": "0"}
    streams = {1: out, 2: out}
    return ServedProcess(
        _run_scout,
        (list(arguments), environment, list(streams)),
        fds=list(streams.values()),
        modules=(*RUN_MODULES, *MANY_RUNS_MODULES),
        leads_group=True,
    )


def is_run_process() -> bool:
    """Return True in a process that was forked for a run."""
    return process_server.request_socket is not None


def run_as_this_process(arguments: Sequence[str]) -> int:
    """Run `scout` with these arguments in a forked process, with this one's standard streams.

    Returns its exit code. Signals that end this process end the forked one as well.
    """
    streams = [stream for stream in STANDARD_STREAMS if _is_open(stream)]
    process = ServedProcess(
        _run_scout,
        (list(arguments), dict(os.environ), streams),
        fds=streams,
        modules=RUN_MODULES,
    )
    try:
        process.join()
    except KeyboardInterrupt:
        process.join(INTERRUPT_GRACE)
        _interrupt(process)
    finally:
        process.terminate()
        process.join()
    code = process.exitcode or 0
    return code if code >= 0 else 128 - code


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _interrupt(process: ServedProcess) -> None:
    if process.is_alive():
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGINT)
        process.join()


def _run_scout(
    channel: socket,
    fds: Sequence[int],
    arguments: Sequence[str],
    environment: Mapping[str, str],
    streams: Sequence[int],
) -> None:
    # Settings are read from the environment. It is set here and not when the process starts:
    # anybody on the machine may read the environment that a process has been started with.
    os.environ.clear()
    os.environ.update(DEFAULT_VARIABLES | dict(environment))
    for descriptor, stream in zip(fds, streams, strict=True):
        os.dup2(descriptor, stream)
    sys.argv = ["scout", *arguments]
    runpy.run_module("scout", run_name="__main__")
