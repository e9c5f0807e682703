"""Measure rivals fairly: in one process, page by page in turn, so that what slows the machine slows all alike."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any


@dataclass
class Clock:
    """How much processor time a rival took for how many pages."""

    pages: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Pages per second."""
        return self.pages / self.seconds if self.seconds else 0.0


def race(
    pages: Iterable[Any], rivals: Mapping[str, Callable[[Any], object]], clocks: Mapping[str, Clock]
) -> None:
    """Let every rival do every page, in all orders in turn; what they cost is added to their clocks.

    Whoever comes next finds the page, and memory, as the one before left them. Processor time is counted, as every
    rival is bound by it, and other programs then cost less of the result.
    """
    orders = list(permutations(rivals))
    for turn, page in enumerate(pages):
        for name in orders[turn % len(orders)]:
            begin = time.process_time()
            rivals[name](page)
            clocks[name].seconds += time.process_time() - begin
            clocks[name].pages += 1
