"""Shops side by side: each run a process of its own, so many at once on this machine, each within its memory.

A slot is a lock of the operating system's, so `scout serve` and `scout run --all` share one budget. Memory is what the
run's processes hold together, looked at every second: a limit of the operating system on addresses (RLIMIT_AS) would
count what is mapped and never used, and end a run with a traceback. A run over its limit is ended as by a kill, with
the reason on its row; it goes on where it was when it is started again, in fresh processes.
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

LOOK = 1.0
GRACE = 15.0
MEGABYTE = 1_000_000
log = structlog.get_logger("scout.pipeline.run_pool")


@dataclass(frozen=True)
class Ended:
    """How a run's process ended: its exit code, its last line, and whether it was ended for its memory."""

    code: int
    said: str = ""
    over_memory: bool = False
    seconds: float = 0.0


class Fleet:
    """Runs shops in processes of their own. `flags` are scout's global ones."""

    def __init__(self, settings: Settings, store: Store, flags: Sequence[str]) -> None:
        self._settings, self._store, self._flags = settings, store, list(flags)
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._stopped = threading.Event()

    def run(self, shop_id: int, name: str) -> Ended:
        """Run a shop when there is a slot, and wait for its end."""
        begin = time.monotonic()
        with self._slot() as given:
            if not given:
                return Ended(1, "not begun")
            path = log_of(self._settings, shop_id)
            with path.open("wb") as out:
                over = self._watched(shop_id, name, out.fileno())
            process = self._running.pop(shop_id)
        if over:
            said = self._keep_reason(shop_id, over)
            return Ended(process.returncode, said, True, time.monotonic() - begin)
        return Ended(process.returncode, _last_line(path), False, time.monotonic() - begin)

    def stop(self) -> None:
        """Begin no more, and have the runs under way end: they go on when they are run again."""
        self._stopped.set()
        for process in list(self._running.values()):
            process.terminate()

    def _watched(self, shop_id: int, name: str, out: int) -> int:
        """Start a run's process and see it to its end; gives the megabytes for which it was ended, else 0."""
        command = [sys.executable, "-m", "scout", *self._flags, "run", "--", name]
        environment = {**os.environ, "SCOUT_METRICS_PORT": "0"}
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=environment
        )
        self._running[shop_id] = process
        if self._stopped.is_set():
            process.terminate()
        limit = self._settings.run_memory
        while True:
            try:
                process.wait(LOOK)
                return 0
            except subprocess.TimeoutExpired:
                if limit and (used := memory_of(process.pid) // MEGABYTE) > limit:
                    end(process)
                    return used

    @contextmanager
    def _slot(self) -> Iterator[bool]:
        """One of the machine's slots for the block; False where the fleet was stopped before one was free."""
        with ExitStack() as holding:
            while not self._stopped.is_set():
                for number in range(self._settings.at_once):
                    try:
                        holding.enter_context(locks.held(self._settings, f"slot-{number}", "taken"))
                    except Busy:
                        continue
                    yield True
                    return
                self._stopped.wait(0.2)
            yield False

    def _keep_reason(self, shop_id: int, used: int) -> str:
        said = f"the run held {used} MB, more than run_memory allows ({self._settings.run_memory} MB): it was ended"
        log.warning("a run was ended", shop_id=shop_id, reason=said)
        with self._store.write() as session:
            runs = select(Run).where(Run.shop_id == shop_id, col(Run.state) == RunState.RUNNING)
            if (run := session.exec(runs.order_by(col(Run.id).desc())).first()) is not None:
                run.reason = f"{said}, and goes on where it was with the next one"
        return said


def memory_of(pid: int) -> int:
    """The bytes that a process and all that it has started hold now."""
    total = 0
    for process in _tree(pid):
        try:
            total += process.memory_info().rss
        except psutil.Error:
            continue
    return total


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and all that it has started: asked first, then made to."""
    tree = _tree(process.pid)
    process.terminate()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for left in tree:
        if left.is_running():
            try:
                left.kill()
            except psutil.Error:
                continue


def log_of(settings: Settings, shop_id: int) -> Path:
    """Where a shop's run in a process of its own writes what it says."""
    folder = settings.data_dir / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"shop-{shop_id}.log"


def _tree(pid: int) -> list[psutil.Process]:
    try:
        first = psutil.Process(pid)
        return [first, *first.children(recursive=True)]
    except psutil.Error:
        return []


def _last_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[-1] if lines else ""
