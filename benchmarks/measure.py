"""Processor time of rivals, and of work in child processes.

Rivals are measured in one process, page by page in turn: a slow moment of the machine then slows
all rivals alike.
"""

import resource
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any


@dataclass
class Clock:
    """Processor time of a rival, and its number of pages."""

    pages: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Pages per second."""
        return self.pages / self.seconds if self.seconds else 0.0


def race(
    pages: Iterable[Any], rivals: Mapping[str, Callable[[Any], object]], clocks: Mapping[str, Clock]
) -> None:
    """Run every rival on every page, in all orders in turn, and add the costs to their clocks.

    A rival finds the page, and memory, as the rival before it left them. Processor time is counted,
    as every rival is bound by it, and as other programs then disturb the result less.
    """
    orders = list(permutations(rivals))
    for turn, page in enumerate(pages):
        for name in orders[turn % len(orders)]:
            begin = time.process_time()
            rivals[name](page)
            clocks[name].seconds += time.process_time() - begin
            clocks[name].pages += 1


def processor_seconds() -> float:
    """Return the processor time of this process and of all descendants that were waited for.

    Workers count once their server has been stopped (`stop_servers`).
    """
    seconds = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        seconds += usage.ru_utime + usage.ru_stime
    return seconds
