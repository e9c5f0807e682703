"""A pool of runs within the machine's budget.

Each run is a process of its own (`scout.pipeline.run_process`), which leads a process group; a
limited number runs at once, each within its memory limit.

A slot is a lock of the operating system, so `scout serve` and `scout run --all` share one budget.
The memory of a run is the sum over the processes of its group, checked every second. The operating
system's own limit (RLIMIT_AS) would count addresses that are mapped and never used, and end a run
with a traceback. A run over its limit is terminated with the reason in its row; it resumes in fresh
processes when it is started again.
"""

import logging
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import psutil
from sqlmodel import col, select

from catalog.errors import Busy
from catalog.models import Run, RunState
from catalog.runtime.served_process import ServedProcess
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.pipeline import locks
from scout.pipeline.run_process import start_run

MEMORY_CHECK_INTERVAL = 1.0
"""Seconds between two checks of a run's memory."""

TERMINATION_GRACE = 15.0
"""Seconds that a run has to end after SIGTERM before it is killed."""

SLOT_INTERVAL = 0.2
"""Seconds between two attempts to get a slot."""

MEGABYTE = 1_000_000
"""Bytes in the unit of the setting `run_memory`."""

log = logging.getLogger("scout.pipeline.run_pool")


@dataclass(frozen=True)
class RunResult:
    """The end of a run's process.

    `last_line` is of its output; `over_memory` is set where it was ended for its memory.
    """

    exit_code: int
    last_line: str = ""
    over_memory: bool = False
    seconds: float = 0.0

    @property
    def failure_reason(self) -> str:
        """Return the error that the process printed last, or else its exit code."""
        return self.last_line.removeprefix("error: ") or f"ended with exit code {self.exit_code}"


class RunPool:
    """Runs shops in processes of their own.

    `flags` are the global options of `scout`, passed on to them, and `options` those of `scout
    run`. Without `shares_slots` the caller bounds the number of runs itself.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        flags: Sequence[str],
        options: Sequence[str] = (),
        *,
        shares_slots: bool = True,
    ) -> None:
        self._settings, self._store = settings, store
        self._shares_slots = shares_slots
        self._flags, self._run_command = list(flags), ["run", *options]
        self._running: dict[int, ServedProcess] = {}
        self._stopped = threading.Event()

    def run(
        self,
        shop_id: int,
        name: str,
        command: Sequence[str] = (),
        arguments: Sequence[str] = (),
    ) -> RunResult:
        """Run a shop, or another command on it, as soon as a slot is free, and wait for its end.

        `arguments` of the command stand behind the name of the shop.
        """
        started = time.monotonic()
        command = command or self._run_command
        with self._slot() as has_slot:
            if not has_slot:
                return RunResult(1, "not begun")
            with run_log_path(self._settings, shop_id).open("w+b") as out:
                excess = self._watch(shop_id, [*command, "--", name, *arguments], out.fileno())
                # Read from the open file: its name is gone if the shop was removed meanwhile.
                last_line = _last_line(out)
            process = self._running.pop(shop_id)
            process.close()
        seconds = time.monotonic() - started
        exit_code = process.exitcode or 0
        if excess:
            reason = self._store_reason(shop_id, excess)
            return RunResult(exit_code, reason, True, seconds)
        return RunResult(exit_code, last_line, False, seconds)

    def stop(self) -> None:
        """Start no more runs and terminate those under way: they resume when they are run again."""
        self._stopped.set()
        for process in list(self._running.values()):
            process.terminate()

    def kill(self) -> None:
        """Start no more runs and kill those under way: they resume when they are run again."""
        self._stopped.set()
        for process in list(self._running.values()):
            process.kill()

    def end_run(self, shop_id: int) -> bool:
        """Terminate the run of a shop; return False where this pool has none."""
        process = self._running.get(shop_id)
        if process is None:
            return False
        process.terminate()
        return True

    def _watch(self, shop_id: int, arguments: Sequence[str], out: int) -> int:
        """Start a run's process and wait for its end.

        Return the megabytes for which it was ended, else 0.
        """
        process = start_run([*self._flags, *arguments], out)
        self._running[shop_id] = process
        # stop() may have been called between the slot and the start, when there was no process to
        # terminate.
        if self._stopped.is_set():
            process.terminate()
        limit = self._settings.run_memory
        while True:
            process.join(MEMORY_CHECK_INTERVAL)
            if not process.is_alive():
                return 0
            if limit and (used := process_memory(process.pid) // MEGABYTE) > limit:
                end_process_group(process)
                return used

    @contextmanager
    def _slot(self) -> Iterator[bool]:
        """Hold one of the machine's slots for the block.

        Give False where the pool is stopped first.
        """
        if not self._shares_slots:
            yield not self._stopped.is_set()
            return
        with ExitStack() as stack:
            while not self._stopped.is_set():
                for number in range(self._settings.at_once):
                    try:
                        lock = locks.hold_lock(self._settings, f"slot-{number}", "taken")
                        stack.enter_context(lock)
                    except Busy:
                        continue
                    yield True
                    return
                self._stopped.wait(SLOT_INTERVAL)
            yield False

    def _store_reason(self, shop_id: int, used: int) -> str:
        limit = self._settings.run_memory
        reason = (
            f"the run used {used} MB, more than run_memory allows ({limit} MB), and was stopped"
        )
        log.warning("a run was ended", extra={"shop_id": shop_id, "reason": reason})
        with self._store.write() as session:
            runs = select(Run).where(Run.shop_id == shop_id, col(Run.state) == RunState.RUNNING)
            if (run := session.exec(runs.order_by(col(Run.id).desc())).first()) is not None:
                run.reason = f"{reason}; the next run resumes it"
        return reason


def process_memory(group: int) -> int:
    """Return the resident bytes of a process group and its descendants; 0 where there is none."""
    total = 0
    for process in _group_processes(group):
        try:
            total += process.memory_info().rss
        except psutil.Error:
            continue
    return total


def end_process_group(process: ServedProcess) -> None:
    """End the process that leads a group, and its group: SIGTERM first, then SIGKILL."""
    # Listed before the leader ends: afterwards a new group may have its number.
    group = _group_processes(process.pid)
    process.terminate()
    process.end(TERMINATION_GRACE)
    for member in group:
        with suppress(psutil.Error):
            # A process that has got the number of one that ended is not killed.
            member.kill()


def run_log_path(settings: Settings, shop_id: int) -> Path:
    """Return the file that holds the output of a shop's run; its folder is made if needed."""
    folder = settings.data_dir / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"shop-{shop_id}.log"


def _group_processes(group: int) -> list[psutil.Process]:
    """List the processes of a group, and their descendants: browsers lead groups of their own."""
    processes = {process.pid: process for process in psutil.process_iter()}
    children: dict[int, list[int]] = {}
    members = []
    for number, process in processes.items():
        with suppress(psutil.Error, OSError):
            children.setdefault(process.ppid(), []).append(number)
            if os.getpgid(number) == group:
                members.append(number)
    listed = dict.fromkeys(members)
    while members:
        for child in children.get(members.pop(), ()):
            if child not in listed:
                listed[child] = None
                members.append(child)
    return [processes[number] for number in listed]


def _last_line(out: BinaryIO) -> str:
    out.seek(0)
    lines = out.read().decode(encoding="utf-8", errors="replace").splitlines()
    return lines[-1] if lines else ""
