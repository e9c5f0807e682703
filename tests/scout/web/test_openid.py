"""Sign in by OpenID Connect: against a provider on loopback that signs its tokens."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from fastapi import FastAPI
from joserfc import jwt
from joserfc.jwk import RSAKey

from catalog.errors import ConfigError
from catalog.models import Role
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.web.access import accounts
from scout.web.access.openid import make_provider
from scout.web.app import create_app
from tests.scout.web.browser import PASSWORD, Browser

KEY = RSAKey.generate_key(2048, {"kid": "k1"})
OTHER_KEY = RSAKey.generate_key(2048, {"kid": "k1"})


class Provider(HTTPServer):
    """A provider that confirms whoever comes with its code; `claims` change the ID token."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server_port}"
        self.claims: dict[str, Any] = {}
        self.key = KEY
        self.algorithm = "RS256"
        self.challenge = ""
        self.nonce = ""

    def authorize(self, location: str) -> dict[str, str]:
        """Do what the page of the provider does: return the query that it sends the browser back with."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        assert query["code_challenge_method"] == "S256"
        self.challenge, self.nonce = query["code_challenge"], query["nonce"]
        return {"code": "the code", "state": query["state"]}

    def id_token(self) -> str:
        """Return the signed claims."""
        claims = {
            "iss": self.issuer,
            "aud": "scout",
            "sub": "42",
            "nonce": self.nonce,
            "exp": int(time.time()) + 300,
            "preferred_username": "grace",
            **self.claims,
        }
        return jwt.encode({"alg": self.algorithm, "kid": "k1"}, claims, self.key, [self.algorithm])


class Handler(BaseHTTPRequestHandler):
    """The endpoints of the provider."""

    server: Provider

    def do_GET(self) -> None:
        """Answer metadata and keys."""
        issuer = self.server.issuer
        if self.path == "/jwks":
            self._send({"keys": [KEY.as_dict(private=False)]})
            return
        metadata = {"issuer": issuer, "jwks_uri": f"{issuer}/jwks"}
        for name in ("authorization", "token"):
            metadata[f"{name}_endpoint"] = f"{issuer}/{name}"
        self._send(metadata)

    def do_POST(self) -> None:
        """Exchange the code for a token, if the verifier fits the challenge."""
        length = int(self.headers["content-length"])
        form = parse_qs(self.rfile.read(length).decode())
        verifier = form["code_verifier"][0]
        fits = create_s256_code_challenge(verifier) == self.server.challenge
        if form["code"] != ["the code"] or not fits:
            self._send({"error": "invalid_grant"}, 400)
            return
        token = {"access_token": "a", "token_type": "Bearer", "id_token": self.server.id_token()}
        self._send(token)

    def _send(self, value: object, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A running provider."""
    with Provider() as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        server.shutdown()


def make_app(settings: Settings, store: Store, provider: Provider, **changes: Any) -> FastAPI:
    """Return the application with the provider in its settings."""
    values = {
        "public_url": "http://127.0.0.1",
        "oidc_issuer": provider.issuer,
        "oidc_client_id": "scout",
        "oidc_client_secret": "a secret",
        **changes,
    }
    return create_app(Settings.load(data_dir=settings.data_dir, **values), store, ["127.0.0.1"])


def sign_in(app: FastAPI, provider: Provider, **changes: str) -> tuple[Browser, int]:
    """Walk through a sign-in; return the browser and the last status."""
    browser = Browser(app)
    begun = browser.get("/login/openid?next=/account")
    query = provider.authorize(begun.headers["location"]) | changes
    finished = browser.get("/login/openid/return", params=query)
    if finished.status_code == 303:
        assert finished.headers["location"] == "/account"
    return browser, finished.status_code


def test_sign_in(settings: Settings, store: Store, provider: Provider) -> None:
    """The first sign-in adds an account, later ones find it, under whatever name."""
    app = make_app(settings, store, provider)
    assert "/login/openid" in Browser(app).get("/login").text
    browser, status = sign_in(app, provider)
    assert status == 303
    assert "grace" in browser.get("/account").text
    provider.claims = {"preferred_username": "hopper"}
    assert sign_in(app, provider)[1] == 303
    (account,) = accounts.list_accounts(store)
    assert (account.name, account.role) == ("grace", Role.VIEWER)
    assert accounts.verify_login(store, "grace", "") is None


def test_a_name_that_is_taken(settings: Settings, store: Store, provider: Provider) -> None:
    """Nobody gets the account of somebody else who has the same name."""
    accounts.add_account(store, "grace", Role.ADMIN, PASSWORD)
    provider.claims = {"email": "grace"}
    browser, status = sign_in(make_app(settings, store, provider), provider)
    assert status == 303
    assert browser.get("/accounts").status_code == 403
    assert [account.role for account in accounts.list_accounts(store)] == ["viewer", "admin"]


@pytest.mark.parametrize(
    ("claims", "settings_changes", "role"),
    [
        ({"groups": ["catalog", "ops"]}, {}, "editor"),
        ({"groups": "catalog"}, {}, "reviewer"),
        ({"groups": ["others"]}, {}, "viewer"),
        ({"groups": None}, {"oidc_role": "none"}, None),
        ({"roles": ["ops"]}, {"oidc_groups_claim": "roles"}, "editor"),
    ],
)
def test_roles(
    settings: Settings,
    store: Store,
    provider: Provider,
    claims: dict[str, Any],
    settings_changes: dict[str, Any],
    role: str | None,
) -> None:
    """The greatest role of a person's groups counts, at each sign-in; without one it is refused."""
    roles = {"catalog": "reviewer", "ops": "editor"}
    app = make_app(settings, store, provider, oidc_roles=roles, **settings_changes)
    provider.claims = claims
    _, status = sign_in(app, provider)
    assert status == (403 if role is None else 303)
    stored = [str(account.role) for account in accounts.list_accounts(store)]
    assert stored == ([] if role is None else [role])


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another"},
        {"iss": "http://evil.example"},
        {"nonce": "another"},
        {"exp": 1},
        {"sub": None},
    ],
)
def test_bad_tokens(
    settings: Settings, store: Store, provider: Provider, claims: dict[str, Any]
) -> None:
    """A token of another issuer, client, sign-in or time is refused."""
    provider.claims = claims
    assert sign_in(make_app(settings, store, provider), provider)[1] == 403
    assert accounts.list_accounts(store) == []


def test_bad_answers(settings: Settings, store: Store, provider: Provider) -> None:
    """A foreign signature, another code, state or browser is refused, and no provider as well."""
    app = make_app(settings, store, provider)
    provider.key = OTHER_KEY
    assert sign_in(app, provider)[1] == 403
    provider.key = KEY
    assert sign_in(app, provider, code="another")[1] == 403
    assert sign_in(app, provider, state="another")[1] == 403
    assert Browser(app).get("/login/openid/return?code=the+code&state=x").status_code == 403
    absent = make_app(settings, store, provider, oidc_issuer="http://127.0.0.1:1")
    assert Browser(absent).get("/login/openid").status_code == 422
    assert (
        Browser(create_app(settings, store, ["127.0.0.1"])).get("/login/openid").status_code == 404
    )


def test_settings(settings: Settings) -> None:
    """A provider needs the client and the address of this application."""
    loaded = Settings.load(data_dir=settings.data_dir, oidc_issuer="https://id.example")
    with pytest.raises(ConfigError, match="oidc_client_id"):
        make_provider(loaded)
