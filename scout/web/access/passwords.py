"""Passwords: hashed by Argon2id with the parameters of RFC 9106 (second recommendation).

A hash takes 64 MiB and about 100 ms. Few are computed at a time, so that many attempts to sign in
cannot exhaust the memory.
"""

import secrets
import threading

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.profiles import RFC_9106_LOW_MEMORY

from catalog.errors import UsageError

MIN_LENGTH = 10
"""Characters of a password at least (NIST SP 800-63B asks for 8 with a second factor)."""

MAX_LENGTH = 1000
"""Characters of a password at most: a bound against hostile input."""

PARALLEL_HASHES = 2
"""Hashes computed at a time: 128 MiB in all."""

_hasher = PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)
_slots = threading.BoundedSemaphore(PARALLEL_HASHES)


def check_password(password: str) -> str:
    """Return a password that may be stored. Raises UsageError."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise UsageError(f"a password has {MIN_LENGTH} to {MAX_LENGTH} characters")
    try:
        password.encode()
    except UnicodeEncodeError as error:
        raise UsageError("the password holds characters that are no text") from error
    return password


def generate_password() -> str:
    """Generate a password of 120 random bits."""
    return secrets.token_urlsafe(15)


def hash_password(password: str) -> str:
    """Hash a password with a new salt."""
    with _slots:
        return _hasher.hash(password)


def verify_password(password_hash: str | None, password: str) -> bool:
    """Return True if the password has that hash.

    Without a hash a password is hashed all the same: the time does not tell which accounts exist.
    """
    if len(password) > MAX_LENGTH:
        return False
    encoded = password.encode(errors="surrogatepass")
    with _slots:
        if password_hash is None:
            _hasher.hash(encoded)
            return False
        try:
            return _hasher.verify(password_hash, encoded)
        except (VerificationError, InvalidHashError):
            return False


def needs_rehash(password_hash: str) -> bool:
    """Return True if a hash was made with other parameters than today's."""
    return _hasher.check_needs_rehash(password_hash)
