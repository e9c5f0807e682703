"""A pool of runs within the machine's budget.

Each run is a process of its own; a limited number runs at once, each within its memory limit.

A slot is a lock of the operating system, so `scout serve` and `scout run --all` share one budget.
The memory of a run is the sum over its processes, checked every second. The operating system's own
limit (RLIMIT_AS) would count addresses that are mapped and never used, and end a run with a
traceback. A run over its limit is terminated with the reason in its row; it resumes in fresh
processes when it is started again.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import structlog
from sqlmodel import col, select

from catalog.errors import Busy
from catalog.models import Run, RunState
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.pipeline import locks

MEMORY_CHECK_INTERVAL = 1.0
"""Seconds between two checks of a run's memory."""

TERMINATION_GRACE = 15.0
"""Seconds that a run has to end after SIGTERM before it is killed."""

SLOT_INTERVAL = 0.2
"""Seconds between two attempts to get a slot."""

MEGABYTE = 1_000_000
"""Bytes in the unit of the setting `run_memory`."""

log = structlog.get_logger("scout.pipeline.run_pool")


@dataclass(frozen=True)
class RunResult:
    """The end of a run's process.

    `last_line` is of its output; `over_memory` is set where it was ended for its memory.
    """

    exit_code: int
    last_line: str = ""
    over_memory: bool = False
    seconds: float = 0.0


class RunPool:
    """Runs shops in processes of their own.

    `flags` are the global options of `scout`, passed on to them.
    """

    def __init__(self, settings: Settings, store: Store, flags: Sequence[str]) -> None:
        self._settings, self._store, self._flags = settings, store, list(flags)
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._stopped = threading.Event()

    def run(self, shop_id: int, name: str) -> RunResult:
        """Run a shop as soon as a slot is free, and wait for its end."""
        started = time.monotonic()
        with self._slot() as has_slot:
            if not has_slot:
                return RunResult(1, "not begun")
            path = run_log_path(self._settings, shop_id)
            with path.open("wb") as out:
                excess = self._watch(shop_id, name, out.fileno())
            process = self._running.pop(shop_id)
        seconds = time.monotonic() - started
        if excess:
            reason = self._store_reason(shop_id, excess)
            return RunResult(process.returncode, reason, True, seconds)
        return RunResult(process.returncode, _last_line(path), False, seconds)

    def stop(self) -> None:
        """Start no more runs and terminate those under way: they resume when they are run again."""
        self._stopped.set()
        for process in list(self._running.values()):
            process.terminate()

    def _watch(self, shop_id: int, name: str, out: int) -> int:
        """Start a run's process and wait for its end.

        Return the megabytes for which it was ended, else 0.
        """
        command = [sys.executable, "-m", "scout", *self._flags, "run", "--", name]
        # Several runs cannot serve metrics on the one port of the settings.
        environment = {**os.environ, "SCOUT_METRICS_PORT": "0"}
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=environment
        )
        self._running[shop_id] = process
        # stop() may have been called between the slot and the start, when there was no process to
        # terminate.
        if self._stopped.is_set():
            process.terminate()
        limit = self._settings.run_memory
        while True:
            try:
                process.wait(MEMORY_CHECK_INTERVAL)
                return 0
            except subprocess.TimeoutExpired:
                if limit and (used := process_memory(process.pid) // MEGABYTE) > limit:
                    end_process_tree(process)
                    return used

    @contextmanager
    def _slot(self) -> Iterator[bool]:
        """Hold one of the machine's slots for the block.

        Give False where the pool is stopped first.
        """
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
        log.warning("a run was ended", shop_id=shop_id, reason=reason)
        with self._store.write() as session:
            runs = select(Run).where(Run.shop_id == shop_id, col(Run.state) == RunState.RUNNING)
            if (run := session.exec(runs.order_by(col(Run.id).desc())).first()) is not None:
                run.reason = f"{reason}; the next run resumes it"
        return reason


def process_memory(pid: int) -> int:
    """Return the resident bytes of a process and its descendants; 0 where it does not exist."""
    total = 0
    for process in _process_tree(pid):
        try:
            total += process.memory_info().rss
        except psutil.Error:
            continue
    return total


def end_process_tree(process: "subprocess.Popen[bytes]") -> None:
    """End a process and its descendants: SIGTERM first, then SIGKILL."""
    # Listed before the parent ends: afterwards its children cannot be told from other processes.
    tree = _process_tree(process.pid)
    process.terminate()
    try:
        process.wait(TERMINATION_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for descendant in tree:
        if descendant.is_running():
            try:
                descendant.kill()
            except psutil.Error:
                continue


def run_log_path(settings: Settings, shop_id: int) -> Path:
    """Return the file that holds the output of a shop's run; its folder is made if needed."""
    folder = settings.data_dir / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"shop-{shop_id}.log"


def _process_tree(pid: int) -> list[psutil.Process]:
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.Error:
        return []


def _last_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[-1] if lines else ""
