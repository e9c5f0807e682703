"""Scrapy download handler for pages that a browser renders, with limits on time and size.

The network has its timeout in wall-clock time. Scripts are limited by the processor time of the
browser: on a busy machine they take longer, and are not endless for that.

A browser follows redirects by itself; the handler reports them as redirects, because the page table
stores them.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from time import monotonic
from typing import Any

import psutil
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

from catalog.errors import ConfigError, HostilePage
from crawler.fetch.browser import start_hint

# Seconds of processor time that a renderer may use beyond the navigation timeout; then the scripts
# of its page are endless.
SCRIPT_SECONDS = 3.0
# Seconds between two looks at the processor time.
CHECK_INTERVAL = 0.5
# Seconds of wall-clock time for closing a tab, and beyond the timeout for a renderer that sleeps.
CLOSE_TIMEOUT = 4.0
SLEEP_TIMEOUT = 60.0
# Argument of the processes in which Chromium runs the scripts of pages.
RENDERER = "--type=renderer"
# Playwright's error where the browser does not start begins with this.
LAUNCH = "BrowserType.launch"
# Chromium's error codes, with the Scrapy exceptions for the same failures.
ERRORS: tuple[tuple[str, type[Exception]], ...] = (
    ("ERR_NAME_NOT_RESOLVED", CannotResolveHostError),
    ("ERR_CONNECTION_REFUSED", DownloadConnectionRefusedError),
    ("ERR_TIMED_OUT", DownloadTimeoutError),
)


class EndlessScripts(Exception):
    """The scripts of a page use the processor without end."""


class BrowserDownloadHandler(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]
    """Fetches requests marked for the browser with it, and all others as Scrapy does."""

    async def download_request(self, request: Request) -> Response:
        """Fetch a request. Raises Scrapy's download errors, HostilePage, ConfigError."""
        if not request.meta.get("playwright"):
            plain: Response = await super().download_request(request)
            return plain
        request.meta["playwright_page_init_callback"] = _remember_tab
        timeout = float(
            request.meta.get("download_timeout")
            or self._crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        )
        try:
            response = await _wait_for_scripts(super().download_request(request), timeout)
        except (NavigationTimeout, TimeoutError) as error:
            raise DownloadTimeoutError(f"{request.url} did not answer in time") from error
        except EndlessScripts as error:
            raise HostilePage(f"the scripts of {request.url} do not end") from error
        except Error as error:
            if str(error).startswith(LAUNCH):
                options = self._crawler.settings.getdict("PLAYWRIGHT_LAUNCH_OPTIONS")
                raise ConfigError(start_hint(options["executable_path"])) from error
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


async def _wait_for_scripts(rendering: Coroutine[Any, Any, Response], timeout: float) -> Response:
    """Wait for a rendered page, beyond the timeout only while its scripts need the processor.

    Raises EndlessScripts, and TimeoutError if the browser does nothing.
    """
    task = asyncio.ensure_future(rendering)
    try:
        await asyncio.wait([task], timeout=timeout)
        used_before = _renderer_seconds()
        end = monotonic() + SLEEP_TIMEOUT
        while not task.done():
            await asyncio.wait([task], timeout=CHECK_INTERVAL)
            for renderer, seconds in _renderer_seconds().items():
                is_endless = seconds - used_before.setdefault(renderer, 0.0) > SCRIPT_SECONDS
                if is_endless and not task.done():
                    raise EndlessScripts
            if monotonic() > end:
                raise TimeoutError
        return task.result()
    finally:
        task.cancel()


def _renderer_seconds() -> dict[int, float]:
    """Return the seconds of processor time of each renderer of this process, by process id."""
    seconds = {}
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if RENDERER in process.cmdline():
                times = process.cpu_times()
                seconds[process.pid] = times.user + times.system
    return seconds


async def _remember_tab(page: Any, request: Request) -> None:
    request.meta["browser_tab"] = page


async def _close_tab(page: Any) -> None:
    """Close a tab, even if its scripts never end."""
    if page is None or page.is_closed():
        return
    with suppress(Error, TimeoutError):
        await asyncio.wait_for(page.close(), CLOSE_TIMEOUT)


def _as_scrapy_error(error: Error) -> Exception:
    message = str(error)
    # `crawler.fetch.response_status` looks for this mark, as in Scrapy's own TLS errors.
    prefix = "SSL: " if "ERR_CERT" in message or "ERR_SSL" in message else ""
    for code, kind in ERRORS:
        if code in message:
            return kind(prefix + message)
    return DownloadFailedError(prefix + message)
