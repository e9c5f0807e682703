"""Machines: each a data folder, a clock, and a line to the database, with processes of Scout."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from tests.faults.clocks import Clock
from tests.faults.relay import Relay

ROOT = Path(__file__).parents[2]
LEASE_SECONDS = 4.0
"""Seconds of a lease: the default of 90 would make every fault take minutes."""

ATTEMPTS = 1_000
"""Attempts at a job until it is set aside: faults cause more failures than a shop does."""


class Machine:
    """One machine; `relay` is None where the database is a file."""

    def __init__(
        self, folder: Path, clock: Clock, variables: Mapping[str, str], relay: Relay | None = None
    ) -> None:
        self.name = folder.name
        self.folder, self.clock, self.relay = folder, clock, relay
        self.is_frozen = False
        self.commands: dict[subprocess.Popen[bytes], list[str]] = {}
        self._variables = dict(variables)
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder.with_suffix(".log")

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command of Scout; its output is added to the machine's log."""
        kept = {name: value for name, value in os.environ.items() if "SCOUT_" not in name}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        environment = {
            **kept,
            "SCOUT_LEASE_SECONDS": str(LEASE_SECONDS),
            "SCOUT_JOB_ATTEMPTS": str(ATTEMPTS),
            "SCOUT_AT_ONCE": "2",
            **self.clock.variables(),
            **self._variables,
        }
        command = [sys.executable, "-m", "scout", "--data-dir", str(self.folder), *arguments]
        with self.log.open("ab") as log:
            log.write(f"\n$ scout {' '.join(arguments)}\n".encode())
            log.flush()
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self.commands[process] = list(arguments)
        return process

    def reap(self) -> list[tuple[list[str], int]]:
        """Return the commands that have ended since, with their exit codes."""
        ended = []
        for process, arguments in list(self.commands.items()):
            if process.poll() is not None:
                del self.commands[process]
                ended.append((arguments, process.returncode))
        return ended

    def processes(self) -> list[psutil.Process]:
        """Return all processes of the machine, parents before their children."""
        listed: list[psutil.Process] = []
        for process in self.commands:
            with suppress(psutil.Error):
                parent = psutil.Process(process.pid)
                listed += [parent, *parent.children(recursive=True)]
        return listed

    def stop(self, seconds: float) -> None:
        """End all commands by SIGTERM, and by SIGKILL what then runs."""
        for process in self.commands:
            process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + seconds
        for process in self.commands:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, deadline - time.monotonic()))
        self.kill()

    def kill(self) -> None:
        """Kill all processes, as if the machine lost its power."""
        send(self.processes(), signal.SIGKILL)
        for process in self.commands:
            process.wait(30)


def send(processes: Sequence[psutil.Process], number: int) -> None:
    """Send a signal to processes, of which some may have ended."""
    for process in processes:
        with suppress(psutil.Error):
            process.send_signal(number)
