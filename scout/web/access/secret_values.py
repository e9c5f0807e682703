"""Random secrets (session cookies, API tokens) and the digests under which they are stored."""

import hashlib
import hmac
import secrets

API_TOKEN_PREFIX = "scout_"  # noqa: S105
"""Start of every API token, so that scanners for leaked secrets find it."""

_SECRET_BYTES = 32
_MAX_LENGTH = 200  # characters of a secret: a bound against hostile input


def new_secret() -> str:
    """Return a random secret of 256 bits."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def digest(secret: str) -> str:
    """Return the SHA-256 digest of a secret: random 256 bits need no slow hash."""
    return hashlib.sha256(secret[:_MAX_LENGTH].encode(errors="replace")).hexdigest()


def csrf_token(cookie: str) -> str:
    """Return the token that forms of the browser with this cookie have to send back."""
    return hmac.new(cookie[:_MAX_LENGTH].encode(errors="replace"), b"csrf", "sha256").hexdigest()


def is_csrf_token(cookie: str, token: str) -> bool:
    """Return True if a form's token belongs to the cookie."""
    return hmac.compare_digest(csrf_token(cookie).encode(), token.encode(errors="replace"))
