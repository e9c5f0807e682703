"""The page of a shop, its causes, and shops that are added, changed and removed."""

import pytest
from fastapi import FastAPI
from sqlmodel import select

from catalog.models import DismissedCause, Role, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.web.app import create_app
from tests.scout.conftest import FakeStages, Scout
from tests.scout.web.browser import signed_in


@pytest.fixture
def app(settings: Settings, store: Store, shop: Shop) -> FastAPI:
    """Return the application on a shop without runs."""
    return create_app(settings, store, ["127.0.0.1"])


def test_a_shop_without_runs_says_what_comes_next(app: FastAPI) -> None:
    """Without known offers the next step is an import, and an editor can run the shop."""
    page = signed_in(app, Role.EDITOR).get("/shops/demo").text
    assert "Import a feed" in page
    assert "Run now" in page
    assert "Run now" not in signed_in(app, Role.VIEWER).get("/shops/demo").text


def test_figures_of_the_last_finished_run(
    scout: Scout, app: FastAPI, known_shop: Shop, fake_stages: FakeStages
) -> None:
    """The tiles lead to the findings that they count."""
    assert scout("run", "demo").code == 0
    page = signed_in(app, Role.REVIEWER).get("/shops/demo").text
    assert 'href="/shops/demo/findings?verdict=unsure"><b>1</b>' in page
    assert "Run 1, finished" in page


def test_dismiss_a_cause(
    scout: Scout, app: FastAPI, store: Store, known_shop: Shop, fake_stages: FakeStages
) -> None:
    """A dismissed cause is listed apart, and can be restored; a text that is no cause is refused."""
    assert scout("run", "demo").code == 0
    browser = signed_in(app, Role.REVIEWER)
    cause = "not in the feed"
    assert browser.submit("/shops/demo/causes/dismiss", cause=cause).status_code == 303
    with store.read() as session:
        assert session.exec(select(DismissedCause)).one().dismissed_by == "reviewer-0"
    assert "Restore" in browser.get("/shops/demo").text
    browser.submit("/shops/demo/causes/restore", cause=cause)
    with store.read() as session:
        assert session.exec(select(DismissedCause)).first() is None
    assert browser.submit("/shops/demo/causes/dismiss", cause="<b>").status_code == 400


def test_add_and_change_a_shop(app: FastAPI, store: Store) -> None:
    """A shop is added with its limits; they can be changed, and empty fields remove them."""
    browser = signed_in(app, Role.EDITOR)
    answer = browser.submit(
        "/shops", name="lamps", url="https://lamps.example", max_bytes="2GB", window="22:00-06:00"
    )
    assert answer.headers["location"] == "/shops/lamps/imports"
    shop = store.shop("lamps")
    assert (shop.url, shop.max_bytes, shop.window) == (
        "https://lamps.example/",
        2_000_000_000,
        "22:00-06:00",
    )
    browser.submit("/shops/lamps/settings", max_pages="50", window="")
    shop = store.shop("lamps")
    assert (shop.max_pages, shop.max_bytes, shop.window) == (50, None, None)


WRONG = [
    {"name": "a/b", "url": "https://a.example"},
    {"name": "a", "url": "http://127.0.0.1/"},
    {"name": "a", "url": "javascript:alert(1)"},
    {"name": "a", "url": "https://a.example", "max_bytes": "many"},
    {"name": "a", "url": "https://a.example", "max_minutes": "-1"},
    {"name": "a", "url": "https://a.example", "delay": "soon"},
    {"name": "demo", "url": "https://a.example"},
]


@pytest.mark.parametrize("fields", WRONG, ids=[str(fields) for fields in WRONG])
def test_a_shop_that_cannot_be_added(app: FastAPI, store: Store, fields: dict[str, str]) -> None:
    """Names, addresses and limits are checked before anything is stored."""
    answer = signed_in(app, Role.EDITOR).submit("/shops", **fields)
    assert answer.status_code in (400, 409, 422)
    with store.read() as session:
        assert len(session.exec(select(Shop)).all()) == 1


def test_private_addresses_are_for_admins(app: FastAPI, store: Store) -> None:
    """Only an admin adds a shop of a private network."""
    fields = {"name": "inner", "url": "http://10.0.0.1/", "allow_private": "true"}
    assert signed_in(app, Role.EDITOR).submit("/shops", **fields).status_code == 403
    assert signed_in(app, Role.ADMIN).submit("/shops", **fields).status_code == 303


def test_remove_a_shop(app: FastAPI, store: Store) -> None:
    """An admin removes a shop by typing its name."""
    admin = signed_in(app, Role.ADMIN)
    assert admin.submit("/shops/demo/remove", confirmed="dem").status_code == 400
    assert admin.submit("/shops/demo/remove", confirmed="demo").status_code == 303
    with store.read() as session:
        assert session.exec(select(Shop)).first() is None
