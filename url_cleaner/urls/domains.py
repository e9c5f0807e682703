"""Host names: the domains they belong to, matched at label boundaries.

Suffixes of the text would not do: `awin1.com.example.org` is not a host of the network at
`awin1.com`.
"""

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tldextract import TLDExtract

# Labels of a host name that are looked at, from the right. Bound against hostile input.
MAX_LABELS = 8
# Labels under which countries register names, as in `co.uk`: the usual ones of the Public Suffix
# List. The list itself takes 0.1 s to load, and most runs need it for nothing else.
_SECOND_LEVELS = frozenset(("ac", "co", "com", "edu", "go", "gov", "ne", "net", "or", "org"))
_DIGIT = re.compile(r"[0-9]")


@lru_cache(maxsize=4096)
def host_patterns(host: str) -> tuple[str, ...]:
    """List the names under which data files may hold a host, most specific first.

    These are the host, its parent domains, and `name.*` for `name.xx` and `name.co.xx` in any
    country. Digits are also written as 0, for networks that number their hosts.

    >>> host_patterns("www.google.co.uk")
    ('www.google.co.uk', 'google.co.uk', 'co.uk', 'uk', 'google.*')
    >>> host_patterns("i411.net")
    ('i411.net', 'net', 'i411.*', 'i000.net', 'i000.*')
    >>> "google.*" in host_patterns("google.com.example.org")
    False
    """
    labels = host.split(".")
    names = []
    for start in range(max(0, len(labels) - MAX_LABELS), len(labels)):
        names.append(".".join(labels[start:]))
    # A second level such as `co.uk` belongs to the country, not to the name.
    if len(labels) > 2 and labels[-2] in _SECOND_LEVELS and len(labels[-1]) == 2:
        names.append(f"{labels[-3]}.*")
    elif len(labels) > 1:
        names.append(f"{labels[-2]}.*")
    names += [_DIGIT.sub("0", name) for name in names]
    return tuple(dict.fromkeys(names))


@lru_cache(maxsize=4096)
def registrable_domain(host: str) -> str | None:
    """Return the registrable domain by the Public Suffix List; None for IP addresses and bare
    suffixes.

    >>> [registrable_domain(host) for host in ("www.shop.co.uk", "127.0.0.1", "localhost")]
    ['shop.co.uk', None, None]
    """
    return _suffix_list()(host).top_domain_under_public_suffix or None


@cache
def _suffix_list() -> "TLDExtract":
    """Load the Public Suffix List that comes with tldextract; nothing is downloaded or written."""
    # Imported late: the import takes 0.1 s, and most commands never need it.
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None)
