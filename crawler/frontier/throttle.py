"""Throttle: the delay between requests, by robots.txt, settings, latency, and 429s and 503s.

A shop that answers within half a second is requested at its set delay; of a slower shop, four
answers are awaited at a time. Scrapy's AutoThrottle would hold back fast shops too, and starts at
one page in five seconds.
"""

from typing import Any

from scrapy.crawler import Crawler

from crawler.config import DEFAULT_CONFIG, CrawlConfig

MAX_RATE_SECONDS = 30 * 24 * 3600  # seconds of a Request-rate; cap: a month
MIN_DELAY_STEPS = 4  # recovery ends below this fraction (1/4) of the first backoff


class Throttle:
    """Seconds between two requests, never below `min_delay`.

    Each 429 or 503 doubles the delay, quick answers reduce it. If several `crawlers` share a shop,
    each keeps the delay as many times, so that the shop sees no more requests.
    """

    def __init__(
        self,
        crawler: Crawler,
        min_delay: float,
        config: CrawlConfig = DEFAULT_CONFIG,
        crawlers: int = 1,
    ) -> None:
        self._crawler = crawler
        self._config = config
        self._crawlers = crawlers
        self.min_delay = min_delay * crawlers
        self.delay = self.min_delay

    def apply_robots(self, robots: Any, agent: str) -> None:
        """Obey the Crawl-delay or Request-rate of robots.txt, up to a minute."""
        requested = robots.crawl_delay(agent) or 0.0
        rate = robots.rp.request_rate(agent) if hasattr(robots, "rp") else None
        if rate:
            # A number of hundreds of digits would be too large for a float.
            seconds = min(rate.seconds, MAX_RATE_SECONDS)
            requested = max(requested, seconds / max(1, rate.requests))
        requested = min(requested, self._config.max_crawl_delay) * self._crawlers
        self.min_delay = max(self.min_delay, requested)
        self._set_delay(max(self.min_delay, self.delay))

    def back_off(self) -> None:
        """Double the delay, because the shop answered 429 or 503."""
        doubled = max(2 * self.delay, self._config.first_backoff)
        self._set_delay(max(self.min_delay, min(doubled, self._config.max_adaptive_delay)))

    def record_latency(self, latency: float = 0.0) -> None:
        """Adapt the delay to an answer after `latency` seconds, as Scrapy's AutoThrottle does."""
        target = self.min_delay
        if latency >= self._config.slow_latency:
            per_answer = latency / self._config.parallel_answers
            target = max(target, min(per_answer, self._config.max_adaptive_delay))
        if target > self.delay:
            delay = (self.delay + target) / 2
        else:
            delay = max(target, self.delay * self._config.recovery_factor)
        # A delay of some milliseconds would shrink for ever without an effect.
        negligible = self._config.first_backoff / MIN_DELAY_STEPS
        if delay < max(self.min_delay, negligible):
            delay = self.min_delay
        self._set_delay(delay)

    def _set_delay(self, delay: float) -> None:
        if delay == self.delay == 0.0:
            return
        self.delay = delay
        for slot in self._crawler.engine.downloader.slots.values():
            slot.delay = delay
