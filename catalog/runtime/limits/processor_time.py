"""Limits on processor time: a page costs the same seconds on a busy machine as on an idle one.

A limit in wall-clock time would depend on the other processes of the machine: at a load of twenty,
a page gets a twentieth of each second. Only the network is waited for in wall-clock time.
"""

import math
import resource
import signal
import time
from types import FrameType


class ProcessorTimeLimit:
    """Raises TimeoutError in its block after so many seconds of the process's processor time.

    Works in the main thread only; elsewhere the block has no limit. Python code is interrupted
    between two of its instructions, so a single call into an extension module may take longer
    (`limit_processor_time`).
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        try:
            self._previous = signal.signal(signal.SIGPROF, self._raise)
            signal.setitimer(signal.ITIMER_PROF, self._seconds)
        except ValueError:
            self._previous = None

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, self._previous)

    def _raise(self, _number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"took longer than {self._seconds:g} s of processor time")


def limit_processor_time(seconds: int) -> None:
    """Let the operating system end this process (SIGXCPU) after so many further seconds.

    For worker processes only: nothing is cleaned up. A later call replaces the limit.
    """
    _, hard_limit = resource.getrlimit(resource.RLIMIT_CPU)
    limit = math.ceil(time.process_time()) + seconds
    if hard_limit != resource.RLIM_INFINITY:
        limit = min(limit, hard_limit)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hard_limit))
