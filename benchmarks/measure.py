"""Measurement for benchmarks: processor time, peak memory, and contenders side by side.

Contenders are measured in one process, page by page in turn: a slow moment of the machine then slows
all of them alike.
"""

import resource
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import psutil


@dataclass
class Clock:
    """Processor time of a contender, and its number of pages."""

    pages: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Pages per second."""
        return self.pages / self.seconds if self.seconds else 0.0


def measure_alternately(
    pages: Iterable[Any],
    contenders: Mapping[str, Callable[[Any], object]],
    clocks: Mapping[str, Clock],
) -> None:
    """Run every contender on every page, in all orders in turn, and add the costs to their clocks.

    A contender finds the page, and memory, as the one before it left them. Processor time is
    counted, as every contender is bound by it, and as other programs then disturb the result less.
    """
    orders = list(permutations(contenders))
    for turn, page in enumerate(pages):
        for name in orders[turn % len(orders)]:
            begin = time.process_time()
            contenders[name](page)
            clocks[name].seconds += time.process_time() - begin
            clocks[name].pages += 1


def processor_seconds() -> float:
    """Return the processor time of this process and of all that it started, living or ended."""
    process = psutil.Process()
    seconds = 0.0
    for member in [process, *process.children(recursive=True)]:
        times = member.cpu_times()
        # Children that have ended are counted by their parents.
        seconds += times.user + times.system + times.children_user + times.children_system
    return seconds


def processor_seconds_of_children() -> float:
    """Return the processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_megabytes() -> float:
    """Return the peak memory of this process, in units of 2^20 bytes.

    getrusage would also count that of its parent before `exec`.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


def peak_megabytes_of_children() -> float:
    """Return the peak memory of the largest child process that has ended, in units of 2^20 bytes."""
    # ru_maxrss is in kilobytes on Linux.
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
