"""Limits of a process that works on content from outside: memory and processor time.

Both are kept by the operating system, so that no extension module can evade them. An allocation
beyond the limit of memory fails, which ends a worker process with the reason "out of memory". A
process beyond its limit of processor time is killed (SIGXCPU).
"""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from catalog.runtime.limits.processor_time import limit_processor_time

# Bytes in the unit of `memory`, which is that of the setting `run_memory`.
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class ProcessLimits:
    """Limits of a process; 0 is no limit.

    `memory` is in megabytes beyond those that the process has when they are set, `processor_time`
    in seconds: for each item of a worker that has many, for the whole call otherwise.
    """

    memory: int = 0
    processor_time: int = 0

    def limit_memory(self) -> None:
        """Let allocations of this process fail beyond the limit; on Linux only.

        RLIMIT_DATA counts private memory that can be written to. RLIMIT_AS would count addresses
        that are mapped and never used, such as the stacks and arenas of 64 threads.
        """
        if not self.memory or not sys.platform.startswith("linux"):
            return
        limit = _private_memory() + self.memory * MEGABYTE
        earlier_limit, hard_limit = resource.getrlimit(resource.RLIMIT_DATA)
        for other in (earlier_limit, hard_limit):
            if other != resource.RLIM_INFINITY:
                limit = min(limit, other)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard_limit))

    def limit_next_item(self) -> None:
        """Let the operating system end this process if its next item takes too long."""
        if self.processor_time:
            limit_processor_time(self.processor_time)

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """Keep both limits in this process for the block, of which the time counts as a whole."""
        kinds = (resource.RLIMIT_DATA, resource.RLIMIT_CPU)
        before = [resource.getrlimit(kind) for kind in kinds]
        self.limit_memory()
        self.limit_next_item()
        try:
            yield
        finally:
            for kind, limits in zip(kinds, before, strict=True):
                resource.setrlimit(kind, limits)


NO_LIMITS = ProcessLimits()


def _private_memory() -> int:
    """Return the bytes of this process that RLIMIT_DATA counts."""
    # Pages of data and stack; the kernel's proc(5). A stack is small.
    pages = int(Path("/proc/self/statm").read_bytes().split()[5])
    return pages * resource.getpagesize()
