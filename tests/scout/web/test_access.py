"""Accounts, sessions, tokens and the audit log: who gets in, for how long, and what is noted."""

import time
from datetime import timedelta

import pytest
import structlog
from fastapi import FastAPI
from sqlmodel import select

from catalog.errors import ScoutError, StorageFull, UsageError
from catalog.models import (
    Account,
    ApiToken,
    AuditEntry,
    LoginFailure,
    Role,
    Shop,
    WebSession,
    utc_now,
)
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.web.access import accounts, api_tokens, login_limit, passwords, sessions
from scout.web.access.last_use import wait_for_notes
from scout.web.app import create_app
from scout.web.context import GUEST_COOKIE, SESSION_COOKIE
from tests.scout.conftest import Scout
from tests.scout.web.browser import PASSWORD, Browser, form_token, signed_in

# The hasher of passwords, which the tests replace by a cheap one.
HASHER = passwords._hasher


@pytest.fixture
def app(settings: Settings, store: Store) -> FastAPI:
    """The application on an empty store."""
    return create_app(settings, store, ["127.0.0.1"])


@pytest.fixture
def ada(store: Store) -> Account:
    """An editor with a password."""
    return accounts.add_account(store, "Ada", Role.EDITOR, PASSWORD)


def log_in(browser: Browser, name: str, password: str, **fields: str) -> int:
    """Send the login form; return the status."""
    token = form_token(browser.get("/login").text)
    form = {"csrf_token": token, "name": name, "password": password, **fields}
    return int(browser.post("/login", data=form).status_code)


@pytest.mark.both_databases
def test_login(app: FastAPI, ada: Account, store: Store) -> None:
    """The right password starts a session with a new cookie and leads to the page asked for."""
    browser = Browser(app)
    assert log_in(browser, "ada", "a wrong password") == 401
    assert log_in(browser, " ADA ", PASSWORD, next="/account") == 303
    cookie = browser.cookies[SESSION_COOKIE]
    assert GUEST_COOKIE not in browser.cookies
    assert "Ada" in browser.get("/account").text
    with store.read() as session:
        row = session.exec(select(WebSession)).one()
    assert cookie not in row.digest
    assert browser.submit("/logout").status_code == 303
    browser.cookies.set(SESSION_COOKIE, cookie)
    assert browser.get("/account").status_code == 303


def test_hashes() -> None:
    """Passwords are hashed with the second recommendation of RFC 9106."""
    assert HASHER.hash(PASSWORD).startswith("$argon2id$v=19$m=65536,t=3,p=4$")


def test_cookies(settings: Settings, store: Store, ada: Account) -> None:
    """Cookies are not for scripts or foreign pages; over HTTPS they are bound to the host."""
    app = create_app(settings, store, ["127.0.0.1"])
    for scheme, prefix in (("http", ""), ("https", "__Host-")):
        browser = Browser(app)
        browser.base_url = f"{scheme}://127.0.0.1"
        token = form_token(browser.get("/login").text)
        form = {"csrf_token": token, "name": "ada", "password": PASSWORD}
        header = browser.post("/login", data=form).headers["set-cookie"].lower()
        assert header.startswith(f"{prefix}{SESSION_COOKIE}=".lower())
        assert "httponly" in header
        assert "samesite=lax" in header
        assert ("secure" in header) == (scheme == "https")


@pytest.mark.parametrize(
    ("column", "age", "is_valid"),
    [
        ("seen_at", sessions.IDLE_EXPIRY - timedelta(minutes=1), True),
        ("seen_at", sessions.IDLE_EXPIRY + timedelta(minutes=1), False),
        ("created_at", sessions.ABSOLUTE_EXPIRY - timedelta(minutes=1), True),
        ("created_at", sessions.ABSOLUTE_EXPIRY + timedelta(minutes=1), False),
    ],
)
def test_expiry(app: FastAPI, store: Store, column: str, age: timedelta, is_valid: bool) -> None:
    """A session ends after some time without a request, and some time after the login."""
    browser = signed_in(app, Role.VIEWER)
    with store.write() as session:
        setattr(session.exec(select(WebSession)).one(), column, utc_now() - age)
    assert (browser.get("/account").status_code == 200) == is_valid
    wait_for_notes()
    if is_valid and column == "seen_at":
        with store.read() as session:
            assert utc_now() - session.exec(select(WebSession)).one().seen_at < timedelta(minutes=1)


def test_password_change(app: FastAPI, ada: Account) -> None:
    """A new password needs the present one, and ends the other sessions."""
    here, there = Browser(app), Browser(app)
    for browser in (here, there):
        assert log_in(browser, "Ada", PASSWORD) == 303
    wrong = here.submit("/account/password", former="wrong", password="another password")
    assert wrong.status_code == 403
    short = here.submit("/account/password", former=PASSWORD, password="short")
    assert short.status_code == 400
    changed = here.submit("/account/password", former=PASSWORD, password="another password")
    assert changed.status_code == 303
    assert "The password is changed" in here.get("/account").text
    assert "The password is changed" not in here.get("/account").text
    assert there.get("/account").status_code == 303
    assert log_in(there, "Ada", PASSWORD) == 401
    assert log_in(there, "Ada", "another password") == 303


def test_messages_are_in_the_language_of_the_page(app: FastAPI, ada: Account) -> None:
    """Messages of the account pages are translated, and count what is one."""
    here, there = Browser(app), Browser(app)
    for browser in (here, there):
        assert log_in(browser, "Ada", PASSWORD) == 303
    here.headers["Accept-Language"] = "de"
    wrong = here.submit("/account/password", former="wrong", password="another password")
    assert "Das bisherige Passwort ist falsch." in wrong.text
    assert here.submit("/account/sessions/end").status_code == 303
    assert "1 andere Sitzung ist beendet." in here.get("/account").text


def test_login_limit(app: FastAPI, ada: Account, store: Store) -> None:
    """After five failures even the right password is refused, until they are a quarter old."""
    browser = Browser(app)
    for _ in range(login_limit.MAX_FAILURES):
        assert log_in(browser, "Ada", "a wrong password") == 401
    assert log_in(browser, "ada", PASSWORD) == 429
    assert not login_limit.is_limited(store, "Ada", "192.0.2.1")
    with store.write() as session:
        for failure in session.exec(select(LoginFailure)):
            failure.failed_at = utc_now() - login_limit.WINDOW
    assert log_in(browser, "ada", PASSWORD) == 303


@pytest.mark.parametrize(
    ("name", "address", "limit"),
    [
        ("name {}", "192.0.2.1", login_limit.MAX_FAILURES_OF_ADDRESS),
        ("ada", "192.0.2.{}", login_limit.MAX_FAILURES_OF_ACCOUNT),
    ],
)
def test_wider_login_limits(store: Store, name: str, address: str, limit: int) -> None:
    """Failures of one address on many accounts are limited, and of one account from many."""
    for number in range(limit):
        assert not login_limit.is_limited(store, name.format(99), address.format(99))
        login_limit.note_failure(store, name.format(number), address.format(number))
    assert login_limit.is_limited(store, name.format(99), address.format(99))


def test_tokens(app: FastAPI, ada: Account, store: Store) -> None:
    """A token does what its role may, until it expires, is removed, or its account loses the role."""
    browser = signed_in(app, Role.EDITOR)
    page = browser.submit("/account/tokens", name="ci", role="reviewer", days="30").text
    start = page.index("scout_")
    token = page[start : page.index("<", start)]
    assert token not in browser.get("/account").text
    program = Browser(app)
    program.headers["authorization"] = f"Bearer {token}"
    assert program.get("/api/v1/account").json() == {"name": "editor-1", "role": "reviewer"}
    assert program.post("/api/v1/shops", json={}).status_code == 403
    accounts.set_role(store, "editor-1", Role.VIEWER)
    assert program.get("/api/v1/account").json()["role"] == "viewer"
    wait_for_notes()
    with store.write() as session:
        stored = session.exec(select(ApiToken)).one()
        assert stored.digest not in token
        assert stored.last_used_at is not None
        stored.expires_at = utc_now()
    assert program.get("/api/v1/account").status_code == 401
    browser.submit("/account/tokens/remove", name="ci")
    assert api_tokens.list_tokens(store, 2) == []


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("tokens", {"name": "greater", "role": "admin"}),
        ("tokens", {"name": "without end", "role": "viewer"}),
        ("tokens/remove", {"name": "ci"}),
        ("password", {"former": PASSWORD, "password": "another password"}),
        ("sessions/end", {}),
    ],
)
def test_a_token_cannot_change_its_account(
    app: FastAPI, store: Store, path: str, fields: dict[str, str]
) -> None:
    """A token of a lesser role, or with an end, makes no other token, and ends no session."""
    signed_in(app, Role.ADMIN)
    token = api_tokens.add_token(store, "admin-0", "ci", Role.VIEWER, 1)
    program = Browser(app)
    program.headers["authorization"] = f"Bearer {token}"
    assert program.post(f"/account/{path}", data=fields).status_code == 403
    assert [row.name for row in api_tokens.list_tokens(store, 1)] == ["ci"]
    assert len(sessions.list_sessions(store, 1)) == 1


@pytest.mark.parametrize(
    ("name", "role", "days"), [("", "viewer", ""), ("x", "admin", ""), ("x", "viewer", "-1")]
)
def test_bad_tokens(app: FastAPI, store: Store, name: str, role: str, days: str) -> None:
    """A token has a name, at most the role of its account, and a number of days."""
    browser = signed_in(app, Role.EDITOR)
    response = browser.submit("/account/tokens", name=name, role=role, days=days)
    assert response.status_code in (400, 422)
    assert api_tokens.list_tokens(store, 1) == []


def test_accounts_page(app: FastAPI, store: Store) -> None:
    """An admin adds, changes and removes accounts; the last admin stays; all is in the log."""
    admin = signed_in(app, Role.ADMIN)
    page = admin.submit("/accounts", name="Bob", role="viewer").text
    start = page.index('<code class="copy">') + len('<code class="copy">')
    password = page[start : page.index("<", start)]
    assert accounts.verify_login(store, "bob", password) is not None
    assert admin.submit("/accounts", name="bob", role="viewer").status_code == 400
    assert admin.submit("/accounts/role", name="Bob", role="reviewer").status_code == 303
    assert admin.submit("/accounts/password", name="Bob").status_code == 200
    assert accounts.verify_login(store, "bob", password) is None
    assert admin.submit("/accounts/remove", name="admin-0").status_code == 400
    assert admin.submit("/accounts/role", name="admin-0", role="viewer").status_code == 400
    assert admin.submit("/accounts/remove", name="Bob").status_code == 303
    assert [account.name for account in accounts.list_accounts(store)] == ["admin-0"]
    log = admin.get("/audit").text
    for action in ("account added", "role changed", "password reset", "account removed"):
        assert action in log


def test_names_and_passwords(store: Store) -> None:
    """Names are printable and unique in any case; passwords have a least length."""
    accounts.add_account(store, "Eve", Role.VIEWER, None)
    with pytest.raises(ScoutError, match="already"):
        accounts.add_account(store, "eve", Role.VIEWER, None)
    for name in ("", " ", "a\x00b", "a\nb", "<script>", "x" * 101):
        with pytest.raises(UsageError):
            accounts.add_account(store, name, Role.VIEWER, None)
    for password in ("short", "x" * 1001, "a lone \ud800 surrogate"):
        with pytest.raises(UsageError):
            accounts.add_account(store, "Zoe", Role.VIEWER, password)
    assert not passwords.verify_password(None, PASSWORD)


def test_first_admin(store: Store, settings: Settings, scout: Scout) -> None:
    """The first start makes an admin, once; beyond loopback nothing is served without accounts."""
    refused = scout("serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.code == 1
    assert "scout user add" in refused.error
    password = accounts.make_first_admin(store)
    assert password is not None
    assert accounts.make_first_admin(store) is None
    account = accounts.verify_login(store, "admin", password)
    assert account is not None
    assert account.role == Role.ADMIN


def test_a_first_admin_that_cannot_be_stored_is_an_error(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the store is locked or its disk is full: nobody could sign in."""

    def add_account(*_: object) -> None:
        raise StorageFull("no space left")

    monkeypatch.setattr(accounts, "add_account", add_account)
    with pytest.raises(StorageFull):
        accounts.make_first_admin(store)


def test_user_commands(scout: Scout, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """`scout user` adds, changes and removes accounts and tokens; no secret is an argument."""
    added = scout("user", "add", "ada", "--role", "admin")
    assert "generated password, shown once" in added.err
    monkeypatch.setattr("sys.stdin.readline", lambda: f"{PASSWORD}\n", raising=False)
    assert scout("user", "add", "bob", "--no-password").code == 0
    token = scout("user", "token", "add", "bob", "ci").out.strip()
    assert api_tokens.find_token(store, token) is not None
    assert scout("user", "token", "remove", "bob", "ci").code == 0
    assert api_tokens.find_token(store, token) is None
    assert scout("user", "role", "bob", "editor").code == 0
    assert '"role": "editor"' in scout("user", "list", "--json").out
    assert scout("user", "role", "bob", "king").code == 2
    assert scout("user", "remove", "ada").code == 2
    assert scout("user", "remove", "bob").code == 0
    log = scout("user", "log", "--json").out
    assert log.count('"action"') == 6
    assert token not in log


def test_actions_are_logged(app: FastAPI, store: Store, shop: Shop) -> None:
    """The audit log has who did what, with texts made printable."""
    editor = signed_in(app, Role.EDITOR)
    token = api_tokens.add_token(store, "editor-0", "x")
    headers = {"authorization": f"Bearer {token}"}
    editor.put("/api/v1/shops/demo/schedule", json={"cron": "@daily"}, headers=headers)
    with store.read() as session:
        entry = session.exec(select(AuditEntry)).one()
    assert (entry.actor, entry.action, entry.shop) == ("editor-0", "scheduled", "demo")
    assert entry.details == {"cron": "@daily"}


def test_logs_hold_no_secrets(app: FastAPI, ada: Account) -> None:
    """Logs hold no value of a header, cookie, form or query, even of a request that fails."""
    app.state.store = None
    with structlog.testing.capture_logs() as logs:
        browser = Browser(app)
        secret = "s3cret-value"
        response = browser.get(f"/shops/{secret}?q={secret}", headers={"cookie": f"a={secret}"})
        assert response.status_code == 303
        browser.cookies.set(SESSION_COOKIE, secret)
        response = browser.get(f"/shops/{secret}?q={secret}")
        assert response.status_code == 500
    assert logs
    assert secret not in str(logs)


def test_messages_are_shown_once(app: FastAPI, store: Store) -> None:
    """The message of a redirect is escaped, stands on the next page, and is gone afterwards."""
    browser = signed_in(app, Role.VIEWER)
    sessions.add_message(store, 1, {"text": "<b>done</b>", "kind": "good"})
    assert "&lt;b&gt;done&lt;/b&gt;" in browser.get("/account").text
    assert "done" not in browser.get("/account").text


def test_language(app: FastAPI, store: Store) -> None:
    """The language is that of the account, else of the cookie, else of the browser."""
    browser = Browser(app)
    assert '<html lang="en">' in browser.get("/login").text
    german = browser.get("/login", headers={"accept-language": "de-AT,en;q=0.5"}).text
    assert '<html lang="de">' in german
    browser.post("/language", data={"csrf_token": form_token(german), "language": "de"})
    assert '<html lang="de">' in browser.get("/login").text
    member = signed_in(app, Role.VIEWER)
    member.submit("/language", language="de", next="/account")
    assert accounts.list_accounts(store)[0].language == "de"


def test_pages_do_not_wait_for_writers(app: FastAPI, store: Store) -> None:
    """While a run holds the database's write lock, pages are shown all the same."""
    browser = signed_in(app, Role.VIEWER)
    with store.write() as session:
        session.exec(select(WebSession)).one().seen_at = utc_now() - timedelta(hours=1)
    with store.write():
        begin = time.monotonic()
        assert browser.get("/account").status_code == 200
        assert time.monotonic() - begin < 10
    wait_for_notes()
