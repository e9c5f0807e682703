"""How fast a shop is asked: its own Crawl-delay, the delay set for it, and slower where it is slow or asks for mercy.

A shop that answers within half a second is asked as fast as it is set; of one that takes longer, four answers are
awaited at a time. Scrapy's AutoThrottle would hold back the fast ones too, and starts at one page in five seconds.
"""

from typing import Any

from scrapy.crawler import Crawler

LONGEST_DELAY = 60.0
SLOWEST = 10.0
FIRST_STEP = 0.25
EASE = 0.8
SLOW = 0.5
TOGETHER = 4


class Pace:
    """The seconds between two requests: never below `base`; doubled by every 429 or 503, eased by quick answers."""

    def __init__(self, crawler: Crawler, base: float) -> None:
        self._crawler = crawler
        self.base = self.delay = base

    def read_robots(self, robots: Any, agent: str) -> None:
        """Keep to the Crawl-delay or Request-rate that robots.txt asks of us, up to a minute."""
        rate = robots.rp.request_rate(agent) if hasattr(robots, "rp") else None
        asked = max(
            robots.crawl_delay(agent) or 0.0, rate.seconds / max(1, rate.requests) if rate else 0.0
        )
        self.base = max(self.base, min(asked, LONGEST_DELAY))
        self._set(max(self.base, self.delay))

    def slower(self) -> None:
        """The shop is asked too much."""
        self._set(max(self.base, min(max(2 * self.delay, FIRST_STEP), SLOWEST)))

    def answered(self, latency: float = 0.0) -> None:
        """It answered well, after so many seconds: one that takes its time gets it, as with Scrapy's AutoThrottle."""
        asked = max(self.base, min(latency / TOGETHER, SLOWEST) if latency >= SLOW else 0.0)
        eased = (self.delay + asked) / 2 if asked > self.delay else max(asked, self.delay * EASE)
        self._set(self.base if eased < max(self.base, FIRST_STEP / 4) else eased)

    def _set(self, delay: float) -> None:
        if delay == self.delay == 0.0:
            return
        self.delay = delay
        for slot in self._crawler.engine.downloader.slots.values():
            slot.delay = delay
