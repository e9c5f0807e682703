"""When to stop asking: a shop that answers nobody, or only with refusals, is left alone and reported."""

from catalog.errors import BlockedShop, CrawlError, UnreachableShop
from catalog.models import PageState
from crawler.answers import BLOCKING, UNREACHABLE, Answer

ENOUGH = 30


class Patience:
    """Counts refusals and silences in a row."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._blocked = self._silent = 0

    def after(self, answer: Answer) -> CrawlError | None:
        """The error to stop with, once it is enough."""
        blocked, silent = answer.reason in BLOCKING, answer.reason in UNREACHABLE
        if answer.state == PageState.REFUSED and answer.reason == "robots.txt":
            return None
        self._blocked = self._blocked + 1 if blocked else 0
        self._silent = self._silent + 1 if silent else 0
        if self._blocked >= ENOUGH:
            return BlockedShop(
                f"{self._host} answers with {answer.reason} only: ask the shop to let Scout in, or crawl slower"
            )
        if self._silent >= ENOUGH:
            return UnreachableShop(
                f"{self._host} does not answer any more ({answer.reason}): run the same command again later"
            )
        return None
