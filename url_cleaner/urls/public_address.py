"""IP addresses of the public internet: guards against requests to private machines that a shop's
links name.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address

# The well-known prefix of NAT64 (RFC 6052): the last 32 bits are an IPv4 address.
_NAT64_PREFIX = "0064:ff9b:"


def is_public(address: str) -> bool:
    """Return True if an IP address is on the public internet, also where it is embedded in an IPv6
    address.

    >>> [is_public(a) for a in ("93.184.216.34", "127.0.0.1", "::ffff:10.0.0.1", "169.254.169.254", "64:ff9b::7f00:1")]
    [True, False, False, False, False]
    """
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    reached = _embedded_address(parsed)
    return reached.is_global and not reached.is_multicast


def _embedded_address(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 address embeds (mapped, 6to4, Teredo, NAT64), else the
    address itself.
    """
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped:
        return address.ipv4_mapped
    if address.sixtofour:
        return address.sixtofour
    if address.teredo:
        return address.teredo[1]
    if address.exploded.startswith(_NAT64_PREFIX):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address
