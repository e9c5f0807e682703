"""Guards of the crawl: the shop's site only, public addresses only, robots.txt by RFC 9309.

A shop's pages can name any host, and a name can resolve to any address. Addresses are checked where
the connection is made, so odd spellings (`0x7f000001`, `2130706433`) and names that change their
address cannot bypass the check.
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

from crawler.fetch.response_status import ABSURD_STATUS, has_valid_status
from crawler.urls.site import OTHER_HOST
from url_cleaner.urls.public_address import is_public


@implementer(IHostnameResolver)
class PublicAddressResolver:
    """Resolver that passes on public addresses only, except for `private_host`.

    `refused` are the names that had private addresses only when they were last resolved.
    """

    def __init__(self, resolver: Any, private_host: str | None) -> None:
        self._resolver = resolver
        self._private_host = private_host
        self.refused: set[str] = set()

    def resolveHostName(self, receiver: Any, hostName: str, *args: Any, **kwargs: Any) -> Any:  # noqa: N802, N803
        """Resolve a name, and withhold private addresses from the receiver."""
        if self._private_host is None or hostName.lower() != self._private_host:
            receiver = _PublicAddressReceiver(receiver, hostName, self.refused)
        return self._resolver.resolveHostName(receiver, hostName, *args, **kwargs)


@implementer(IResolutionReceiver)
class _PublicAddressReceiver:
    def __init__(self, receiver: Any, host: str, refused: set[str]) -> None:
        self._receiver = receiver
        self._host = host
        self._refused = refused
        self._has_public = False
        self._has_private = False

    def resolutionBegan(self, resolutionInProgress: IHostResolution) -> None:  # noqa: N802, N803
        self._receiver.resolutionBegan(resolutionInProgress)

    def addressResolved(self, address: IAddress) -> None:  # noqa: N802
        if is_public(getattr(address, "host", "")):
            self._has_public = True
            self._receiver.addressResolved(address)
        else:
            self._has_private = True

    def resolutionComplete(self) -> None:  # noqa: N802
        if self._has_public:
            self._refused.discard(self._host.lower())
        elif self._has_private:
            self._refused.add(self._host.lower())
        self._receiver.resolutionComplete()


class SameSiteMiddleware:
    """Downloader middleware that lets requests leave only for the shop's own site over http(s)."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware for a crawler (Scrapy's protocol)."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Refuse other hosts and schemes. Raises IgnoreRequest."""
        spider: Any = self._crawler.spider
        is_web = urlsplit(request.url).scheme in ("http", "https")
        if not is_web or not spider.site.contains(request.url):
            raise IgnoreRequest(OTHER_HOST)


class StatusRangeMiddleware:
    """Downloader middleware that refuses responses whose status is no number of three digits.

    Such a status says nothing about the page, and it may be too large to be stored.
    """

    def process_response(self, request: Request, response: Response) -> Response:
        """Refuse a response with an absurd status. Raises IgnoreRequest."""
        if has_valid_status(response) or request.meta.get("dont_obey_robotstxt"):
            return response
        raise IgnoreRequest(ABSURD_STATUS)


class RobotsStatusMiddleware:
    """Downloader middleware that treats robots.txt errors by RFC 9309, section 2.3.1.

    A 5xx, a 429 or an absurd status forbids everything, any other 4xx allows it. Scrapy would parse
    the error page as if it were the file.
    """

    def process_response(self, request: Request, response: Response) -> Response:
        """Replace the body of an error response to /robots.txt."""
        is_robots = request.meta.get("dont_obey_robotstxt")  # set by Scrapy for this file only
        if not is_robots or not response.url.endswith("/robots.txt"):
            return response
        is_unreachable = response.status >= 500 or response.status == 429
        if is_unreachable or not has_valid_status(response):
            return response.replace(body=b"User-agent: *\nDisallow: /\n")
        if response.status >= 400:
            return response.replace(body=b"")
        return response
