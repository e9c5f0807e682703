"""Small programs in place of runs, in served processes as runs are."""

import os
import subprocess
import sys
from collections.abc import Sequence
from socket import socket

import pytest

from catalog.runtime.served_process import ServedProcess


def replace_runs(monkeypatch: pytest.MonkeyPatch, program: str) -> list[list[str]]:
    """Replace every run by a small program; return the list of the arguments of those started."""
    started: list[list[str]] = []

    def start(arguments: Sequence[str], out: int) -> ServedProcess:
        started.append(list(arguments))
        return ServedProcess(run_program, (program,), fds=[out], leads_group=True)

    monkeypatch.setattr("scout.pipeline.run_pool.start_run", start)
    return started


def run_program(channel: socket, fds: Sequence[int], program: str) -> None:
    """Run a program in another process, whose output goes to the descriptor passed."""
    for stream in (1, 2):
        os.dup2(fds[0], stream)
    sys.exit(subprocess.run([sys.executable, "-c", program], check=False).returncode)
