"""Addresses of the public internet: nothing that a shop names may lead to the house's own machines."""

from ipaddress import IPv4Address, IPv6Address, ip_address


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet, whatever it is wrapped in.

    >>> [is_public(a) for a in ("93.184.216.34", "127.0.0.1", "::ffff:10.0.0.1", "169.254.169.254", "64:ff9b::7f00:1")]
    [True, False, False, False, False]
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return _inner(found).is_global and not _inner(found).is_multicast


def _inner(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 address stands for, where it does."""
    if isinstance(address, IPv4Address):
        return address
    teredo = address.teredo[1] if address.teredo else None
    nat64 = (
        IPv4Address(int(address) & 0xFFFFFFFF)
        if address.exploded.startswith("0064:ff9b:")
        else None
    )
    return address.ipv4_mapped or address.sixtofour or teredo or nat64 or address
