"""Locks on files, which the operating system releases when their process ends."""

from pathlib import Path

from filelock import FileLock, Timeout

from catalog.errors import Busy, StoreError


def lock_file(path: Path, busy: str, timeout: float = 0) -> FileLock:
    """Lock a file, whose folder is made if needed, and wait `timeout` seconds for it.

    Raises Busy with the message `busy` where another process holds it, StoreError where the file
    cannot be opened.
    """
    lock = FileLock(path, thread_local=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=timeout)
    except Timeout as error:
        raise Busy(busy) from error
    except OSError as error:
        # For example a disk that is full or has become read-only.
        raise StoreError(f"{path} cannot be locked: {error.strerror or error}") from error
    return lock
