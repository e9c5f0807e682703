"""Browser settings for shops whose pages are written by scripts (Chromium, scrapy-playwright).

A browser runs untrusted programs, so it is confined. Names resolve only to the shop's own address,
looked up and checked here (`--host-resolver-rules`); there is no proxy, no download, no service
worker. Of a page's requests only its own site's documents, scripts and data pass: no pictures, no
third party, no tracking. Loading time is limited, endless loops included
(`crawler.fetch.browser_handler`).
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
from catalog.runtime.served_process import safe_environment
from catalog.runtime.settings import Settings
from url_cleaner.cleaner import is_clean, is_same_site
from url_cleaner.urls.public_address import is_public

if TYPE_CHECKING:
    from playwright.async_api import Page, Request

BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
ALLOWED_RESOURCES = frozenset({"document", "script", "xhr", "fetch"})  # Playwright's resource types
DATA_PATHS = ("graphql", "/api/", "/search")  # parts of paths that a page may POST a query to
NETWORK_IDLE_TIMEOUT = 3_000  # milliseconds; cap: a page that never idles is taken as it is
DOWNLOAD_TIMEOUT = 1_000  # milliseconds; downloads are refused, so none is worth waiting for
MAX_TABS = 4  # cap: every tab is a process with memory of its own
HANDLER = "crawler.fetch.browser_handler.BrowserDownloadHandler"
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


def start_hint(browser: object) -> str:
    """Describe a browser that does not start, with the remedy."""
    return (
        f"{browser} does not start: allow it user namespaces for its sandbox (in a container by "
        "the seccomp profile), install Chromium again, or set 'browser' to another"
    )


def find_browser(settings: Settings) -> str:
    """Find the browser's executable.

    Raises ConfigError that names the missing program or package.
    """
    if find_spec("scrapy_playwright") is None:
        raise ConfigError(
            "a shop that needs JavaScript needs scrapy-playwright: "
            "pip install 'scout-offer-gaps[javascript]'"
        )
    if settings.browser:
        if not shutil.which(settings.browser):
            raise ConfigError(f"setting 'browser': {settings.browser} is no program")
        return settings.browser
    for name in BROWSERS:
        if path := shutil.which(name):
            return path
    raise ConfigError(
        f"no browser is installed ({', '.join(BROWSERS)}): install Chromium, or set 'browser' to it"
    )


def scrapy_settings(settings: Settings, shop: Shop, user_agent: str) -> dict[str, Any]:
    """Build the Scrapy settings for a crawl through a browser.

    Raises ConfigError, UnreachableShop.
    """
    tabs = min(MAX_TABS, settings.concurrency)
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
            "http": HANDLER,
            "https": HANDLER,
        },
        "PLAYWRIGHT_BROWSER_TYPE": "chromium",
        "PLAYWRIGHT_LAUNCH_OPTIONS": {
            "executable_path": find_browser(settings),
            "headless": True,
            # Scripts of strangers run in it: it sees no secret, not even those of the page store.
            "env": safe_environment(),
            # Chromium refuses to start with its sandbox as root.
            "chromium_sandbox": os.geteuid() != 0,
            "args": [*SWITCHES, f"--host-resolver-rules={resolver_rules(shop)}"],
        },
        "PLAYWRIGHT_CONTEXTS": {"default": context},
        "PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": tabs,
        "PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT": settings.timeout * 1000,
        "PLAYWRIGHT_DOWNLOAD_TIMEOUT": DOWNLOAD_TIMEOUT,
        "PLAYWRIGHT_PROCESS_REQUEST_HEADERS": None,
        "PLAYWRIGHT_ABORT_REQUEST": request_blocker(shop.url),
        "CONCURRENT_REQUESTS_PER_DOMAIN": tabs,
    }


def request_meta() -> dict[str, Any]:
    """Build the request meta that makes scrapy-playwright fetch a page with the browser."""
    from scrapy_playwright.page import PageMethod

    return {
        "playwright": True,
        "playwright_page_goto_kwargs": {"wait_until": "domcontentloaded"},
        "playwright_page_methods": [PageMethod(wait_for_network_idle)],
    }


def resolver_rules(shop: Shop) -> str:
    """Build Chromium's resolver rules: the shop's names with their checked addresses.

    Raises UnreachableShop.
    """
    host = urlsplit(shop.url).hostname or ""
    twin = host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"
    rules = []
    for name in (host, twin):
        if address := _checked_address(name, shop, is_required=name == host):
            rules.append(f"MAP {name} {address}")
    return ", ".join([*rules, "MAP * ~NOTFOUND"])


def request_blocker(home: str) -> "Callable[[Request], bool]":
    """Build the predicate that tells which requests of a page are blocked."""

    def is_blocked(request: "Request") -> bool:
        if request.resource_type not in ALLOWED_RESOURCES or not is_same_site(request.url, home):
            return True
        if request.resource_type == "document":
            return request.method != "GET"
        if request.method not in ("GET", "HEAD"):
            # Shops query their own data by POST; every other POST may change something.
            return not any(part in urlsplit(request.url).path for part in DATA_PATHS)
        return not is_clean(request.url, home)

    return is_blocked


async def wait_for_network_idle(page: "Page") -> None:
    """Wait until a page makes no more requests, up to the timeout."""
    from playwright.async_api import TimeoutError as NeverIdle

    with suppress(NeverIdle):
        await page.wait_for_load_state("networkidle", timeout=NETWORK_IDLE_TIMEOUT)


def _checked_address(name: str, shop: Shop, is_required: bool) -> str | None:
    """Resolve a host name.

    Returns None if it has no address, or a private one that the shop does not need.
    """
    try:
        infos = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return None
    addresses = [str(info[4][0]) for info in infos]
    is_allowed = all(is_public(address) for address in addresses) or (
        shop.allow_private and is_required
    )
    if is_allowed:
        return f"[{addresses[0]}]" if ":" in addresses[0] else addresses[0]
    if not is_required:
        return None
    raise UnreachableShop(
        f"{name} is a private address: add the shop with --allow-private where that is meant"
    )
