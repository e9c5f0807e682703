"""Circuit breaker: stops the crawl of a shop that only refuses, or no longer answers."""

from catalog.errors import BlockedShop, CrawlError, UnreachableShop
from catalog.models import PageState
from crawler.config import DEFAULT_CONFIG, CrawlConfig
from crawler.fetch.response_status import (
    BLOCKING,
    CAPTCHA,
    LOGIN,
    ROBOTS_TXT,
    UNREACHABLE,
    ResponseStatus,
)

ADVICE = {
    CAPTCHA: "shows a captcha instead of its pages: "
    "ask the shop to let Scout in, or crawl slower ('scout shop set')",
    LOGIN: "asks for a login instead of showing its pages: Scout reads what anybody may see",
}


class CircuitBreaker:
    """Counts refusals and silences in a row.

    Captchas and login walls stop the crawl sooner than other refusals. Only a page that the shop
    serves restarts the count of refusals: a shop that blocks may also redirect, or answer that
    pages are missing. Any response restarts the count of silences.
    """

    def __init__(self, host: str, config: CrawlConfig = DEFAULT_CONFIG) -> None:
        self._host = host
        self._max_failures = config.failures_to_stop
        self._max_refusals = {CAPTCHA: config.captchas_to_stop, LOGIN: config.login_walls_to_stop}
        self._refusals = 0
        self._silences = 0

    def record(self, status: ResponseStatus) -> CrawlError | None:
        """Count a response.

        Returns the error that stops the crawl after too many failures in a row.
        """
        reason = status.reason or ""
        if status.state == PageState.REFUSED and reason == ROBOTS_TXT:
            # No request was made, so the shop has neither refused nor answered.
            return None
        self._silences = self._silences + 1 if reason in UNREACHABLE else 0
        if status.state == PageState.FETCHED:
            self._refusals = 0
        if reason in BLOCKING:
            self._refusals += 1
            if self._refusals >= self._max_refusals.get(reason, self._max_failures):
                advice = (
                    f"answers with {reason} only: ask the shop to let Scout in, or crawl slower"
                )
                return BlockedShop(f"{self._host} {ADVICE.get(reason, advice)}")
        if self._silences >= self._max_failures:
            return UnreachableShop(
                f"{self._host} does not answer any more ({reason}): "
                "run the same command again later"
            )
        return None
