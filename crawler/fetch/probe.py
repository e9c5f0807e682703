"""The first request of a crawl: a page that cannot exist.

It tells three things at the price of one: whether the shop can be reached at all, under which scheme and host it really
answers, and what it says of a missing page.
"""

import asyncio
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK

from catalog.errors import HostilePage, UnreachableShop
from catalog.html import decode, open_html
from crawler.fetch.response_status import SILENCES, is_html, location, of_error
from crawler.pages.soft404 import Print, nonsense
from crawler.urls.site import Site
from crawler.urls.url_shape import Address

TRIES = 3
PAUSE = 1.0
SILENT: tuple[type[BaseException], ...] = (*SILENCES, UnsupportedURLSchemeError)
HANDLED = {"dont_redirect": True, "dont_retry": True, "handle_httpstatus_all": True}


@dataclass(frozen=True)
class Probed:
    """How the shop says that a page is missing, where it does not say 404: by what it shows, or by where it leads."""

    shows: Print | None = None
    leads_to: str | None = None


async def probe(crawler: Crawler, site: Site, more: dict[str, Any]) -> Probed:
    """Ask for a page that cannot exist; `site` takes on the origin that answers. Raises UnreachableShop.

    `more` are a request's further properties, so that the page is asked for as others are.
    """
    path = nonsense(site.home)
    for _ in range(TRIES):
        response = await _fetch(crawler, site.origin + path, HANDLED | more)
        if response is None:
            return Probed()
        if not 300 <= response.status < 400:
            return Probed(_print(response))
        target = location(response)
        if not site.owns(target):
            return Probed()
        if urlsplit(target).path != path:
            return Probed(leads_to=Address(target).key if path not in target else None)
        if not site.moved(target):
            return Probed()
    return Probed()


async def _fetch(crawler: Crawler, url: str, meta: dict[str, Any]) -> Response | None:
    """The answer; None where there is none, but the shop is there."""
    for left in reversed(range(TRIES)):
        try:
            return await crawler.engine.download_async(
                Request(url, callback=NO_CALLBACK, meta=dict(meta))
            )
        except (IgnoreRequest, DownloadCancelledError, DownloadTimeoutError, ResponseDataLossError):
            return None
        except SILENT as error:
            if not left:
                host = urlsplit(url).netloc
                raise UnreachableShop(
                    f"{host} cannot be reached ({of_error(error, 0).reason}): check the shop's URL"
                ) from error
            await asyncio.sleep(PAUSE)
    return None


def _print(response: Response) -> Print | None:
    if response.status != 200 or not is_html(response):
        return None
    try:
        said = (response.headers.get("Content-Type") or b"").decode("latin-1")
        return Print.of(open_html(decode(response.body, said)))
    except HostilePage:
        return None
