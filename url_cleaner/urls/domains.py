"""Whose host is it? Suffix matches at label boundaries, so that `awin1.com.example.org` is not taken for Awin."""

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tldextract import TLDExtract

_DIGIT = re.compile(r"[0-9]")


@lru_cache(maxsize=4096)
def suffixes(host: str) -> tuple[str, ...]:
    """The names under which a host may be listed: itself, all its parents, and `name.*` for any country's `name.xx`.

    Networks that number their hosts are listed with a 0 for any digit.

    >>> suffixes("www.google.co.uk")
    ('www.google.co.uk', 'google.co.uk', 'co.uk', 'uk', 'google.*')
    >>> suffixes("i411.net")
    ('i411.net', 'net', 'i411.*', 'i000.net', 'i000.*')
    >>> "google.*" in suffixes("google.com.example.org")
    False
    """
    labels = host.split(".")
    names = [".".join(labels[at:]) for at in range(max(0, len(labels) - 8), len(labels))]
    if len(labels) > 2 and labels[-2] in ("co", "com") and len(labels[-1]) == 2:
        names.append(f"{labels[-3]}.*")
    elif len(labels) > 1:
        names.append(f"{labels[-2]}.*")
    return tuple(dict.fromkeys([*names, *(_DIGIT.sub("0", name) for name in names)]))


@lru_cache(maxsize=4096)
def registrable(host: str) -> str | None:
    """The domain that somebody registered, by the Public Suffix List that comes with tldextract; None for IPs.

    >>> registrable("www.shop.co.uk"), registrable("127.0.0.1"), registrable("localhost")
    ('shop.co.uk', None, None)
    """
    return _extract()(host).top_domain_under_public_suffix or None


@cache
def _extract() -> "TLDExtract":
    """The bundled snapshot only: nothing is downloaded, nothing written. Loaded late: the import takes 0.1 s."""
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None)
