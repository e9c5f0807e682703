"""Jobs that the web application starts: the run of a shop, learning its rules, or an import.

Each is a process of its own within the machine's budget (`scout.pipeline.run_pool`). A shop has one
job at a time; the lock of the shop also holds off runs that others have started.
"""

import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

from catalog.errors import Busy
from catalog.models import Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.pipeline import locks
from scout.pipeline.run_pool import RunPool, RunResult
from scout.pipeline.run_records import shop_key

MAX_JOBS = 100
"""Jobs that wait or run at a time."""


class JobKind(StrEnum):
    """Kinds of jobs: the command of `scout` that does each."""

    RUN = "run"
    LEARN = "learn"
    IMPORT = "import"


_COMMANDS = {
    JobKind.RUN: ("run",),
    JobKind.LEARN: ("learn",),
    JobKind.IMPORT: ("catalog", "import"),
}


@dataclass(frozen=True)
class JobState:
    """The last job of a shop that this process started; `result` is None until it ends."""

    kind: JobKind
    result: RunResult | None = None

    @property
    def is_open(self) -> bool:
        """Return True if the job waits or runs."""
        return self.result is None

    @property
    def error(self) -> str | None:
        """The reason why the job failed, None where it did not."""
        if self.result is None or self.result.exit_code == 0:
            return None
        reason = self.result.last_line.removeprefix("error: ")
        return reason or f"ended with exit code {self.result.exit_code}"


class BackgroundJobs:
    """Starts and ends jobs until `stop`. `flags` are the global options of `scout`."""

    def __init__(self, settings: Settings, store: Store, flags: Sequence[str]) -> None:
        self._settings = settings
        self._pool = RunPool(settings, store, flags)
        self._executor = ThreadPoolExecutor(settings.at_once, "job")
        self._states: dict[int, JobState] = {}
        self._lock = threading.Lock()
        self._is_stopped = False

    def start(
        self,
        shop: Shop,
        kind: JobKind,
        options: Sequence[str] = (),
        arguments: Sequence[str] = (),
        *,
        fresh: bool = False,
    ) -> None:
        """Start a job. Raises Busy while the shop has one, or is run by another process.

        `options` are those of the command, and `arguments` stand behind the name of the shop.
        """
        shop_id = shop_key(shop)
        with self._lock:
            if self._is_stopped:
                raise Busy("the server is ending: try again when it is back")
            if self.is_busy(shop):
                raise Busy(f"shop {shop.name!r} is being run already: wait for that run to end")
            if sum(state.is_open for state in self._states.values()) >= MAX_JOBS:
                raise Busy(f"{MAX_JOBS} jobs are waiting already: try again later")
            self._states[shop_id] = JobState(kind)
            command = [*_COMMANDS[kind], *options]
            if fresh:
                command.append("--fresh")
            self._executor.submit(self._work, shop_id, shop.name, kind, command, arguments)

    def _work(
        self,
        shop_id: int,
        name: str,
        kind: JobKind,
        command: Sequence[str],
        arguments: Sequence[str],
    ) -> None:
        try:
            # A job that was ended while it waited is not begun.
            if self._states[shop_id].is_open:
                result = self._pool.run(shop_id, name, command, arguments)
                self._states[shop_id] = JobState(kind, result)
        except Exception:
            self._states[shop_id] = JobState(kind, RunResult(1, "the process could not be started"))
            raise

    def state(self, shop: Shop) -> JobState | None:
        """Return the last job of a shop that this process started."""
        return self._states.get(shop_key(shop))

    def forget(self, shop: Shop) -> None:
        """Forget the last job of a shop if it has ended."""
        with self._lock:
            state = self.state(shop)
            if state is not None and not state.is_open:
                del self._states[shop_key(shop)]

    def is_busy(self, shop: Shop) -> bool:
        """Return True if a job of the shop waits, or any process runs it."""
        state = self.state(shop)
        if state is not None and state.is_open:
            return True
        path = locks.lock_folder(self._settings) / f"{locks.shop_lock_name(shop_key(shop))}.lock"
        return locks.is_locked(path)

    def end(self, shop: Shop) -> bool:
        """End the run of a shop, whichever process on this machine does it; it can be resumed.

        Return False where none is under way.
        """
        shop_id = shop_key(shop)
        if self._pool.end_run(shop_id):
            return True
        state = self._states.get(shop_id)
        if state is not None and state.is_open:
            self._states[shop_id] = JobState(state.kind, RunResult(1, "ended before it began"))
            return True
        pid = locks.owner_pid(self._settings, locks.shop_lock_name(shop_id))
        if pid is None or pid == os.getpid():
            return False
        try:
            os.kill(pid, signal.SIGTERM)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def stop(self) -> None:
        """End all jobs: runs resume when they are run again."""
        with self._lock:
            self._is_stopped = True
        self._pool.stop()
        self._executor.shutdown(wait=True, cancel_futures=True)
