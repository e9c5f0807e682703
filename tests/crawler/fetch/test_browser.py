"""Shops whose pages are written by scripts, crawled with a real browser.

And the guards that confine it.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from catalog.errors import ConfigError, NeedsBrowser, UnreachableShop
from catalog.models import Page, PageState, Shop
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store
from crawler.crawl import CrawlResult
from crawler.fetch import browser
from crawler.store.js_shells import check_for_shells, is_shell
from tests.crawler.conftest import Bench, bench
from tests.crawler.server import Loopback, raw, serve

BROWSER = next((name for name in browser.BROWSERS if shutil.which(name)), None)
needs_browser = pytest.mark.skipif(
    BROWSER is None or find_spec("scrapy_playwright") is None,
    reason="no Chromium or no scrapy-playwright is installed",
)
SHELL = b"""<!doctype html><html><head><title>Shop</title></head><body><div id="app"></div>
<img src="/pixel.gif"><script src="https://tracker.example/t.js"></script>
<script src="/app.js"></script></body></html>"""
APP = b"""
const app = document.getElementById("app");
fetch("https://169.254.169.254/latest/").catch(() => 0);
fetch("http://localhost:1/").catch(() => 0);
fetch("/collect?gclid=1").catch(() => 0);
fetch("/collect", {method: "POST", body: "x"}).catch(() => 0);
navigator.sendBeacon("/beacon", "x");
fetch("/api/items" + location.pathname).then(answer => answer.json()).then(found => {
  document.title = found.name;
  app.innerHTML = "<h1>" + found.name + "</h1><p>" + (found.price || "") + "</p>" +
    found.links.map(link => `<a href="${link}">${link}</a>`).join(" ");
  if (found.loop) setTimeout(() => { while (true) {} }, 50);
  if (found.jump) location.href = found.jump;
});
"""


def _items(name: str, *links: str, **fields: Any) -> bytes:
    return json.dumps({"name": name, "links": links, **fields}).encode()


HOME = _items("Home", "/p/1", "/p/2", "/old", "/jump", "/loop", "/secret", "/leaflet")


def _routes(shop: Loopback) -> None:
    shop.fallback = raw(SHELL)
    shop.routes |= {
        "/robots.txt": raw(b"User-agent: *\nDisallow: /secret\n", "text/plain"),
        "/sitemap.xml": raw(b"", status=404),
        "/app.js": raw(APP, "text/javascript"),
        "/api/items/": raw(HOME, "application/json"),
        "/api/items/p/1": raw(_items("Mug one", "/", price="9.90"), "application/json"),
        "/api/items/p/2": raw(_items("Mug two", "/p/3", price="8.90"), "application/json"),
        "/api/items/p/3": raw(_items("Mug three", price="7.90"), "application/json"),
        "/api/items/jump": raw(_items("Jump", jump="/p/3"), "application/json"),
        "/api/items/loop": raw(_items("Loop", loop=True), "application/json"),
        "/old": raw(b"", status=301, Location="/p/1"),
        "/leaflet": raw(b"%PDF-1.4", "application/pdf"),
    }


class Rendered(NamedTuple):
    made: Bench
    crawled: CrawlResult


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rendered]:
    """One crawl of a shop that is written by scripts, with a browser."""
    with serve() as server:
        _routes(server)
        made = bench(tmp_path_factory.mktemp("rendered"), server, javascript=True)
        yield Rendered(made, made.crawl())


@needs_browser
def test_pages_are_read_as_shown(rendered: Rendered) -> None:
    """Pages are stored as scripts write them, and links in them are followed."""
    states = rendered.made.states()
    assert {path: states[path] for path in ("/", "/p/1", "/p/2", "/p/3")} == dict.fromkeys(
        ("/", "/p/1", "/p/2", "/p/3"), ("fetched", None)
    )
    body = BodyStore(rendered.made.settings.bodies).get(str(rendered.made.pages()["/p/3"].body))
    assert b"<h1>Mug three</h1>" in body


@needs_browser
def test_redirects_and_files(rendered: Rendered) -> None:
    """Redirects of the server and of scripts are stored as such.

    Files are no pages; robots.txt holds.
    """
    pages, states = rendered.made.pages(), rendered.made.states()
    assert states["/old"] == ("redirected", "redirect")
    assert str(pages["/old"].canonical).endswith("/p/1")
    assert states["/secret"] == ("refused", "robots.txt")
    assert states["/leaflet"][0] != "fetched"
    assert "/secret" not in rendered.made.server.hits


@needs_browser
def test_endless_scripts_end(rendered: Rendered) -> None:
    """A page whose script never ends is given up in time, without a loss of other pages."""
    assert rendered.made.states()["/loop"] == ("refused", "hostile page")


@needs_browser
def test_browser_does_not_start(tmp_path: Path) -> None:
    """It is no fault of the shop: the error names the browser."""
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    with serve() as server:
        made = bench(tmp_path, server, javascript=True)
        made.settings.browser = str(program)
        with pytest.raises(ConfigError, match="chromium does not start"):
            made.crawl()


@needs_browser
def test_browser_asks_for_little(rendered: Rendered) -> None:
    """The browser requests no image, no tracker and no beacon, writes nothing, and names Scout."""
    requested = set(rendered.made.server.hits)
    assert not [
        path for path in requested if path.startswith(("/pixel", "/collect", "/beacon", "/favicon"))
    ]
    assert all("Scout/" in agent for agent in rendered.made.server.agents)


def test_only_the_shop_resolves() -> None:
    """The browser resolves only the shop's own names, to checked addresses."""
    shop = Shop(name="a", url="http://127.0.0.1:8000/", allow_private=True)
    assert browser.resolver_rules(shop) == "MAP 127.0.0.1 127.0.0.1, MAP * ~NOTFOUND"
    with pytest.raises(UnreachableShop, match="private address"):
        browser.resolver_rules(Shop(name="a", url="http://127.0.0.1:8000/"))


class PageRequest(NamedTuple):
    """A request of a page, with the attributes of Playwright's."""

    url: str
    resource_type: str = "fetch"
    method: str = "GET"


@pytest.mark.parametrize(
    ("request_", "is_blocked"),
    [
        (PageRequest("https://shop.example/app.js", "script"), False),
        (PageRequest("https://shop.example/api/items?page=2"), False),
        (PageRequest("https://shop.example/graphql", method="POST"), False),
        (PageRequest("https://shop.example/p/1", "document"), False),
        (PageRequest("https://shop.example/p/1", "document", "POST"), True),
        (PageRequest("https://shop.example/cart", method="POST"), True),
        (PageRequest("https://shop.example/a.jpg", "image"), True),
        (PageRequest("https://shop.example/a.woff", "font"), True),
        (PageRequest("https://shop.example/t?gclid=1"), True),
        (PageRequest("https://elsewhere.example/app.js", "script"), True),
        (PageRequest("http://169.254.169.254/"), True),
        (PageRequest("https://shop.example/ping", "ping", "POST"), True),
    ],
)
def test_blocked_requests(request_: PageRequest, is_blocked: bool) -> None:
    """A page may request only documents, scripts and data of its own site."""
    assert browser.request_blocker("https://shop.example/")(request_) is is_blocked  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shells", "pages", "proposed"), [(4, 4, True), (4, 5, True), (3, 5, False), (2, 2, False)]
)
def test_proposed(
    settings: Settings, store: Store, shop: Shop, shells: int, pages: int, proposed: bool
) -> None:
    """A crawl without a browser that fetches nearly only empty shells proposes one."""
    bodies = BodyStore(settings.bodies)
    with store.write() as session:
        for n in range(pages):
            html = (
                SHELL.replace(b"Shop", b"Mug %d" % n)
                if n < shells
                else b"<p>" + b"A page with words. " * 20
            )
            body = bodies.put(html)
            session.add(
                Page(shop_id=shop.id or 0, url=f"{shop.url}{n}", state=PageState.FETCHED, body=body)
            )
    with (
        pytest.raises(NeedsBrowser, match="scout shop set demo --javascript")
        if proposed
        else nullcontext()
    ):
        check_for_shells(settings, store, shop)


@pytest.mark.parametrize(
    ("html", "shell"),
    [
        (SHELL.decode(), True),
        (
            "<script src=a.js></script><script type=application/json>" + "x" * 4000 + "</script>",
            False,
        ),
        ("<script src=a.js></script>" + "A page with words. " * 20, False),
        ("", False),
    ],
)
def test_shells(html: str, shell: bool) -> None:
    """A shell loads a script, shows no text, and holds no data."""
    assert is_shell(html) is shell


def test_missing_software_is_named(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without the extra, or without a browser, the error names the missing software."""
    monkeypatch.setattr(browser, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"scout-offer-gaps\[javascript\]"):
        browser.find_browser(settings)
    monkeypatch.setattr(browser, "find_spec", lambda name: name)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="no browser is installed"):
        browser.find_browser(settings)
    with pytest.raises(ConfigError, match="is no program"):
        browser.find_browser(settings.model_copy(update={"browser": "nothing"}))
