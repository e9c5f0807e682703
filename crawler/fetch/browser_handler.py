"""Scrapy download handler for pages that a browser renders: within time and size, its errors and redirects as Scrapy's.

A browser follows redirects by itself; here they are told as redirects, for that is what the page table wants to know.
"""

import asyncio
from contextlib import suppress
from typing import Any

from playwright.async_api import Error
from playwright.async_api import TimeoutError as NotInTime
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

SLACK = 4.0
SAID: tuple[tuple[str, type[Exception]], ...] = (
    ("ERR_NAME_NOT_RESOLVED", CannotResolveHostError),
    ("ERR_CONNECTION_REFUSED", DownloadConnectionRefusedError),
    ("ERR_TIMED_OUT", DownloadTimeoutError),
)


class Rendered(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]
    """Fetches requests marked for the browser with it, all others as usual."""

    async def download_request(self, request: Request) -> Response:
        """The answer to a request."""
        if not request.meta.get("playwright"):
            plain: Response = await super().download_request(request)
            return plain
        request.meta["playwright_page_init_callback"] = _remember
        limit = float(
            request.meta.get("download_timeout")
            or self._crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        )
        try:
            answer = await asyncio.wait_for(super().download_request(request), limit + SLACK)
        except NotInTime as error:
            raise DownloadTimeoutError(f"{request.url} did not answer in time") from error
        except TimeoutError as error:
            raise HostilePage(f"the scripts of {request.url} do not end") from error
        except Error as error:
            raise _as_scrapy(error) from error
        except RuntimeError as error:
            raise DownloadFailedError(str(error)) from error
        finally:
            await _closed(request.meta.pop("rendered_in", None))
        return self._told(request, answer)

    def _told(self, request: Request, answer: Response) -> Response:
        if len(answer.body) > self._crawler.settings.getint("DOWNLOAD_MAXSIZE"):
            raise DownloadCancelledError(f"{request.url} is too large once rendered")
        if answer.url.partition("#")[0] != request.url.partition("#")[0]:
            return Response(request.url, 302, {"Location": answer.url}, request=request)
        kind = (answer.headers.get("Content-Type") or b"html").lower()
        return answer if b"html" in kind else answer.replace(body=b"")


async def _remember(page: Any, request: Request) -> None:
    request.meta["rendered_in"] = page


async def _closed(page: Any) -> None:
    """Close a tab, whatever its scripts are doing."""
    if page is None or page.is_closed():
        return
    with suppress(Error, TimeoutError):
        await asyncio.wait_for(page.close(), SLACK)


def _as_scrapy(error: Error) -> Exception:
    said = str(error)
    kind = next((kind for word, kind in SAID if word in said), DownloadFailedError)
    return kind(f"SSL: {said}" if "ERR_CERT" in said or "ERR_SSL" in said else said)
