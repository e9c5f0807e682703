"""Locks: one run per shop, one leader of the timetable, a limited number of runs per machine.

A lease in the database holds for all machines (`catalog.storage.leases`). Its holder also locks a
file of its data folder, which the operating system unlocks when the process ends, even by kill -9.
So a run that was killed on this machine can be resumed at once, before its lease expires. A slot
for a run holds for this machine alone, and is such a file lock only. The files themselves stay and
mean nothing.
"""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

from catalog.errors import Busy, ConfigError
from catalog.models import Lease
from catalog.runtime.file_locks import lock_file
from catalog.runtime.settings import Settings
from catalog.storage.leases import lease_table
from catalog.storage.leases.held_lease import HeldLease
from catalog.storage.store import Store

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


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
def hold_lock(settings: Settings, name: str, busy: str) -> Iterator[Path]:
    """Hold a named lock of this machine for the block; gives its file.

    Raises Busy with the message `busy` where another process holds it, StoreError where its file
    cannot be opened.
    """
    path = _lock_path(settings, name)
    lock = lock_file(path, busy)
    try:
        yield path
    finally:
        lock.release()


@contextmanager
def hold_lease(
    settings: Settings,
    store: Store,
    name: str,
    subject: str,
    on_end: Callable[[], None] | None = None,
    purpose: str | None = None,
) -> Iterator[HeldLease]:
    """Hold a named lease, and its lock on this machine, for the block.

    `on_end` is called if somebody asks the holder to end. Raises Busy with the `subject`, the
    holder and its `purpose` where another process holds it.
    """
    with ExitStack() as stack:
        try:
            path = stack.enter_context(hold_lock(settings, name, subject))
        except Busy as error:
            # The lock of this machine does not know its holder.
            holder = lease_table.find_lease(store, name)
            raise Busy(lease_table.busy_message(subject, holder)) from error
        fence = lease_table.acquire(
            store, name, subject, settings.lease_seconds, _file_identity(path), purpose
        )
        yield stack.enter_context(HeldLease(store, fence, on_end))


def is_locked(path: Path) -> bool:
    """Return True if a process holds that lock file now. Raises StoreError."""
    try:
        lock_file(path, "held").release()
    except Busy:
        return True
    return False


def find_holder(settings: Settings, store: Store, name: str) -> Lease | None:
    """Return a lease that a living process holds, else None."""
    lease = lease_table.find_lease(store, name)
    return lease if lease is not None and is_alive(settings, lease) else None


def is_alive(settings: Settings, lease: Lease) -> bool:
    """Return False if the holder of a lease was killed on this machine."""
    return not _is_local(settings, lease) or is_locked(_lock_path(settings, lease.name))


def local_process(settings: Settings, lease: Lease) -> int | None:
    """Return the process that holds a lease with this data folder; None for any other."""
    # Containers may share a data folder, but not the numbers of processes.
    is_ours = lease.host == socket.gethostname() and _is_local(settings, lease)
    return lease.process_id if is_ours else None


def release_dead(settings: Settings, store: Store, name: str) -> None:
    """Release the lease of a process that was killed on this machine, for all others."""
    with suppress(Busy), hold_lock(settings, name, "held") as path:
        lease_table.release_dead(store, name, _file_identity(path))


def process_label() -> str:
    """Return the name of this process for people: its machine and its number."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _is_local(settings: Settings, lease: Lease) -> bool:
    path = _lock_path(settings, lease.name)
    try:
        return lease.lock_file == _file_identity(path)
    except OSError:
        return False


def _lock_path(settings: Settings, name: str) -> Path:
    return lock_folder(settings) / f"{name}.lock"


def _file_identity(path: Path) -> str:
    """Identify a file among all machines and containers: by its inode and the running kernel."""
    status = path.stat()
    return f"{_kernel_identity()}:{status.st_dev}:{status.st_ino}"


@cache
def _kernel_identity() -> str:
    with suppress(OSError):
        return _BOOT_ID.read_text(encoding="ascii").strip()
    # Not on Linux. Imported late: most commands need no lock.
    import psutil

    return f"{socket.gethostname()}:{psutil.boot_time():.0f}"
