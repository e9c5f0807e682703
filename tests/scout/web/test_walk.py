"""Chromium walks the control room: every page as every role, and the work that people do in it."""

import csv
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator
from importlib.resources import files
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

import openpyxl
import pytest
from lxml import etree, html
from sqlmodel import select

from catalog.feeds.importing import import_offers
from catalog.models import Page, PageState, Review, Role, Run, RunState, Shop
from catalog.runtime.settings import Settings
from scout.pipeline.background_jobs import JobKind
from scout.web.pages import runs
from tests.empty_store import open_empty_store
from tests.scout.web.browser import PASSWORD
from tests.scout.web.control_room import (
    FLAG,
    HOSTILE_REASON,
    HOSTILE_TITLES,
    ControlRoom,
    open_control_room,
    run_of,
)

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or find_spec("playwright") is None,
    reason="no Chromium or no playwright is installed",
)

WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 390, "height": 844}
MAX_PAGES = 60
"""Pages of one walk: more kinds of pages than there are."""

# Links that a walk does not follow: files, and what it shows of another page.
FILES = re.compile(r"\.(csv|xlsx|json|html|feed-\w+)$|/login|/static/|/api/")
# Makes an error of a hostile value that runs, and so sets the flag.
TRAP = f"""Object.defineProperty(window, "{FLAG}", {{
  set() {{ console.error("a hostile value has run"); }}
}})"""
# Waits until the layout of a new size is done, and what observes it.
NEXT_FRAME = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
# The impacts of a rule of axe that no page may break.
IMPACTS = ("serious", "critical")


class Watch:
    """Notes all that goes wrong in a browser's context: messages, errors, requests, answers."""

    def __init__(self, context: Any, host: str) -> None:
        self.problems: list[str] = []
        self._host = host
        context.on("request", self._see_request)
        context.on("response", self._see_response)
        context.on("console", self._see_message)
        context.on("weberror", lambda error: self.problems.append(f"error {error.error}"))

    def _see_request(self, request: Any) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob", "about") and address.netloc != self._host:
            self.problems.append(f"request to {request.url}")

    def _see_response(self, response: Any) -> None:
        if response.status >= 400:
            self.problems.append(f"{response.status} of {response.url}")

    def _see_message(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console: {message.text} ({message.page and message.page.url})")

    def check(self) -> None:
        """Assert that nothing went wrong since the last call."""
        problems, self.problems = self.problems, []
        assert problems == []


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlRoom]:
    """Return a served control room with shops; its tests leave the shops as they were."""
    folder = tmp_path_factory.mktemp("room")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SCOUT_DATABASE_URL", "SCOUT_DATA_DIR", "SCOUT_BODIES_URL", "SCOUT_LANGUAGE"):
            patch.delenv(name, raising=False)
        patch.setattr(runs, "EVENT_INTERVAL", 0.05)
        settings = Settings.load(data_dir=folder / "var")
        with open_control_room(settings, open_empty_store(settings), folder) as room:
            yield room


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Return Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


Enter = Callable[..., tuple[Any, Watch]]


@pytest.fixture(scope="module")
def sessions() -> dict[Role, Any]:
    """Return the cookies of the roles that have signed in."""
    return {}


@pytest.fixture
def enter(chromium: Any, room: ControlRoom, sessions: dict[Role, Any]) -> Iterator[Enter]:
    """Return a function that opens the start page; its pages may do nothing wrong until the end.

    A role signs in by the form once, and then keeps its session.
    """
    opened = []

    def open_start(role: Role, viewport: dict[str, int] = WIDE) -> tuple[Any, Watch]:
        context = chromium.new_context(
            base_url=room.address, viewport=viewport, locale="en", storage_state=sessions.get(role)
        )
        context.set_default_timeout(10_000)
        context.add_init_script(TRAP)
        watch = Watch(context, urlsplit(room.address).netloc)
        opened.append((context, watch))
        page = context.new_page()
        page.goto("/")
        if role not in sessions:
            page.get_by_label("Name").fill(str(role))
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url("**/")
            sessions[role] = context.storage_state()
        return page, watch

    yield open_start
    for context, watch in opened:
        context.close()
        watch.check()


def pattern(path: str) -> str:
    """Return the kind of page that a path leads to: its ids and names of shops are left out.

    Of a query only the page that the inspector opens makes a difference.
    """
    path, _, query = path.partition("?")
    kind = re.sub(r"/shops/[^/]+", "/shops/*", re.sub(r"\d+", "0", path))
    return f"{kind}?page" if kind.endswith("/inspect") and query else kind


def walk(page: Any, look: Callable[[Any, str], None], links: str = "a[href]") -> list[str]:
    """Follow links, one of each kind of page, and look at each page; returns the kinds."""
    waiting, seen = ["/"], {"/"}
    while waiting:
        path = waiting.pop(0)
        page.goto(path)
        look(page, path)
        targets: list[str] = page.eval_on_selector_all(links, "all => all.map(a => a.href)")
        # The shop that has most to show is preferred to the others.
        for target in sorted(targets, key=lambda target: "/shops/demo" not in target):
            parts = urlsplit(target)
            if parts.netloc != urlsplit(page.url).netloc or FILES.search(parts.path):
                continue
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            if pattern(path) not in seen:
                seen.add(pattern(path))
                waiting.append(path)
        assert len(seen) < MAX_PAGES, seen
    return sorted(seen)


def width_problems(page: Any) -> list[str]:
    """Return the sizes of a window that a page is too wide for."""
    problems = []
    for viewport in (NARROW, WIDE):
        page.set_viewport_size(viewport)
        page.evaluate(NEXT_FRAME)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > viewport["width"]:
            problems.append(f"{width} px wide at {viewport['width']}")
    return problems


# Kinds of pages that each role has beside those of the role before.
PAGES = {
    Role.VIEWER: {
        *("/", "/account", "/imports", "/runs", "/schedules", "/shops/*", "/shops/*/findings"),
        *("/shops/*/imports", "/shops/*/rules", "/shops/*/runs"),
    },
    Role.REVIEWER: set(),
    Role.EDITOR: {"/deliveries", "/shops/*/settings"},
    Role.ADMIN: {"/accounts", "/audit"},
}


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.EDITOR])
def test_all_pages_of_a_role(enter: Enter, role: Role) -> None:
    """The navigation leads to the pages of the role; they fit both sizes and do nothing wrong."""
    page, watch = enter(role)
    assert page.get_by_role("link", name=str(role), exact=True).is_visible()
    wide: dict[str, list[str]] = {}

    def look(page: Any, path: str) -> None:
        if problems := width_problems(page):
            wide[path] = problems

    kinds = walk(page, look, "nav a[href], td.name a[href], .user a[href]")
    assert wide == {}
    roles = list(Role)
    expected = set().union(*(PAGES[known] for known in roles[: roles.index(role) + 1]))
    assert set(kinds) == expected
    watch.check()


def axe_problems(page: Any) -> list[str]:
    """Return the rules of axe-core that a page breaks, with the elements that break them."""
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text())
    options: dict[str, Any] = {"resultTypes": ["violations"], "iframes": False}
    broken = page.evaluate("options => axe.run(document, options)", options)["violations"]
    # The markup is the same in the dark and on a phone: contrast and scrolling can differ.
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(NARROW)
    page.evaluate(NEXT_FRAME)
    options["runOnly"] = ["color-contrast", "scrollable-region-focusable"]
    broken += page.evaluate("options => axe.run(document, options)", options)["violations"]
    page.emulate_media(color_scheme="light")
    problems = []
    for rule in broken:
        if rule["impact"] in IMPACTS:
            problems += [f"{rule['id']}: {node['html'][:200]}" for node in rule["nodes"]]
    return problems


def test_every_page_is_accessible(enter: Enter) -> None:
    """All pages that any link leads to pass the rules of axe-core, in light and dark."""
    pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
    page, watch = enter(Role.ADMIN)
    broken: dict[str, list[str]] = {}

    def look(page: Any, path: str) -> None:
        page.eval_on_selector_all("details", "all => all.forEach(details => details.open = true)")
        if problems := [*width_problems(page), *axe_problems(page)]:
            broken[path] = problems

    kinds = walk(page, look)
    assert broken == {}, json.dumps(broken, indent=1)
    assert set().union(*PAGES.values()) <= set(kinds)
    assert {"/runs/0", "/runs/0/compare/0", "/shops/*/inspect?page", "/shops/*/findings/0"} <= set(
        kinds
    )
    watch.check()


def reviews(room: ControlRoom) -> list[Review]:
    """Return the decisions that are stored."""
    with room.store.read() as session:
        return list(session.exec(select(Review)))


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_from_a_notice_to_a_decision(
    enter: Enter, room: ControlRoom, viewport: dict[str, int]
) -> None:
    """From the start page over a cause to a finding; it is decided by keys, and that is undone."""
    page, watch = enter(Role.REVIEWER, viewport)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.locator(".notices a.shop", has_text="demo").first.click()
    page.get_by_role("link", name="newer than the last import").click()
    page.get_by_role("heading", name="10 offers").wait_for()
    page.wait_for_load_state()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    drawer = page.locator("#drawer.open")
    drawer.get_by_role("heading", name="Nearest catalog offers").wait_for()
    assert page.evaluate("document.activeElement.id") == "drawer"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.closest('tr').sectionRowIndex") == 1
    page.keyboard.press("Enter")
    drawer.get_by_role("heading", name="Why it is missing").wait_for()
    page.keyboard.press("i")
    page.get_by_text("1 ignored.").wait_for()
    assert len(reviews(room)) == 1
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    page.get_by_text("is undone").wait_for()
    assert reviews(room) == []
    watch.check()


def test_decide_all_that_are_filtered(enter: Enter, room: ControlRoom) -> None:
    """A filter by brand is chosen by its link; all its offers are decided at once, and undone."""
    page, _ = enter(Role.REVIEWER)
    page.goto("/shops/demo/findings")
    page.locator(".facets").get_by_role("link", name=HOSTILE_TITLES[0], exact=True).click()
    page.get_by_role("heading", name="3 offers").wait_for()
    page.get_by_label("All 3 that are filtered").check()
    page.get_by_label("Note").first.fill("<b>not sold</b>")
    page.get_by_role("button", name="Confirm").click()
    page.get_by_text("3 confirmed as missing.").wait_for()
    assert {review.note for review in reviews(room)} == {"<b>not sold</b>"}
    assert len(reviews(room)) == 3
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    page.get_by_text("is undone").wait_for()
    assert reviews(room) == []


def test_downloads_open(enter: Enter) -> None:
    """A downloaded workbook has the rows and no formula; a feed is XML, and a table plain text."""
    page, _ = enter(Role.VIEWER)
    page.goto("/shops/demo/findings")

    def download(format: str) -> bytes:
        page.locator(".menu").evaluate("menu => menu.open = true")
        with page.expect_download() as started:
            page.locator(f'.menu a[href*=".{format}"]').click()
        return bytes(started.value.path().read_bytes())

    sheet = openpyxl.load_workbook(io.BytesIO(download("xlsx"))).active
    assert sheet is not None
    assert sheet.max_row == 11
    cells = [cell for row in sheet.iter_rows() for cell in row]
    assert {cell.data_type for cell in cells} <= {"s", "n", "d", "b"}
    assert any(str(cell.value).lstrip("'").startswith("=HYPERLINK") for cell in cells)
    feed = etree.fromstring(download("feed-xml"))
    assert len(feed.findall(".//item")) == 10
    table = csv.reader(io.StringIO(download("csv").decode("utf-8-sig")))
    assert not [cell for row in table for cell in row if cell.startswith("=")]


def test_values_of_shops_never_run(enter: Enter) -> None:
    """Hostile titles, brands, reasons and notes are shown as text, in lists and in the drawer."""
    page, _ = enter(Role.REVIEWER)
    page.goto("/shops/demo/findings")
    rows = page.locator("[data-row]")
    assert rows.count() == 10
    for number, title in enumerate(HOSTILE_TITLES):
        row = rows.filter(has_text=f"{title} {number}")
        row.hover()
        row.locator("[data-open]").click()
        page.locator("#drawer.open h2", has_text=title).wait_for()
        assert page.locator('a[href^="javascript:" i]').count() == 0
        page.keyboard.press("Escape")
    assert page.locator("main script, main img, main [onmouseover], main b[onclick]").count() == 0
    page.goto("/")
    assert page.get_by_text(HOSTILE_REASON).is_visible()


def test_import_with_a_wrong_column(
    enter: Enter, room: ControlRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column that is not recognised is chosen in the preview; the import is run and undone."""

    def run_import(shop: Shop, kind: JobKind, options: list[str], arguments: list[str]) -> None:
        assert kind == JobKind.IMPORT
        chosen = [option for option in options if "=" in option]
        mapping = dict(option.split("=", 1) for option in chosen)
        import_offers(room.store, shop, arguments[0], format=options[1], mapping=mapping)

    monkeypatch.setattr(room.app.state.jobs, "start", run_import)
    page, _ = enter(Role.EDITOR, NARROW)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/shops/imported/imports")
    feed = f'nr;was;euro\n1;Lamp;5\n2;"{HOSTILE_TITLES[0]}";7\n'.encode()
    upload = {"name": "<i>feed.csv", "mimeType": "text/csv", "buffer": feed}
    page.get_by_label("File").set_input_files(upload)
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("an offer needs one of them").wait_for()
    assert page.get_by_role("button", name="Import the feed").count() == 0
    page.get_by_label("title", exact=True).select_option("was")
    page.get_by_role("button", name="Preview again").click()
    page.get_by_text("2 would be offers").wait_for()
    assert width_problems(page) == []
    page.get_by_role("button", name="Import the feed").click()
    page.get_by_text("The import has started.").wait_for()
    history = page.locator("#history tbody tr")
    assert history.count() == 2
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("The last import is undone").wait_for()
    assert history.first.get_by_text("undone").is_visible()


def test_schedule_with_preview(enter: Enter) -> None:
    """A plan is shown in words while it is typed; it is saved, paused, continued and removed."""
    page, _ = enter(Role.EDITOR)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/schedules")
    page.get_by_label("Shop", exact=True).fill("busy")
    page.get_by_label("When, as a cron expression").fill("15 6 * * 1")
    page.locator("#preview", has_text="Monday").wait_for()
    page.get_by_label("When, as a cron expression").fill("99 6 * * 1")
    page.locator("#preview .bad").wait_for()
    page.get_by_label("When, as a cron expression").fill("15 6 * * 1")
    page.locator("#preview", has_text="Monday").wait_for()
    page.get_by_role("button", name="Save the schedule").click()
    page.get_by_text("busy runs first on").wait_for()
    row = page.locator("tbody tr", has_text="busy")
    page.get_by_role("button", name="Pause: busy").click()
    row.get_by_text("paused").wait_for()
    page.get_by_role("button", name="Continue: busy").click()
    page.get_by_role("button", name="Pause: busy").wait_for()
    page.get_by_role("button", name="Remove: busy").click()
    row.wait_for(state="detached")


def test_a_run_is_started_watched_and_stopped(
    enter: Enter, room: ControlRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page of a run under way follows it by events, until it ends."""
    jobs, calls = room.app.state.jobs, []
    monkeypatch.setattr(jobs, "start", lambda shop, kind, **_: calls.append(f"start {shop.name}"))
    monkeypatch.setattr(jobs, "end", lambda shop: calls.append(f"stop {shop.name}") or True)
    page, _ = enter(Role.EDITOR)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/shops/busy/runs")
    page.get_by_role("button", name="Resume the run").click()
    page.get_by_text("The run has started").wait_for()
    monkeypatch.setattr(jobs, "is_busy", lambda shop: shop.name == "busy")
    run_id = run_of(room.store, "busy")
    page.goto(f"/runs/{run_id}")
    set_run(room, run_id, RunState.RUNNING, PageState.FAILED, HOSTILE_REASON)
    page.get_by_role("cell", name=HOSTILE_REASON).wait_for()
    set_run(room, run_id, RunState.RUNNING, PageState.FETCHED, None)
    page.locator(".tile", has_text="fetched").wait_for()
    page.get_by_role("button", name="Stop the run").click()
    page.get_by_text("The run stops.").wait_for()
    page.goto(f"/runs/{run_id}")
    set_run(room, run_id, RunState.FAILED, PageState.PENDING, None)
    page.locator("#live .state.failed").wait_for()
    set_run(room, run_id, RunState.RUNNING, PageState.PENDING, None)
    assert calls == ["start busy", "stop busy"]


def set_run(
    room: ControlRoom, run_id: int, state: RunState, page_state: PageState, reason: str | None
) -> None:
    """Set the state of a run, and the state and the reason of its shop's page."""
    with room.store.write() as session:
        run = session.get_one(Run, run_id)
        run.state = state
        session.add(run)
        for page in session.exec(select(Page).where(Page.shop_id == run.shop_id)):
            page.state, page.reason = page_state, reason
            session.add(page)


def test_make_a_rule_in_the_inspector(enter: Enter, room: ControlRoom) -> None:
    """Rules and their elements mark each other; a picked element becomes a rule, which is undone."""
    page, _ = enter(Role.EDITOR)
    page.goto(f"/shops/demo/inspect?url={room.shop.url}p9")
    frame = page.frame_locator("[data-frame]")
    panel = page.locator('.panel[data-attribute="title"]')
    panel.locator("summary").first.click()
    frame.locator("[data-scout-rules]").first.wait_for(state="attached")
    panel.locator("[data-rule]").first.hover()
    frame.locator("h1[data-scout-lit]").wait_for()
    frame.locator("h1").hover()
    panel.locator("tr.lit").first.wait_for()
    page.get_by_text("Make a rule").click()
    page.get_by_role("button", name="Pick on the page").click()
    frame.locator("h1").click()
    page.locator("[data-use]").first.click()
    assert page.get_by_label("CSS selector").input_value()
    page.get_by_role("button", name="Test", exact=True).click()
    page.locator("#trial", has_text="known values").wait_for()
    page.get_by_role("button", name="Save and pin").click()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    page.get_by_role("heading", name="Rules of version 3").wait_for()


def test_two_editors_in_the_inspector(enter: Enter, room: ControlRoom) -> None:
    """The later of two changes is refused and keeps its input; it is saved over the newest version."""
    (earlier, _), (later, watch) = enter(Role.EDITOR), enter(Role.EDITOR)
    for page in (earlier, later):
        page.goto(f"/shops/demo/inspect?url={room.shop.url}p9")
        page.get_by_text("Make a rule").click()
        page.get_by_label("CSS selector").fill("h1")
    earlier.get_by_role("button", name="Save and pin").click()
    earlier.get_by_role("status").get_by_role("button", name="Undo").wait_for()
    later.get_by_role("button", name="Save and pin").click()
    later.get_by_role("status").get_by_text("Save again to add your rule").wait_for()
    assert later.get_by_label("CSS selector").input_value() == "h1"
    assert [problem for problem in watch.problems if "409" not in problem] == []
    watch.problems.clear()
    later.get_by_role("button", name="Save and pin").click()
    later.get_by_role("status").get_by_role("button", name="Undo").wait_for()


def test_a_hostile_page_in_the_inspector(enter: Enter, room: ControlRoom) -> None:
    """A stored page runs no script, loads no file and leads nowhere."""
    page, watch = enter(Role.VIEWER)
    page.goto(f"/shops/demo/inspect?url={room.shop.url}x39")
    frame = page.frame_locator("[data-frame]")
    frame.get_by_text("bait").click()
    frame.get_by_text("send").click()
    page.wait_for_timeout(200)
    assert frame.get_by_text("bait").is_visible()
    assert page.frames[1].url.startswith(room.address)
    watch.check()


# Names, and words that are the same in German.
SAME_WORDS = {"demo", "admin", "Shop", "Shops", "Name", "Details", "Trend", "Format", "Version"}
HEADINGS = "//h1 | //h2 | //h3 | //nav//a | //th | //main//label | //main//button"
GERMAN_PAGES = (
    *("/", "/runs", "/schedules", "/imports", "/deliveries", "/accounts", "/audit", "/account"),
    *("/shops/demo", "/shops/demo/findings", "/shops/demo/rules", "/shops/demo/runs"),
    *("/shops/demo/imports", "/shops/demo/settings", "/shops/demo/inspect"),
)


def test_german(enter: Enter) -> None:
    """After the language is switched, no heading, label or button is English."""
    page, _ = enter(Role.ADMIN)
    texts: dict[str, list[set[str]]] = {path: [] for path in GERMAN_PAGES}
    for language in ("en", "de"):
        page.goto("/account")
        page.locator(f'.language button[lang="{language}"]').click()
        page.locator(f'html[lang="{language}"]').wait_for(state="attached")
        for path in GERMAN_PAGES:
            texts[path].append(headings(page.request.get(path).text()))
    page.locator('.language button[lang="en"]').click()
    page.locator('html[lang="en"]').wait_for(state="attached")
    same = {path: english & german - SAME_WORDS for path, (english, german) in texts.items()}
    assert {path: words for path, words in same.items() if words} == {}


def headings(page: str) -> set[str]:
    """Return the first words of headings, links, labels and buttons of a page, without numbers."""
    texts = {element.text or "" for element in html.fromstring(page).xpath(HEADINGS)}
    texts = {re.sub(r"\d+", "", text).strip() for text in texts}
    return {text for text in texts if re.search("[a-z]{3}", text)}
