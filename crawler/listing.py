"""Reading a shop's sitemaps: those of its robots.txt, `/sitemap.xml`, those set by hand, and those that they name.

A sitemap is noted when its links are in the table, so a crawl that goes on after a kill does not ask for it again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from scrapy.http import Request, Response
from twisted.python.failure import Failure

from catalog.models import SitemapSeen
from crawler.pipelines import Listed
from crawler.probe import HANDLED
from crawler.shapes import Address
from crawler.sieve import Sieve
from crawler.sitemaps import DEEPEST, LARGEST, MOST_FILES, read_sitemap, unpacked

Note = Callable[[int | str], None]


class Listing:
    """The sitemaps of one crawl; `take` and `give` tell the supply what is under way."""

    def __init__(self, sieve: Sieve, run_id: int | None, done: set[str], take: Note, give: Note) -> None:
        self._sieve, self._run, self._done = sieve, run_id, done
        self._take, self._give = take, give
        self._asked: set[str] = set()

    def ask(self, urls: Iterable[str], level: int = 0) -> Iterator[Request]:
        """Requests for the sitemaps among `urls` that are the shop's own and not read yet."""
        for url in urls:
            found = self._sieve.site.locate(url)
            if isinstance(found, str) or found.url in self._asked or len(self._asked) >= MOST_FILES:
                continue
            self._asked.add(found.url)
            if found.url not in self._done:
                self._take(found.url)
                meta = {**HANDLED, "sitemap": found.url, "level": level, "download_maxsize": LARGEST}
                yield Request(found.url, self.read, errback=self.failed, meta=meta, dont_filter=True)

    def read(self, response: Response, **kwargs: Any) -> Iterator[Listed | Request]:
        """What an answered sitemap brings."""
        try:
            found = read_sitemap(unpacked(response) if response.status == 200 else b"")
        except (OSError, ValueError, EOFError):
            found = read_sitemap(b"")
        if response.meta["level"] < DEEPEST:
            yield from self.ask(found.sitemaps, response.meta["level"] + 1)
        links = [*self._sieve.seed(found.pages, "sitemap"), *self._sieve.seed(found.alternates, "alternate")]
        url, size = response.meta["sitemap"], len(found.pages)
        seen = SitemapSeen(run_id=self._run or 0, url=url, status=response.status, urls_found=size)
        yield Listed(seen, links, self._dated(found.changed))

    def _dated(self, changed: Mapping[str, datetime]) -> dict[str, datetime]:
        """When the shop's own pages last changed, by their cleaned addresses."""
        read = {self._sieve.site.read(url): moment for url, moment in changed.items()}
        return {found.url: moment for found, moment in read.items() if isinstance(found, Address)}

    def failed(self, failure: Failure) -> None:
        """A sitemap without an answer: the crawl goes by links."""
        self._give(failure.request.meta["sitemap"])  # type: ignore[attr-defined]
