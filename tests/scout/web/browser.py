"""A browser for tests of the web application: signs in, and sends forms with their CSRF token."""

import re
from typing import Any

from fastapi import FastAPI
from fastapi.testclient import TestClient

from catalog.models import Role
from catalog.storage.store import Store
from scout.web.access.accounts import account_key, add_account, list_accounts
from scout.web.access.secret_values import csrf_token
from scout.web.access.sessions import start_session
from scout.web.context import SESSION_COOKIE

PASSWORD = "a long password"


class Browser(TestClient):
    """A client that follows no redirect."""

    def __init__(self, app: FastAPI) -> None:
        super().__init__(
            app,
            base_url="http://127.0.0.1",
            raise_server_exceptions=False,
            follow_redirects=False,
        )

    def submit(self, path: str, /, **fields: Any) -> Any:
        """Send a form with the CSRF token of the session."""
        token = csrf_token(self.cookies.get(SESSION_COOKIE, ""))
        return self.post(path, data={"csrf_token": token, **fields})


def signed_in(app: FastAPI, role: Role) -> Browser:
    """Return a browser that is signed in to a new account of that role, which has no password."""
    store: Store = app.state.store
    name = f"{role}-{len(list_accounts(store))}"
    account = add_account(store, name, role, None)
    browser = Browser(app)
    browser.cookies.set(SESSION_COOKIE, start_session(store, account_key(account)))
    return browser


def form_token(page: str) -> str:
    """Return the CSRF token of the first form of a page."""
    match = re.search(r'name="csrf_token" value="(\w+)"', page)
    assert match is not None
    return match[1]
