"""How much of a shop one crawl may ask for: pages, bytes, minutes, and the hours of the day.

A crawl that is out of its budget ends like any other; what is still open keeps the reason, and the next run goes on
with it (`crawler.frontier.revisit`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time
from time import monotonic

from catalog.errors import UsageError
from catalog.models import Shop

PAGES = "over the page limit"
BYTES = "over the byte limit"
MINUTES = "over the time limit"
HOURS = "outside the shop's hours"
WINDOW = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)\s*-\s*([01]?\d|2[0-4]):([0-5]\d)")


@dataclass(frozen=True)
class Window:
    """Hours of the day, on this machine's clock; past midnight where they end before they begin."""

    start: time
    end: time

    @classmethod
    def read(cls, text: str) -> "Window":
        """The hours that a text names. Raises UsageError.

        >>> Window.read("22:00-6:30").end
        datetime.time(6, 30)
        """
        found = WINDOW.fullmatch(text.strip())
        if not found or "24:" in text.replace("24:00", ""):
            raise UsageError(f"{text!r} names no hours of the day, such as 22:00-06:00")
        hours = [int(part) for part in found.groups()]
        return cls(time(hours[0] % 24, hours[1]), time(hours[2] % 24, hours[3]))

    def holds(self, moment: datetime) -> bool:
        """Whether a moment lies within.

        >>> night = Window.read("22:00-06:00")
        >>> [night.holds(datetime(2026, 1, 1, hour)) for hour in (21, 22, 5, 6)]
        [False, True, True, False]
        """
        if self.start == self.end:
            return True
        if self.start < self.end:
            return self.start <= moment.time() < self.end
        return moment.time() >= self.start or moment.time() < self.end


class Budget:
    """What is left for one crawl; `loaded` tells the bytes that it has brought so far."""

    def __init__(
        self, shop: Shop, pages: int, used: tuple[int, float], loaded: Callable[[], int]
    ) -> None:
        self.pages = pages
        self._bytes = None if shop.max_bytes is None else shop.max_bytes - used[0]
        self._until = (
            None if shop.max_minutes is None else monotonic() + shop.max_minutes * 60 - used[1]
        )
        self._window = Window.read(shop.window) if shop.window else None
        self._loaded = loaded

    def over(self) -> str | None:
        """Why nothing more may be asked for; None where something may."""
        if self.pages <= 0:
            return PAGES
        if self._bytes is not None and self._loaded() >= self._bytes:
            return BYTES
        if self._until is not None and monotonic() >= self._until:
            return MINUTES
        if self._window and not self._window.holds(datetime.now(UTC).astimezone()):
            return HOURS
        return None
