"""When to stop asking: a shop that answers nobody, or only with refusals, is left alone and reported."""

from catalog.errors import BlockedShop, CrawlError, UnreachableShop
from catalog.models import PageState
from crawler.fetch.response_status import BLOCKING, CAPTCHA, LOGIN, UNREACHABLE, Answer

ENOUGH = 30
SOONER = {CAPTCHA: 5, LOGIN: 10}
ADVICE = {
    CAPTCHA: "shows a captcha instead of its pages: ask the shop to let Scout in, or crawl slower ('scout shop set')",
    LOGIN: "asks for a login instead of showing its pages: Scout reads what anybody may see",
}


class Patience:
    """Counts refusals and silences in a row; of a captcha and of a login wall fewer are enough."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._blocked = self._silent = 0

    def after(self, answer: Answer) -> CrawlError | None:
        """The error to stop with, once it is enough."""
        reason = answer.reason or ""
        if answer.state == PageState.REFUSED and reason == "robots.txt":
            return None
        self._blocked = self._blocked + 1 if reason in BLOCKING else 0
        self._silent = self._silent + 1 if reason in UNREACHABLE else 0
        if self._blocked >= SOONER.get(reason, ENOUGH):
            advice = f"answers with {reason} only: ask the shop to let Scout in, or crawl slower"
            return BlockedShop(f"{self._host} {ADVICE.get(reason, advice)}")
        if self._silent >= ENOUGH:
            return UnreachableShop(
                f"{self._host} does not answer any more ({reason}): run the same command again later"
            )
        return None
