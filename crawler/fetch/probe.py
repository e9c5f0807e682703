"""Probe: the first request of a crawl, for a page that cannot exist.

The response shows three things: whether the shop can be reached, which scheme and host answer for
it, and how it presents a missing page.
"""

import asyncio
from collections.abc import Awaitable, Callable
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

from catalog.errors import UnreachableShop
from crawler.fetch.response_status import SILENCES, classify_error, is_html, redirect_target
from crawler.pages.soft404 import PageFingerprint, nonexistent_path
from crawler.urls.crawl_url import CrawlUrl
from crawler.urls.site import Site

MAX_TRIES = 3  # of a connection, and of redirects to another origin
RETRY_DELAY = 1.0  # seconds
CONNECTION_ERRORS: tuple[type[BaseException], ...] = (*SILENCES, UnsupportedURLSchemeError)
# Request meta of every page: redirects, retries and error responses are handled by the page table.
PAGE_META = {"dont_redirect": True, "dont_retry": True, "handle_httpstatus_all": True}


@dataclass(frozen=True)
class MissingPage:
    """How a shop presents missing pages without a 404: by a soft 404, or a redirect to one page."""

    fingerprint: PageFingerprint | None = None
    redirect_key: str | None = None


# Computes the fingerprint of a page; None where there is none.
Fingerprinter = Callable[[Response], Awaitable[PageFingerprint | None]]


async def probe(
    crawler: Crawler, site: Site, meta: dict[str, Any], fingerprint: Fingerprinter
) -> MissingPage:
    """Request a page that cannot exist; moves `site` to the origin that answers.

    `meta` is added to the request, so that it is fetched as the shop's other pages are.
    `fingerprint` is called with a page that claims to exist. Raises UnreachableShop, and ConfigError
    where the browser does not start.
    """
    path = nonexistent_path(site.home)
    for _ in range(MAX_TRIES):
        response = await _fetch(crawler, site.origin + path, PAGE_META | meta)
        if response is None:
            return MissingPage()
        if not 300 <= response.status < 400:
            is_page = response.status == 200 and is_html(response)
            return MissingPage(await fingerprint(response) if is_page else None)
        target = redirect_target(response)
        if not site.contains(target):
            return MissingPage()
        if urlsplit(target).path != path:
            # A target that keeps the path, such as /en/PATH, differs for each missing page.
            return MissingPage(
                redirect_key=CrawlUrl.parse(target).page_key if path not in target else None
            )
        if not site.move_to(target):
            return MissingPage()
    return MissingPage()


async def _fetch(crawler: Crawler, url: str, meta: dict[str, Any]) -> Response | None:
    """Fetch a URL; None if the shop answers, but not with a response. Raises UnreachableShop."""
    for tries_left in reversed(range(MAX_TRIES)):
        try:
            return await crawler.engine.download_async(
                Request(url, callback=NO_CALLBACK, meta=dict(meta))
            )
        except (IgnoreRequest, DownloadCancelledError, DownloadTimeoutError, ResponseDataLossError):
            return None
        except CONNECTION_ERRORS as error:
            if not tries_left:
                host = urlsplit(url).netloc
                reason = classify_error(error, 0).reason
                raise UnreachableShop(
                    f"{host} cannot be reached ({reason}): check the shop's URL"
                ) from error
            await asyncio.sleep(RETRY_DELAY)
    return None
