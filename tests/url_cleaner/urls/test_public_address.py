"""Public addresses: no spelling of a private one passes."""

import pytest

from url_cleaner.urls.public_address import is_public

PRIVATE = (
    "127.0.0.1 10.1.2.3 192.168.0.1 169.254.169.254 0.0.0.0 100.64.0.1 224.0.0.1"
    " ff02::1 ::1 fe80::1%eth0 fc00::1 ::ffff:127.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: nonsense"
)


@pytest.mark.parametrize("address", PRIVATE.split())
def test_private_addresses(address: str) -> None:
    """No spelling of a private address passes for a public one."""
    assert not is_public(address)
