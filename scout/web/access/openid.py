"""Sign in elsewhere: OpenID Connect 1.0, authorization code flow with PKCE (RFC 7636).

Authlib speaks with the provider; joserfc checks the signature of the ID token. An account is found
by issuer and subject, never by a name or an address that the provider gives, so that nobody takes
over an account with a password.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from requests import RequestException
from sqlmodel import select

from catalog.errors import ConfigError, ScoutError
from catalog.models import Account, Role, utc_now
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.web.access import accounts

TIMEOUT = 10.0
"""Seconds for one request to the provider."""

LEEWAY = 60
"""Seconds by which the clocks of provider and server may differ."""

# Signatures with a public key: a token signed by a shared secret proves nothing about its sender.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")
_SCOPE = "openid profile email"
_NAME_CLAIMS = ("preferred_username", "email", "name", "sub")
_MAX_NAMES = 100  # accounts with the same name from the provider


class SignInRefused(ScoutError):
    """The provider did not confirm who signs in, or the account may not."""


@dataclass(frozen=True)
class PendingSignIn:
    """A sign-in under way, kept in a cookie of the browser until it comes back."""

    state: str
    nonce: str
    verifier: str
    next: str

    def to_cookie(self) -> str:
        """Return the value of the cookie."""
        return json.dumps(asdict(self))

    @classmethod
    def from_cookie(cls, value: str) -> "PendingSignIn":
        """Read the cookie. Raises SignInRefused."""
        try:
            stored = json.loads(value)
            return cls(**{name: str(stored[name]) for name in cls.__dataclass_fields__})
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise SignInRefused("the sign-in has expired: begin again") from error


class OpenIdProvider:
    """The provider of the settings. Its endpoints are read when the first person signs in."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._metadata: Mapping[str, Any] | None = None

    def begin(self, redirect_uri: str, next_path: str) -> tuple[str, PendingSignIn]:
        """Return the provider's address to send the browser to. Raises SignInRefused."""
        pending = PendingSignIn(
            state=secrets.token_urlsafe(24),
            nonce=secrets.token_urlsafe(24),
            verifier=secrets.token_urlsafe(48),
            next=next_path,
        )
        endpoint = self._endpoint("authorization_endpoint")
        with self._session(redirect_uri) as session:
            url, _ = session.create_authorization_url(
                endpoint, state=pending.state, nonce=pending.nonce, code_verifier=pending.verifier
            )
        return str(url), pending

    def finish(
        self, redirect_uri: str, pending: PendingSignIn, code: str, state: str
    ) -> dict[str, Any]:
        """Exchange the code for the claims of the person. Raises SignInRefused."""
        if not secrets.compare_digest(pending.state.encode(), state.encode(errors="replace")):
            raise SignInRefused("the sign-in was begun in another browser: begin again")
        try:
            with self._session(redirect_uri) as session:
                token = session.fetch_token(
                    self._endpoint("token_endpoint"),
                    code=code,
                    code_verifier=pending.verifier,
                    timeout=TIMEOUT,
                )
                keys = session.get(
                    self._endpoint("jwks_uri"), timeout=TIMEOUT, withhold_token=True
                ).json()
            decoded = jwt.decode(token["id_token"], KeySet.import_key_set(keys), _ALGORITHMS)
            registry = jwt.JWTClaimsRegistry(
                leeway=LEEWAY,
                iss={"essential": True, "value": self._issuer()},
                aud={"essential": True, "value": self._settings.oidc_client_id},
                exp={"essential": True},
                sub={"essential": True},
                nonce={"essential": True, "value": pending.nonce},
            )
            registry.validate(decoded.claims)
        except (OAuthError, JoseError, RequestException, ValueError, KeyError, TypeError) as error:
            # The text of the error may quote the token.
            raise SignInRefused(
                f"the provider did not confirm the sign-in ({type(error).__name__})"
            ) from error
        return dict(decoded.claims)

    def account(self, store: Store, claims: Mapping[str, Any]) -> Account:
        """Return the account of the claims, added at the first sign-in. Raises SignInRefused.

        With `oidc_roles` the role follows the groups of the claims at each sign-in.
        """
        subject = f"{self._issuer()} {claims['sub']}"
        role = self._role(claims)
        if role is None:
            raise SignInRefused("none of your groups may use Scout: ask an admin")
        with store.write() as session:
            account = session.exec(select(Account).where(Account.subject == subject)).first()
            if account is not None:
                if self._settings.oidc_roles:
                    account.role = role
                account.last_login_at = utc_now()
                return account
        return _add(store, _names(claims), role, subject)

    def _role(self, claims: Mapping[str, Any]) -> Role | None:
        groups = claims.get(self._settings.oidc_groups_claim)
        if not isinstance(groups, list):
            groups = [groups]
        roles = []
        for group in groups:
            if str(group) in self._settings.oidc_roles:
                roles.append(self._settings.oidc_roles[str(group)])
        if isinstance(self._settings.oidc_role, Role):
            roles.append(self._settings.oidc_role)
        return max(roles, key=list(Role).index, default=None)

    def _issuer(self) -> str:
        return self._settings.oidc_issuer

    def _endpoint(self, name: str) -> str:
        """Return an endpoint of the provider. Raises SignInRefused."""
        if self._metadata is None:
            url = f"{self._issuer().rstrip('/')}/.well-known/openid-configuration"
            try:
                with self._session(None) as session:
                    metadata = session.get(url, timeout=TIMEOUT, withhold_token=True).json()
                if metadata["issuer"] != self._issuer():
                    raise ValueError
            except (RequestException, ValueError, KeyError, TypeError) as error:
                raise SignInRefused(
                    "the provider of the setting 'oidc_issuer' does not answer"
                ) from error
            self._metadata = metadata
        endpoint = self._metadata.get(name)
        if not isinstance(endpoint, str):
            raise SignInRefused(f"the provider names no {name}")
        return endpoint

    def _session(self, redirect_uri: str | None) -> OAuth2Session:
        return OAuth2Session(
            self._settings.oidc_client_id,
            self._settings.oidc_client_secret.get_secret_value(),
            scope=_SCOPE,
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
        )


def make_provider(settings: Settings) -> OpenIdProvider | None:
    """Return the provider of the settings, None where none is set. Raises ConfigError."""
    if not settings.oidc_issuer:
        return None
    if not settings.oidc_client_id or not settings.public_url:
        raise ConfigError("setting 'oidc_issuer' needs 'oidc_client_id' and 'public_url' as well")
    return OpenIdProvider(settings)


def _names(claims: Mapping[str, Any]) -> list[str]:
    """Return the names that the claims give and an account may have, the best first."""
    names = []
    for claim in _NAME_CLAIMS:
        try:
            names.append(accounts.check_account_name(str(claims.get(claim) or "")))
        except ScoutError:
            continue
    return names or ["user"]


def _add(store: Store, names: list[str], role: Role, subject: str) -> Account:
    """Add an account under the first free name."""
    candidates = [*names, *(f"{names[0][:90]} {number}" for number in range(2, _MAX_NAMES))]
    for name in candidates:
        try:
            return accounts.add_account(store, name, role, None, subject)
        except ScoutError:
            continue
    raise SignInRefused("too many accounts have your name: ask an admin")
