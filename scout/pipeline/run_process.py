"""A run in a process of its own, forked from one that has imported all packages already.

It does what `python -m scout run SHOP` does in a fresh interpreter, at a fraction of the cost.
"""

import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from socket import socket

from catalog.runtime.served_process import ServedProcess

RUN_MODULES = (
    "crawler.crawl",
    "crawler.spider",
    "matcher.match_job",
    "parser.parse_job",
    "reports.write.report_files",
    "rules_generator.learn",
    "scout.cli",
    "scout.pipeline.shop_run",
    "scout.terminal.run_output",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.core.engine",
    "scrapy.crawler",
)
"""Modules that a run imports sooner or later."""


def start_run(arguments: Sequence[str], out: int) -> ServedProcess:
    """Start `scout` with these arguments; its output goes to the descriptor `out`."""
    # Several runs cannot serve metrics on the one port of the settings.
    environment = {**os.environ, "SCOUT_METRICS_PORT": "0"}
    return ServedProcess(
        _run_scout,
        (list(arguments), environment),
        fds=[out],
        modules=RUN_MODULES,
        leads_group=True,
    )


def _run_scout(
    channel: socket, fds: Sequence[int], arguments: Sequence[str], environment: Mapping[str, str]
) -> None:
    # Settings are read from the environment. It is set here and not when the process starts:
    # anybody on the machine may read the environment that a process has been started with.
    os.environ.clear()
    os.environ.update(environment)
    for descriptor in (sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(fds[0], descriptor)
    sys.argv = ["scout", *arguments]
    runpy.run_module("scout", run_name="__main__")
