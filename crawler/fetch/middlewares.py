"""Guards: only the shop's own site, only public addresses, and robots.txt answers read as the standard says.

A shop's pages can name any host, and a name can resolve to any address; the check stands where the connection is made,
so that odd spellings (`0x7f000001`, `2130706433`) and names that change their address find no way around it.
"""

from typing import Any, Self
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from twisted.internet.interfaces import (
    IAddress,
    IHostnameResolver,
    IHostResolution,
    IResolutionReceiver,
)
from zope.interface import implementer  # type: ignore[import-untyped]

from url_cleaner.urls.public_address import is_public

OTHER_HOST = "other host"


@implementer(IHostnameResolver)
class PublicOnly:
    """A resolver that passes on public addresses only, except for the one host that may be private."""

    def __init__(self, resolver: Any, private_host: str | None) -> None:
        self._resolver, self._private = resolver, private_host
        self.refused: set[str] = set()

    def resolveHostName(self, receiver: Any, hostName: str, *args: Any, **kwargs: Any) -> Any:  # noqa: N802, N803
        """Resolve, and keep from the receiver what it must not connect to."""
        if self._private is None or hostName.lower() != self._private:
            receiver = _Sieve(receiver, hostName, self.refused)
        return self._resolver.resolveHostName(receiver, hostName, *args, **kwargs)


@implementer(IResolutionReceiver)
class _Sieve:
    def __init__(self, receiver: Any, host: str, refused: set[str]) -> None:
        self._receiver, self._host, self._refused = receiver, host, refused

    def resolutionBegan(self, resolutionInProgress: IHostResolution) -> None:  # noqa: N802, N803
        self._receiver.resolutionBegan(resolutionInProgress)

    def addressResolved(self, address: IAddress) -> None:  # noqa: N802
        if is_public(getattr(address, "host", "")):
            self._receiver.addressResolved(address)
        else:
            self._refused.add(self._host.lower())

    def resolutionComplete(self) -> None:  # noqa: N802
        self._receiver.resolutionComplete()


class OwnSiteOnly:
    """Downloader middleware: whatever asked for it, a request leaves only for the shop's own site over http(s)."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """As Scrapy asks for it."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Refuse other hosts and schemes."""
        spider: Any = self._crawler.spider
        if urlsplit(request.url).scheme not in ("http", "https") or not spider.site.owns(
            request.url
        ):
            raise IgnoreRequest(OTHER_HOST)


class RobotsAnswer:
    """Downloader middleware: a robots.txt that cannot be served forbids all, one that is not there allows all.

    RFC 9309 says so; Scrapy would read the error page as if it were the file.
    """

    def process_response(self, request: Request, response: Response) -> Response:
        """Replace the body of an error answer to /robots.txt."""
        if not request.meta.get("dont_obey_robotstxt") or not response.url.endswith("/robots.txt"):
            return response
        if response.status >= 500 or response.status == 429:
            return response.replace(body=b"User-agent: *\nDisallow: /\n")
        return response.replace(body=b"") if response.status >= 400 else response
