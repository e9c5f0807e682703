"""IP addresses of the public internet: guards against requests to private machines that a shop's
links name.

`ipaddress.is_global` does not suffice: its list of reserved ranges differs between Python versions.
The ranges here are those of the IANA special-purpose address registries (RFC 6890, as of 2025).
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

# IPv4 ranges that are reserved, though some versions of Python call parts of them global.
_RESERVED_IPV4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            # Relays of 6to4, deprecated by RFC 7526.
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            # Multicast, and the former class E.
            "224.0.0.0/3",
        ),
    )
)
# The only range of IPv6 in which global unicast addresses are assigned (RFC 4291, section 2.4): all
# others are reserved, local or multicast, such as fec0::/10, 5f00::/16 or 64:ff9b:1::/48.
_GLOBAL_UNICAST = IPv6Network("2000::/3")
# IPv6 ranges inside it that are reserved.
_RESERVED_IPV6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",
            "2001:db8::/32",
            "3fff::/20",
        ),
    )
)
# The well-known prefix of NAT64 (RFC 6052): the last 32 bits are an IPv4 address.
_NAT64 = IPv6Network("64:ff9b::/96")


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
    if isinstance(reached, IPv4Address):
        return not any(reached in network for network in _RESERVED_IPV4)
    if reached not in _GLOBAL_UNICAST:
        return False
    return not any(reached in network for network in _RESERVED_IPV6)


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
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address
