"""Work that is done again and again, however the machine's clock is set meanwhile.

APScheduler plans by the time of day: set back by two hours, an interval of half a minute lasts two
hours. Intervals are waited for by the monotonic clock instead, which nobody sets.
"""

import logging
import threading
import time
from collections.abc import Callable

CLOCK_CHANGE = 60.0
"""Seconds by which the time of day must leave the monotonic clock to count as set anew."""

log = logging.getLogger("scout.schedule.repetition")


class Repetition:
    """Calls `work` every `interval` seconds in a thread of its own, first after `delay` seconds.

    A call that raises an error is logged, and the next one follows.
    """

    def __init__(self, name: str, work: Callable[[], None], interval: float, delay: float) -> None:
        """Prepare the thread; `start` starts it."""
        self._work, self._interval, self._delay = work, interval, delay
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Begin no further call, and wait for the end of one under way."""
        self._is_stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _repeat(self) -> None:
        wait = self._delay
        while not self._is_stopped.wait(wait):
            try:
                self._work()
            except Exception:  # as APScheduler does with its jobs
                log.exception("repeated work has failed", extra={"work": self._thread.name})
            wait = self._interval


class ClockWatch:
    """Notices when the time of day is set anew."""

    def __init__(self) -> None:
        """Remember how the time of day stands to the monotonic clock."""
        self._offset = _clock_offset()

    def change(self) -> float:
        """Return by how many seconds the time of day was set since the last call; mostly 0.

        Changes of less than `CLOCK_CHANGE` seconds are none: clocks are corrected all the time.
        """
        changed = _clock_offset() - self._offset
        if abs(changed) < CLOCK_CHANGE:
            return 0.0
        self._offset += changed
        return changed


def _clock_offset() -> float:
    return time.time() - time.monotonic()
