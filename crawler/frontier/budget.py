"""Crawl budget: the pages, bytes, minutes and hours of the day that one crawl may use.

A crawl that exhausts its budget ends like any other. Its open pages keep the reason, and the next
run continues with them (`crawler.frontier.revisit`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time
from time import monotonic

from catalog.errors import UsageError
from catalog.models import Shop

# Reasons, as stored with the pages that are left open and with the crawl.
OVER_PAGES = "over the page limit"
OVER_BYTES = "over the byte limit"
OVER_MINUTES = "over the time limit"
OUTSIDE_HOURS = "outside the shop's hours"
HOURS = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)\s*-\s*([01]?\d|2[0-4]):([0-5]\d)")


@dataclass(frozen=True)
class Usage:
    """Bytes and seconds that earlier crawls of a run have used."""

    bytes: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Window:
    """Hours of the day on this machine's clock.

    They pass midnight if they end before they start.
    """

    start: time
    end: time

    @classmethod
    def parse(cls, text: str) -> "Window":
        """Parse hours such as `22:00-06:00`. Raises UsageError.

        >>> Window.parse("22:00-6:30").end
        datetime.time(6, 30)
        """
        match = HOURS.fullmatch(text.strip())
        if not match or "24:" in text.replace("24:00", ""):
            raise UsageError(f"{text!r} names no hours of the day, such as 22:00-06:00")
        start_hour, start_minute, end_hour, end_minute = (int(part) for part in match.groups())
        return cls(time(start_hour % 24, start_minute), time(end_hour % 24, end_minute))

    def contains(self, moment: datetime) -> bool:
        """Return True if a moment is within the hours.

        >>> night = Window.parse("22:00-06:00")
        >>> [night.contains(datetime(2026, 1, 1, hour)) for hour in (21, 22, 5, 6)]
        [False, True, True, False]
        """
        if self.start == self.end:
            return True
        if self.start < self.end:
            return self.start <= moment.time() < self.end
        return moment.time() >= self.start or moment.time() < self.end


class Budget:
    """Remaining budget of one crawl.

    `pages` counts down; `count_bytes` returns the bytes downloaded so far. `pages` and bytes are
    this crawler's part where several `crawlers` share a shop.
    """

    def __init__(
        self,
        shop: Shop,
        pages: int,
        used: Usage,
        count_bytes: Callable[[], int],
        crawlers: int = 1,
    ) -> None:
        self.pages = pages
        self._count_bytes = count_bytes
        self._max_bytes: int | None = None
        self._deadline: float | None = None
        self._window: Window | None = None
        if shop.max_bytes is not None:
            self._max_bytes = (shop.max_bytes - used.bytes) // crawlers
        if shop.max_minutes is not None:
            self._deadline = monotonic() + shop.max_minutes * 60 - used.seconds
        if shop.window:
            self._window = Window.parse(shop.window)

    def exhausted_reason(self) -> str | None:
        """Return the reason why nothing more may be requested; None while something may."""
        if self.pages <= 0:
            return OVER_PAGES
        if self._max_bytes is not None and self._count_bytes() >= self._max_bytes:
            return OVER_BYTES
        if self._deadline is not None and monotonic() >= self._deadline:
            return OVER_MINUTES
        if self._window and not self._window.contains(datetime.now(UTC).astimezone()):
            return OUTSIDE_HOURS
        return None
