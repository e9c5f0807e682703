"""Public addresses: no spelling of a private one passes."""

import pytest

from url_cleaner.urls.public_address import is_public

PRIVATE = (
    "127.0.0.1 10.1.2.3 192.168.0.1 169.254.169.254 0.0.0.0 100.64.0.1 224.0.0.1"
    " ff02::1 ::1 fe80::1%eth0 fc00::1 ::ffff:127.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: nonsense"
)
# Ranges of the IANA special-purpose registries; versions of Python differ on them.
RESERVED = {
    "site-local (RFC 3879)": "fec0::1 feff:ffff::1",
    "IPv4-compatible (RFC 4291)": "::8.8.8.8 ::5db8:d822",
    "IPv4-translated (RFC 2765)": "::ffff:0:8.8.8.8 ::ffff:0:5db8:d822",
    "local NAT64 (RFC 8215)": "64:ff9b:1::808:808 64:ff9b:1:ffff::1",
    "segment routing (RFC 9602)": "5f00::1 5f00:ffff::1",
    "documentation (RFC 9637)": "3fff::1 3fff:fff::1 2001:db8::1",
    "6to4 relays (RFC 7526)": "192.88.99.1 192.88.99.255",
    "protocol assignments (RFC 6890)": "192.0.0.1 192.0.0.9 192.0.0.170 2001:2::1 2001:10::1",
    "discard only (RFC 6666, RFC 9780)": "100::1 100:0:0:1::1",
    "documentation (RFC 5737)": "192.0.2.1 198.51.100.1 203.0.113.1",
    "benchmarks (RFC 2544)": "198.18.0.1 198.19.255.255",
    "future use (RFC 1112)": "240.0.0.1 255.255.255.255",
    "unspecified and unassigned": ":: 4000::1 e000::1",
    "reserved, embedded": "::ffff:192.88.99.1 64:ff9b::c058:6301 2002:c058:6301::1",
}
PUBLIC = (
    "93.184.216.34 8.8.8.8 172.15.0.1 172.32.0.1 192.88.98.1 192.1.2.3 198.20.0.1 100.128.0.1"
    " 223.255.255.254 2606:4700::1111 2001:4860:4860::8888 2a00:1450::1 3ffe::1 3fff:1000::1"
    " ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1"
)


@pytest.mark.parametrize("address", PRIVATE.split())
def test_private_addresses(address: str) -> None:
    """No spelling of a private address passes for a public one."""
    assert not is_public(address)


@pytest.mark.parametrize("addresses", RESERVED.values(), ids=RESERVED.keys())
def test_reserved_ranges(addresses: str) -> None:
    """Reserved ranges are not public, whatever the running version of Python says."""
    for address in addresses.split():
        assert not is_public(address), address


@pytest.mark.parametrize("address", PUBLIC.split())
def test_public_addresses(address: str) -> None:
    """Neighbours of reserved ranges, and embedded public addresses, are public."""
    assert is_public(address)
