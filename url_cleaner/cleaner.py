"""Cleaning of one URL: parse it, undo its redirects, remove tracking, report every change.

Two strategies in turn (Hübscher 2018, 2.11): redirects are undone by reading the URL, tracking
parameters are judged key by key. A URL that still leads anywhere but to the shop is opaque: it
holds an id that only a visit would resolve.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from url_cleaner.errors import BadUrl
from url_cleaner.knowledge.filter_lists import FilterLists
from url_cleaner.redirects.decoding import MAX_ROUNDS
from url_cleaner.redirects.redirect_targets import (
    RedirectTarget,
    find_internal_target,
    find_landing_target,
    find_listed_target,
    find_network_target,
    is_internal_redirector,
    is_redirector,
    iter_shop_targets,
)
from url_cleaner.tracking import ParameterJudge, strip_tracking
from url_cleaner.urls.url import MAX_URL_LENGTH, Url

# Characters of all links searched in a link together. Bound against hostile input.
_MAX_SEARCH = 2 * MAX_URL_LENGTH
# Characters that each link counts at least in that sum.
_COST_PER_LINK = 1_000


@dataclass(frozen=True)
class CleanedUrl:
    """Result of cleaning: the URL, and a reason for each wrapper and each parameter taken off.

    `url` is None where the URL is opaque, with one exception: a shortened URL, or the click of a
    known network that names no target, stays unchanged when no `home` is given, since nothing shows
    which page was meant.
    """

    input: str
    url: str | None
    unwrapped: tuple[str, ...]
    removed: tuple[str, ...]
    opaque: bool


@dataclass(frozen=True)
class _Unwrapped:
    """A link inside a URL, and a reason for each redirect around it."""

    url: Url
    reasons: tuple[str, ...] = ()


def clean_url(
    url: str,
    *,
    home: str | None = None,
    shop_keys: Sequence[str] = (),
    lists: FilterLists | None = None,
) -> CleanedUrl:
    """Remove redirects and tracking from a URL. Raises BadUrl where it is no http(s) URL.

    `home` is the shop's root: with it, its URLs are found in wrappers of any format, and URLs that
    lead elsewhere are opaque. `shop_keys` are the shop's own tracking keys (see `learn_keys`),
    `lists` the user's filter lists (see `load_filter_lists`).

    >>> clean_url("https://www.awin1.com/cread.php?awinmid=1&ued=https%3A%2F%2Fshop.example.com%2Fp%3Fid%3D7%26utm_source%3Dawin").url
    'https://shop.example.com/p?id=7'
    >>> clean_url("http://www.shop.example/product?partner=portal?pid=96", home="https://shop.example/").url
    'http://www.shop.example/product?pid=96'
    >>> clean_url("https://bit.ly/2Kqyrz2", home="https://shop.example/").opaque
    True
    """
    cleaned = _clean_once(url, home, shop_keys, lists)
    if lists is None:
        return cleaned
    # Without one parameter, another pattern of a list may match: repeat until nothing changes.
    for _ in range(MAX_ROUNDS):
        if cleaned.url is None or cleaned.opaque:
            return cleaned
        again = _clean_once(cleaned.url, home, shop_keys, lists)
        if again.url == cleaned.url:
            return cleaned
        cleaned = replace(
            again,
            input=url,
            unwrapped=(*cleaned.unwrapped, *again.unwrapped),
            removed=(*cleaned.removed, *again.removed),
        )
    return cleaned


def is_clean(url: str, home: str | None = None) -> bool:
    """Return True if a URL is safe to open: no tracking, no redirector, not opaque, on no other
    site than the shop's.

    >>> is_clean("https://shop.example/p?id=7"), is_clean("https://shop.example/p?gclid=7"), is_clean("https://bit.ly/x")
    (True, False, False)
    """
    try:
        cleaned = clean_url(url, home=home)
    except BadUrl:
        return False
    return not (cleaned.opaque or cleaned.unwrapped or cleaned.removed)


def is_same_site(url: str, home: str) -> bool:
    """Return True if a URL has the shop's own host and port; `www.` and the scheme may differ.

    >>> is_same_site("http://www.shop.example/a", "https://shop.example")
    True
    >>> is_same_site("https://shop.example.org", "https://shop.example")
    False
    """
    try:
        return Url.parse(url).site == Url.parse(home).site
    except BadUrl:
        return False


def _clean_once(
    text: str, home_text: str | None, shop_keys: Sequence[str], lists: FilterLists | None
) -> CleanedUrl:
    home = Url.parse(home_text) if home_text else None
    url = Url.parse(text, home)
    unwrapped = _unwrap_to_shop(url, home, lists) if home else _unwrap_to_end(url, lists)
    if unwrapped is None:
        return CleanedUrl(text, None, (), (), opaque=True)
    target = unwrapped.url
    is_shop = home is not None and target.site == home.site
    if not is_shop and is_redirector(target):
        return CleanedUrl(text, str(target), unwrapped.reasons, (), opaque=True)
    stripped, removed = strip_tracking(target, ParameterJudge.of(target, is_shop, shop_keys, lists))
    if lists:
        shortened = _shorten(stripped, lists)
        if shortened is not None:
            stripped = shortened
            removed.append("in the path: cut by a list")
    return CleanedUrl(text, str(stripped), unwrapped.reasons, tuple(removed), opaque=False)


def _shorten(url: Url, lists: FilterLists) -> Url | None:
    """Cut the matches of the lists' raw patterns out of a URL; None where nothing is cut.

    Nothing is cut either where the URL would lead to another site.
    """
    text = str(url)
    shortened_text = lists.shorten(text)
    if shortened_text == text:
        return None
    try:
        shortened = Url.parse(shortened_text)
    except BadUrl:
        return None
    return shortened if shortened.site == url.site else None


def _unwrap_to_end(url: Url, lists: FilterLists | None) -> _Unwrapped | None:
    """Undo redirects of known formats; None where they are nested deeper than in any honest
    link.
    """
    reasons: list[str] = []
    for _ in range(MAX_ROUNDS):
        target = find_network_target(url, None) or find_listed_target(url, None, lists)
        if target is None and reasons:
            target = find_landing_target(url)
        if target is None:
            return _Unwrapped(url, tuple(reasons))
        url = target.url
        reasons.append(target.reason)
    if find_network_target(url, None) is not None:
        return None
    return _Unwrapped(url, tuple(reasons))


def _unwrap_to_shop(url: Url, home: Url, lists: FilterLists | None) -> _Unwrapped | None:
    """Undo redirects of any format until a link of the shop is found; None where there is none."""
    # Depth first, bounded by the number of characters searched.
    stack = [_Unwrapped(url)]
    searched = 0
    while stack and searched < _MAX_SEARCH:
        candidate = stack.pop()
        searched += len(candidate.url.after_host) + _COST_PER_LINK
        if candidate.url.site == home.site:
            return _undo_internal_redirects(candidate)
        if len(candidate.reasons) < MAX_ROUNDS:
            targets = list(_targets(candidate.url, home, lists))
            # The likeliest target is looked at next, so it goes on top of the stack.
            for target in reversed(targets):
                stack.append(_Unwrapped(target.url, (*candidate.reasons, target.reason)))
    return None


def _targets(url: Url, home: Url, lists: FilterLists | None) -> Iterator[RedirectTarget]:
    target = find_network_target(url, home) or find_listed_target(url, home, lists)
    if target:
        yield target
    yield from iter_shop_targets(url, home)


def _undo_internal_redirects(unwrapped: _Unwrapped) -> _Unwrapped | None:
    """Undo redirects of the shop to its own pages; None where they lead away or show no target."""
    for _ in range(MAX_ROUNDS):
        url = unwrapped.url
        target = find_internal_target(url)
        if target is None and unwrapped.reasons:
            landing = find_landing_target(url)
            # A page that mentions another site is no redirector of the shop.
            if landing is not None and landing.url.site == url.site:
                target = landing
        if target is None:
            return None if is_internal_redirector(url) else unwrapped
        if target.url.site != url.site:
            return None
        unwrapped = _Unwrapped(target.url, (*unwrapped.reasons, target.reason))
    return None
