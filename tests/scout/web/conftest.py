"""Fixtures of the tests of the web application: passwords that are hashed in no time."""

from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher
from argon2.profiles import CHEAPEST

from scout.web.access import passwords


@pytest.fixture(scope="module", autouse=True)
def _cheap_hashes() -> Iterator[None]:
    """Hash passwords with parameters that take a millisecond instead of 200."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", PasswordHasher.from_parameters(CHEAPEST))
        yield
