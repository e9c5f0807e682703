"""Pages that scripts write: fetched with an installed Chromium, by scrapy-playwright, for shops that ask for it.

A browser runs strangers' programs, so it is kept on a short lead. Names resolve to the shop's own address, looked up
and checked here, and to nothing else, whoever asks and whatever for (`--host-resolver-rules`); no proxy, no downloads,
no service workers. Of what a page asks for, its own site's documents, scripts and data are let through: no pictures,
no third party, nothing that tracks. A page has a time to settle and a time in which it must be done, endless loops
included.
"""

import os
import shutil
import socket
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from catalog.errors import ConfigError, UnreachableShop
from catalog.models import Shop
from catalog.runtime.settings import Settings
from url_cleaner.clean import is_clean, same_site
from url_cleaner.urls.public_address import is_public

if TYPE_CHECKING:
    from playwright.async_api import Page, Request

BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
WANTED = frozenset({"document", "script", "xhr", "fetch"})
DATA = ("graphql", "/api/", "/search")
SETTLE = 3_000
TABS = 4
SWITCHES = (
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--mute-audio",
    "--no-first-run",
)


def require(settings: Settings) -> str:
    """The browser's program. Raises ConfigError, saying what is missing."""
    if find_spec("scrapy_playwright") is None:
        raise ConfigError(
            "a shop that needs JavaScript needs scrapy-playwright: pip install 'scout-offer-gaps[javascript]'"
        )
    if settings.browser:
        if not shutil.which(settings.browser):
            raise ConfigError(f"setting 'browser': {settings.browser} is no program")
        return settings.browser
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise ConfigError(
            f"no browser is installed ({', '.join(BROWSERS)}): install Chromium, or set 'browser' to it"
        )
    return found


def scrapy_settings(settings: Settings, shop: Shop, user_agent: str) -> dict[str, Any]:
    """What a crawl of the shop through a browser needs, in Scrapy's words. Raises ConfigError, UnreachableShop."""
    handler = "crawler.fetch.browser_handler.Rendered"
    context = {
        "user_agent": user_agent,
        "service_workers": "block",
        "accept_downloads": False,
        "ignore_https_errors": not settings.verify_certificates,
    }
    return {
        "DOWNLOAD_HANDLERS": {
            "file": None,
            "data": None,
            "ftp": None,
            "s3": None,
            "http": handler,
            "https": handler,
        },
        "PLAYWRIGHT_BROWSER_TYPE": "chromium",
        "PLAYWRIGHT_LAUNCH_OPTIONS": {
            "executable_path": require(settings),
            "headless": True,
            "chromium_sandbox": os.geteuid() != 0,
            "args": [*SWITCHES, f"--host-resolver-rules={resolver_rules(shop)}"],
        },
        "PLAYWRIGHT_CONTEXTS": {"default": context},
        "PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": min(TABS, settings.concurrency),
        "PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT": settings.timeout * 1000,
        "PLAYWRIGHT_DOWNLOAD_TIMEOUT": 1_000,
        "PLAYWRIGHT_PROCESS_REQUEST_HEADERS": None,
        "PLAYWRIGHT_ABORT_REQUEST": unwanted(shop.url),
        "CONCURRENT_REQUESTS_PER_DOMAIN": min(TABS, settings.concurrency),
    }


def request_meta() -> dict[str, Any]:
    """What makes a request one for the browser."""
    from scrapy_playwright.page import PageMethod

    return {
        "playwright": True,
        "playwright_page_goto_kwargs": {"wait_until": "domcontentloaded"},
        "playwright_page_methods": [PageMethod(settled)],
    }


def resolver_rules(shop: Shop) -> str:
    """The only names that the browser can resolve, each with the address that was checked. Raises UnreachableShop."""
    host = urlsplit(shop.url).hostname or ""
    other = host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"
    rules = [
        f"MAP {name} {found}"
        for name in (host, other)
        if (found := _address(name, shop, name == host))
    ]
    return ", ".join([*rules, "MAP * ~NOTFOUND"])


def _address(name: str, shop: Shop, needed: bool) -> str | None:
    try:
        found = [
            str(info[4][0]) for info in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
        ]
    except (OSError, UnicodeError):
        return None
    if not all(is_public(address) for address in found) and not (shop.allow_private and needed):
        if not needed:
            return None
        raise UnreachableShop(
            f"{name} is a private address: add the shop with --allow-private where that is meant"
        )
    return f"[{found[0]}]" if ":" in found[0] else found[0]


def unwanted(home: str) -> "Callable[[Request], bool]":
    """Tells which of a page's requests are kept from going out."""

    def is_unwanted(request: "Request") -> bool:
        if request.resource_type not in WANTED or not same_site(request.url, home):
            return True
        if request.resource_type == "document":
            return request.method != "GET"
        if request.method not in ("GET", "HEAD"):
            return not any(part in urlsplit(request.url).path for part in DATA)
        return not is_clean(request.url, home)

    return is_unwanted


async def settled(page: "Page") -> None:
    """Wait until a page asks for nothing more; one that never rests is taken as it is."""
    from playwright.async_api import TimeoutError as NeverRests

    with suppress(NeverRests):
        await page.wait_for_load_state("networkidle", timeout=SETTLE)
