"""The order of work: read the link, take its wrappers off, strip what tracks, say what was done.

Two strategies in turn (Hübscher 2018, 2.11): redirects are undone by reading the link, tracking parameters by judging
keys. Whatever is left of a link that leads anywhere but to the shop is opaque: an id that only a visit would resolve.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from url_cleaner.errors import BadUrl
from url_cleaner.knowledge.lists import Lists
from url_cleaner.redirects.reveal import MAX_ROUNDS
from url_cleaner.redirects.unwrap import (
    Found,
    by_list,
    by_network,
    by_root,
    is_own_redirector,
    is_redirector,
    own_redirect,
)
from url_cleaner.tracking import Judge, strip
from url_cleaner.urls.link import MAX_LENGTH, Link, read_link


@dataclass(frozen=True)
class Cleaned:
    """A link after cleaning.

    `url` is None where the link is opaque. One exception: a shortened link, or the click of a known network that names
    no target, stays as it is when no `home` is given, for nothing says which page was meant.
    """

    input: str
    url: str | None
    unwrapped: tuple[str, ...]
    removed: tuple[str, ...]
    opaque: bool


def clean(
    link: str, *, home: str | None = None, own: Sequence[str] = (), lists: Lists | None = None
) -> Cleaned:
    """The link as the shop would write it: no redirect, no tracking. BadUrl where it is no http(s) link.

    `home` is the shop's root: with it, its links are found in wrappers of any make, and links that lead elsewhere are
    opaque. `own` are tracking keys of this shop, `lists` are the user's (`url_cleaner.knowledge.lists`).

    >>> clean("https://www.awin1.com/cread.php?awinmid=1&ued=https%3A%2F%2Fshop.example.com%2Fp%3Fid%3D7%26utm_source%3Dawin").url
    'https://shop.example.com/p?id=7'
    >>> clean("http://www.shop.example/product?partner=portal?pid=96", home="https://shop.example/").url
    'http://www.shop.example/product?pid=96'
    >>> clean("https://bit.ly/2Kqyrz2", home="https://shop.example/").opaque
    True
    """
    found = _cleaned(link, home, own, lists)
    for _ in range(MAX_ROUNDS if lists else 0):
        if found.url is None or found.opaque:
            break
        again = _cleaned(found.url, home, own, lists)
        if again.url == found.url:
            break
        told = (*found.unwrapped, *again.unwrapped), (*found.removed, *again.removed)
        found = Cleaned(link, again.url, *told, again.opaque)
    return found


def _cleaned(link: str, home: str | None, own: Sequence[str], lists: Lists | None) -> Cleaned:
    site = read_link(home) if home else None
    start = read_link(link, site)
    target, reasons = _to_the_shop(start, site, lists) if site else _to_the_end(start, lists)
    if target is None:
        return Cleaned(link, None, (), (), True)
    own_site = site is not None and target.site == site.site
    if not own_site and is_redirector(target):
        return Cleaned(link, str(target), tuple(reasons), (), True)
    tidy, removed = strip(target, Judge.of(target, own_site, own, lists))
    if lists:
        tidy, removed = _shortened(tidy, removed, lists)
    return Cleaned(link, str(tidy), tuple(reasons), tuple(removed), False)


def _shortened(link: Link, removed: list[str], lists: Lists) -> tuple[Link, list[str]]:
    """The link without what the lists cut out of it, as long as it is one of the same site."""
    text = str(link)
    if (shorter := lists.shorter(text)) == text:
        return link, removed
    try:
        found = read_link(shorter)
    except BadUrl:
        return link, removed
    return (
        (found, [*removed, "in the path: cut by a list"])
        if found.site == link.site
        else (link, removed)
    )


def is_clean(url: str, home: str | None = None) -> bool:
    """Is it safe to open: no tracking, no redirector, nothing opaque, and no other site than the shop's?

    >>> is_clean("https://shop.example/p?id=7"), is_clean("https://shop.example/p?gclid=7"), is_clean("https://bit.ly/x")
    (True, False, False)
    """
    try:
        cleaned = clean(url, home=home)
    except BadUrl:
        return False
    return not (cleaned.opaque or cleaned.unwrapped or cleaned.removed)


def same_site(url: str, home: str) -> bool:
    """Has the link the shop's own host, `www.` and the scheme aside?

    >>> same_site("http://www.shop.example/a", "https://shop.example"), same_site("https://shop.example.org", "https://shop.example")
    (True, False)
    """
    try:
        return read_link(url).site == read_link(home).site
    except BadUrl:
        return False


def _to_the_end(link: Link, lists: Lists | None) -> tuple[Link | None, list[str]]:
    """The last target in wrappers of known make; None where they are nested deeper than anyone would."""
    reasons: list[str] = []
    for _ in range(MAX_ROUNDS):
        found = by_network(link, None) or by_list(link, None, lists)
        if found is None:
            return link, reasons
        link = found.target
        reasons.append(found.reason)
    return (link, reasons) if by_network(link, None) is None else (None, [])


def _to_the_shop(link: Link, home: Link, lists: Lists | None) -> tuple[Link | None, list[str]]:
    """The shop's link in wrappers of any make; None where there is none. Depth first, and not without limit."""
    waiting: list[tuple[Link, list[str]]] = [(link, [])]
    spent = 0
    while waiting and spent < 2 * MAX_LENGTH:
        at, reasons = waiting.pop()
        spent += len(at.rest) + 1_000
        if at.site == home.site:
            return _past_own_redirects(at, reasons)
        if len(reasons) < MAX_ROUNDS:
            waiting += reversed(
                [(found.target, [*reasons, found.reason]) for found in _ways_on(at, home, lists)]
            )
    return None, []


def _ways_on(link: Link, home: Link, lists: Lists | None) -> list[Found]:
    known = by_network(link, home) or by_list(link, home, lists)
    found = [*by_root(link, home)]
    return [known, *found] if known else found


def _past_own_redirects(link: Link, reasons: list[str]) -> tuple[Link | None, list[str]]:
    for _ in range(MAX_ROUNDS):
        if not (found := own_redirect(link)):
            return (None if is_own_redirector(link) else link), reasons
        if found.target.site != link.site:
            break
        link, reasons = found.target, [*reasons, found.reason]
    return None, []
