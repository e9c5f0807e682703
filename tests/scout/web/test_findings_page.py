"""The list of findings in the control room: filters, drawer, decisions with undo, downloads."""

import csv
import io

import openpyxl
import pytest
from sqlmodel import select

from catalog.models import Review, ReviewDecision, Role, Shop, StoredFinding
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.web.app import create_app
from tests.scout.conftest import FakeStages, Scout
from tests.scout.web.browser import Browser, signed_in

LIST = "/shops/demo/findings"
# Titles of the offers: listed, missing, unsure. Their control characters are removed.
MUGS = ("Mug [31m0", "Mug [31m1", "Mug [31m2")


@pytest.fixture
def browser(
    scout: Scout, settings: Settings, store: Store, known_shop: Shop, fake_stages: FakeStages
) -> Browser:
    """Return a reviewer's browser on a shop with one listed, one missing and one unsure offer."""
    assert scout("run", "demo").code == 0
    assert scout("offers", "demo").code == 0
    return signed_in(create_app(settings, store, ["127.0.0.1"]), Role.REVIEWER)


def stored(store: Store, verdict: str) -> StoredFinding:
    """Return the stored finding of a verdict."""
    with store.read() as session:
        return session.exec(select(StoredFinding).where(StoredFinding.verdict == verdict)).one()


SELECTIONS = [
    ("", {MUGS[1]}),
    ("?verdict=listed", {MUGS[0]}),
    ("?verdict=all&sort=-price", set(MUGS)),
    ("?verdict=all&price=6-6", {MUGS[1]}),
    ("?verdict=all&brand=nobody", set()),
]


@pytest.mark.parametrize(("query", "titles"), SELECTIONS, ids=[case[0] for case in SELECTIONS])
def test_the_query_selects(browser: Browser, query: str, titles: set[str]) -> None:
    """Verdict, filters and order stand in the query; the list shows just what they select."""
    page = browser.get(f"{LIST}{query}").text
    assert {title for title in MUGS if title in page} == titles


WRONG = ["?verdict=best", "?sort=colour", "?price=9-1", "?change=old", "?since=never", "?page=x"]


@pytest.mark.parametrize("query", WRONG)
def test_a_wrong_query_is_one_clear_line(browser: Browser, query: str) -> None:
    """A query that selects nothing meaningful is answered by 400 with the reason."""
    answer = browser.get(f"{LIST}{query}")
    assert answer.status_code == 400
    assert query.partition("=")[2].partition("-")[0] in answer.text or "number" in answer.text


@pytest.mark.parametrize("number", ["x", "-1", "1.5", "12345678", "²"])
def test_a_wrong_number_is_answered_by_the_allowed_ones(browser: Browser, number: str) -> None:
    """Text, negative and very large numbers are refused with the range."""
    answer = browser.get(f"{LIST}?page={number}")
    assert answer.status_code == 400
    assert "page must be a whole number from 0 to 9999999" in answer.text


def test_a_part_for_htmx(browser: Browser) -> None:
    """htmx gets the list alone, and the drawer alone, without the frame of the page."""
    part = browser.get(LIST, headers={"hx-request": "true"}).text
    assert MUGS[1] in part
    assert "<html" not in part


def test_the_drawer_shows_the_evidence(browser: Browser, store: Store) -> None:
    """A finding is a page of its own without scripts; one of another shop is not found."""
    finding = stored(store, "missing")
    page = browser.get(f"{LIST}/{finding.id}").text
    assert MUGS[1] in page
    assert "Nearest catalog offers" in page
    assert browser.get(f"{LIST}/999999").status_code == 404


def test_decide_and_undo(browser: Browser, store: Store) -> None:
    """A ticked offer is decided with a note and the account's name; the message undoes it."""
    finding = stored(store, "missing")
    answer = browser.submit(
        f"{LIST}/decide", decision="ignore", note="sold out", finding=str(finding.id)
    )
    assert answer.status_code == 303
    with store.read() as session:
        review = session.exec(select(Review)).one()
    assert (review.decision, review.note) == (ReviewDecision.IGNORE, "sold out")
    assert review.reviewer == "reviewer-0"
    page = browser.get(answer.headers["location"]).text
    undo = page.split('action="/shops/demo/findings/undo')[1].split('"')[0]
    assert browser.submit(f"{LIST}/undo{undo}").status_code == 303
    with store.read() as session:
        assert session.exec(select(Review)).all() == []
    assert browser.submit(f"{LIST}/undo{undo}").status_code == 400


def test_decide_all_that_are_filtered(browser: Browser, store: Store) -> None:
    """All findings of the filtered list are decided at once, on whichever page they are."""
    browser.submit(f"{LIST}/decide", decision="confirm", scope="filtered", verdict="all")
    with store.read() as session:
        assert len(session.exec(select(Review)).all()) == 3


def test_a_later_decision_is_undone_first(browser: Browser, store: Store) -> None:
    """A step cannot be undone while a later one decided on the same offer."""
    finding = str(stored(store, "missing").id)
    browser.submit(f"{LIST}/decide", decision="ignore", finding=finding)
    browser.submit(f"{LIST}/decide", decision="reject", finding=finding)
    answer = browser.submit(f"{LIST}/undo?step=1")
    assert answer.status_code == 400
    assert "later decisions on 1" in answer.text
    assert browser.submit(f"{LIST}/undo?step=2").status_code == 303
    assert browser.submit(f"{LIST}/undo?step=1").status_code == 303


REFUSED = [
    ({"decision": "confirm"}, "no offer is selected"),
    ({"decision": "maybe", "finding": "1"}, "choose from confirm, reject, ignore"),
    ({"decision": "confirm", "finding": "77777"}, "load the list again"),
    ({"decision": "confirm", "finding": "x"}, "must be an id"),
]


@pytest.mark.parametrize(("fields", "reason"), REFUSED, ids=[case[1] for case in REFUSED])
def test_a_decision_that_cannot_be_made(
    browser: Browser, fields: dict[str, str], reason: str
) -> None:
    """A form without a selection, or with an unknown decision, is refused with the reason."""
    answer = browser.submit(f"{LIST}/decide", **fields)
    assert answer.status_code == 400
    assert reason in answer.text


def test_a_viewer_sees_no_forms(browser: Browser, settings: Settings, store: Store) -> None:
    """A viewer reads the list and cannot decide."""
    viewer = signed_in(create_app(settings, store, ["127.0.0.1"]), Role.VIEWER)
    assert 'name="decision"' not in viewer.get(LIST).text
    assert viewer.submit(f"{LIST}/decide", decision="confirm").status_code == 403


def test_downloads_have_the_filtered_rows(browser: Browser) -> None:
    """CSV, XLSX and feeds hold what the query selects; an unknown format is not found."""
    table = browser.get(f"{LIST}.csv?verdict=all").text
    assert len(list(csv.reader(io.StringIO(table)))) == 4
    workbook = openpyxl.load_workbook(io.BytesIO(browser.get(f"{LIST}.xlsx").content))
    assert workbook.active is not None
    assert workbook.active.max_row == 2
    feed = browser.get(f"{LIST}.feed-xml")
    assert feed.headers["content-type"].startswith("application/xml")
    assert feed.text.count("</item>") == 1
    assert browser.get(f"{LIST}.exe").status_code == 404


def test_without_a_finished_run(settings: Settings, store: Store, shop: Shop) -> None:
    """Before the first finished run the page says what comes next."""
    browser = signed_in(create_app(settings, store, ["127.0.0.1"]), Role.VIEWER)
    assert "No run has finished yet" in browser.get(LIST).text
    assert browser.get(f"{LIST}.csv").status_code == 400
