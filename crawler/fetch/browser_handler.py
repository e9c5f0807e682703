"""Scrapy download handler for pages that a browser renders, with limits on time and size.

A browser follows redirects by itself; the handler reports them as redirects, because the page table
stores them.
"""

import asyncio
from contextlib import suppress
from typing import Any

from playwright.async_api import Error
from playwright.async_api import TimeoutError as NavigationTimeout
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)
from scrapy.http import Request, Response
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler

from catalog.errors import HostilePage

# Seconds beyond the navigation timeout for network idle and closing; then scripts are endless.
SCRIPT_TIMEOUT = 4.0
# Chromium's error codes, with the Scrapy exceptions for the same failures.
ERRORS: tuple[tuple[str, type[Exception]], ...] = (
    ("ERR_NAME_NOT_RESOLVED", CannotResolveHostError),
    ("ERR_CONNECTION_REFUSED", DownloadConnectionRefusedError),
    ("ERR_TIMED_OUT", DownloadTimeoutError),
)


class BrowserDownloadHandler(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]
    """Fetches requests marked for the browser with it, and all others as Scrapy does."""

    async def download_request(self, request: Request) -> Response:
        """Fetch a request. Raises Scrapy's download errors, HostilePage."""
        if not request.meta.get("playwright"):
            plain: Response = await super().download_request(request)
            return plain
        request.meta["playwright_page_init_callback"] = _remember_tab
        timeout = float(
            request.meta.get("download_timeout")
            or self._crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        )
        try:
            response = await asyncio.wait_for(
                super().download_request(request), timeout + SCRIPT_TIMEOUT
            )
        except NavigationTimeout as error:
            raise DownloadTimeoutError(f"{request.url} did not answer in time") from error
        except TimeoutError as error:
            raise HostilePage(f"the scripts of {request.url} do not end") from error
        except Error as error:
            raise _as_scrapy_error(error) from error
        except RuntimeError as error:
            raise DownloadFailedError(str(error)) from error
        finally:
            await _close_tab(request.meta.pop("browser_tab", None))
        return self._checked(request, response)

    def _checked(self, request: Request, response: Response) -> Response:
        """Refuse pages that are too large, and restore the redirects that the browser followed."""
        if len(response.body) > self._crawler.settings.getint("DOWNLOAD_MAXSIZE"):
            raise DownloadCancelledError(f"{request.url} is too large once rendered")
        if response.url.partition("#")[0] != request.url.partition("#")[0]:
            return Response(request.url, 302, {"Location": response.url}, request=request)
        content_type = (response.headers.get("Content-Type") or b"html").lower()
        # A browser shows files in a page of its own; that page is not the shop's.
        return response if b"html" in content_type else response.replace(body=b"")


async def _remember_tab(page: Any, request: Request) -> None:
    request.meta["browser_tab"] = page


async def _close_tab(page: Any) -> None:
    """Close a tab, even if its scripts never end."""
    if page is None or page.is_closed():
        return
    with suppress(Error, TimeoutError):
        await asyncio.wait_for(page.close(), SCRIPT_TIMEOUT)


def _as_scrapy_error(error: Error) -> Exception:
    message = str(error)
    # `crawler.fetch.response_status` looks for this mark, as in Scrapy's own TLS errors.
    prefix = "SSL: " if "ERR_CERT" in message or "ERR_SSL" in message else ""
    for code, kind in ERRORS:
        if code in message:
            return kind(prefix + message)
    return DownloadFailedError(prefix + message)
