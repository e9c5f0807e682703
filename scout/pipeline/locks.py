"""Locks: one run per shop, one leader of the timetable, a limited number of runs per machine.

Each is a lock of the operating system on a file. The system releases it when the process ends, even
by kill -9; a row in the database or a pid file would outlive a killed process. The file itself
stays and means nothing. Locks hold on one machine: where several machines share a database, run a
shop always on the same one.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from catalog.errors import Busy, ConfigError
from catalog.runtime.settings import Settings


def lock_folder(settings: Settings) -> Path:
    """Return the folder of the lock files, made if needed.

    Raises ConfigError where it cannot be made.
    """
    path = settings.data_dir / "locks"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"setting 'data_dir': {path} cannot be made: {error.strerror}") from error
    return path


@contextmanager
def hold_lock(settings: Settings, name: str, busy: str) -> Iterator[None]:
    """Hold a named lock for the block.

    Raises Busy with the message `busy` where another process holds it.
    """
    path = lock_folder(settings) / f"{name}.lock"
    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise Busy(busy + _owner(path)) from error
    try:
        # Only for messages: the process id is never used to decide whether the lock is held.
        _pid_file(path).write_text(str(os.getpid()), encoding="utf-8")
        yield
    finally:
        _pid_file(path).unlink(missing_ok=True)
        lock.release()


def shop_lock_name(shop_id: int) -> str:
    """Name the lock of a shop: by its id, since a shop's name may hold any character.

    >>> shop_lock_name(3)
    'shop-3'
    """
    return f"shop-{shop_id}"


def is_locked(path: Path) -> bool:
    """Return True if a process holds that lock file now."""
    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


def owner_pid(settings: Settings, name: str) -> int | None:
    """Return the process that holds a lock now; None where none does, or another machine's."""
    path = lock_folder(settings) / f"{name}.lock"
    if not is_locked(path):
        return None
    return _read_pid(path)


def _read_pid(path: Path) -> int | None:
    try:
        return int(_pid_file(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _pid_file(path: Path) -> Path:
    return path.with_suffix(".pid")


def _owner(path: Path) -> str:
    """Format the owner's process id for a message; empty where it cannot be read."""
    pid = _read_pid(path)
    return f" (process {pid})" if pid is not None else ""
