"""One run a shop at a time: a lock that the operating system gives back when its process ends, even by kill -9.

A row in the database would outlive its process. The lock file itself stays; what counts is whether it is held. It holds
on one machine: where several share a database, run a shop always from the same one.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from catalog.errors import Busy, ConfigError
from catalog.runtime.settings import Settings


def folder(settings: Settings) -> Path:
    """Where lock files lie. Raises ConfigError where that folder cannot be made."""
    path = settings.data_dir / "locks"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"setting 'data_dir': {path} cannot be made: {error.strerror}") from error
    return path


@contextmanager
def held(settings: Settings, name: str, busy: str) -> Iterator[None]:
    """Hold the lock of that name for the block. Raises Busy, saying `busy`, where another process holds it."""
    path = folder(settings) / f"{name}.lock"
    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise Busy(busy + _by_whom(path)) from error
    try:
        _owner(path).write_text(str(os.getpid()), encoding="utf-8")
        yield
    finally:
        _owner(path).unlink(missing_ok=True)
        lock.release()


def shop_lock_name(shop_id: int) -> str:
    """The lock's name of a shop: by its key, since a name may hold any sign.

    >>> shop_lock_name(3)
    'shop-3'
    """
    return f"shop-{shop_id}"


def is_held(path: Path) -> bool:
    """Whether a process holds that lock file now."""
    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


def _owner(path: Path) -> Path:
    return path.with_suffix(".pid")


def _by_whom(path: Path) -> str:
    try:
        return f" (process {int(_owner(path).read_text(encoding='utf-8'))})"
    except (OSError, ValueError):
        return ""
