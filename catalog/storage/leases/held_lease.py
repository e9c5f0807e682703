"""A lease that this process holds: renewed by a thread until it is released.

The thread renews it also while the process computes, or waits for a child that does the work. It
is a thread of the process that holds the lease, and not a process of its own, so that a process
that is stopped or hangs in the kernel stops renewing it too.
"""

import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from sqlalchemy.exc import SQLAlchemyError

from catalog.errors import StoreError
from catalog.runtime.progress import Progress
from catalog.storage.leases import lease_table
from catalog.storage.leases.fence import Fence
from catalog.storage.store import Store

# Renewals in the time that a lease holds: several may fail, as while a database restarts.
RENEWALS_PER_LEASE = 9

log = logging.getLogger("catalog.storage.leases")


class HeldLease:
    """Renews a lease from `__enter__` to `__exit__`, which releases it.

    `store` writes under the lease. `on_end` is called in the thread if somebody asks the holder to
    end.
    """

    def __init__(
        self, store: Store, fence: Fence, on_end: Callable[[], None] | None = None
    ) -> None:
        self.store = store.fenced(fence)
        self.is_lost = False
        self._fence = fence
        self._on_end = on_end
        self._unfenced_store = store
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._renew, name=f"lease {fence.name}", daemon=True)

    def __enter__(self) -> Self:
        """Start to renew the lease."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release the lease; one that cannot be released expires."""
        self._released.set()
        self._thread.join()
        try:
            lease_table.release(self._unfenced_store, self._fence)
        except (StoreError, SQLAlchemyError) as failure:
            log.warning(
                "a lease was not released", extra={"lease": self._fence.name, "error": str(failure)}
            )

    def check(self) -> None:
        """Raise LeaseLost if another process holds the lease now."""
        with self._unfenced_store.read() as session:
            self._fence.check(session)

    def watch(self, progress: Progress) -> Progress:
        """Return a progress that raises LeaseLost at its next report once the lease is lost."""

        def report(label: str, done: int, total: int | None = None, **also: int) -> None:
            if self.is_lost:
                self.check()
            progress(label, done, total, **also)

        return report

    def _renew(self) -> None:
        pause = self._fence.seconds / RENEWALS_PER_LEASE
        is_end_passed_on = False
        while not self._released.wait(pause):
            try:
                renewal = lease_table.renew(self._unfenced_store, self._fence)
            except (StoreError, SQLAlchemyError) as error:
                log.warning(
                    "a lease was not renewed",
                    extra={"lease": self._fence.name, "error": str(error)},
                )
                continue
            if not renewal.is_held:
                self.is_lost = True
                log.info("a lease is lost", extra={"lease": self._fence.name})
                return
            if renewal.is_end_requested and self._on_end is not None and not is_end_passed_on:
                is_end_passed_on = True
                self._on_end()
