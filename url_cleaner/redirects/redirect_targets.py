"""Targets of redirect links, found by reading the link: nothing is fetched, since a fetch is a
billed click.

Hübscher 2018, 2.11: decode the link, find the shop's root in it, drop everything before. That needs
no knowledge of the network, but loses parameters that are encoded once more or less than the
others. So a link is searched position by position: first where its network puts the target, then,
for a known shop, in every parameter, the path and base64.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from url_cleaner.errors import BadUrl
from url_cleaner.knowledge.networks import WrapperFormat, load_network_data
from url_cleaner.redirects.decoding import (
    begins_with_link,
    decode_bare_link,
    decode_link,
    decode_network_code,
    decode_path,
)
from url_cleaner.redirects.target_positions import (
    base64_segments,
    link_tails,
    text_after,
    unencoded_value,
)
from url_cleaner.urls.domains import registrable_domain
from url_cleaner.urls.query import Parameter, parse_query
from url_cleaner.urls.url import MAX_URL_LENGTH, Url

if TYPE_CHECKING:
    from url_cleaner.knowledge.filter_lists import FilterLists

# Parameters of a link that are read as targets, likeliest first. Bound against hostile input.
_MAX_PARAMETERS = 32
# Parameters among which those named like targets are looked for. Bound against hostile input.
_MAX_NAMED_PARAMETERS = 1_000
# Parameters of one key that are read.
_MAX_REPEATS = 2
# Characters of a parameter's value that can hold a target at least: `//a.de/b`.
_MIN_TARGET_LENGTH = 8
# Rank of keys that are not named like targets: behind all that are.
_UNNAMED_RANK = 1_000
# Characters of a key or path that a reason quotes.
_QUOTED_LENGTH = 60

# Files are no offer pages.
_FILE_ENDINGS = (
    ".jpg",
    ".jpeg",
    ".png",
    ".gif",
    ".webp",
    ".avif",
    ".svg",
    ".ico",
    ".css",
    ".js",
)
# Files that are programs of the server.
_SCRIPT_ENDINGS = (".jsp", ".php", ".asp", ".aspx", ".cfm", ".cgi", ".pl", ".do")


@dataclass(frozen=True)
class RedirectTarget:
    """A target inside a link, and the reason why it was taken."""

    url: Url
    reason: str


def find_network_target(url: Url, home: Url | None) -> RedirectTarget | None:
    """Find the target at the position where the link's network puts it, or its tracking software,
    which shops host under their own names.
    """
    data = load_network_data()
    wrappers = [*data.wrappers_at(url.host), *data.hosted_at(url.path)]
    keys = {param.key for param in parse_query(url.query)}
    for wrapper in wrappers:
        if not wrapper.requires <= keys or not wrapper.redirects_at(url.path):
            continue
        for text, position in _network_positions(url, wrapper):
            target = _parse_target(_complete(text, url, wrapper), url, home)
            if target and target != url:
                reason = f"{wrapper.network} ({url.host}): target in {position}"
                return RedirectTarget(target, reason)
    return None


def find_listed_target(
    url: Url, home: Url | None, lists: "FilterLists | None"
) -> RedirectTarget | None:
    """Find the target by the user's filter lists."""
    if lists is None:
        return None
    for text, source in lists.targets(url):
        target = _parse_target(text, url, home)
        if target and target != url:
            return RedirectTarget(target, f"{source} ({url.host})")
    return None


def iter_shop_targets(url: Url, home: Url) -> Iterator[RedirectTarget]:
    """Yield links in a link, likeliest first: those of the shop, then others, which may hold one of
    the shop.
    """
    foreign: list[RedirectTarget] = []
    for text, position in _all_positions(url):
        target = _parse_target(text, url, home)
        if target is None or target.path.lower().endswith(_FILE_ENDINGS):
            continue
        if target.site == home.site:
            yield RedirectTarget(target, f"{url.host}: link to the shop in {position}")
        elif target.site != url.site:
            foreign.append(RedirectTarget(target, f"{url.host}: link in {position}"))
    yield from foreign


def find_internal_target(url: Url) -> RedirectTarget | None:
    """Find the target of the shop's own redirector (`/redirect?url=...`), where it may lack the
    host.
    """
    if target := find_network_target(url, url):
        return target
    return _find_redirect_target(url)


def find_landing_target(url: Url) -> RedirectTarget | None:
    """Find the target of a link that was itself a target: a shop's redirect script behind a
    network's wrapper (`/entry.jsp?url=...`).

    A shop's page does not often mention another page by an absolute link, and a landing page that
    does is there to redirect. So the path needs no redirector's name where the key is one of a
    destination.
    """
    if target := _find_redirect_target(url):
        return target
    data = load_network_data()
    if not data.mentions.isdisjoint(_segment_names(url.path)):
        return None
    for param, text in _named_targets(url):
        if param.key not in data.destinations:
            continue
        # A script that is given a path redirects; a page of a shop may mention another one so.
        path = decode_path(text) if url.path.lower().endswith(_SCRIPT_ENDINGS) else None
        target_url = _parse_target(f"{url.root}{path}" if path else text, url, None)
        if target_url is None or target_url.path.lower().endswith(_FILE_ENDINGS):
            continue
        if target_url != url:
            key = param.key[:_QUOTED_LENGTH]
            return RedirectTarget(target_url, f"landing page ({url.host}): target in {key}=")
    return None


def _find_redirect_target(url: Url) -> RedirectTarget | None:
    """Find the target of a URL whose path has the name of a redirector."""
    if load_network_data().redirects.isdisjoint(_end_segments(url.path)):
        return None
    for param, text in _named_targets(url):
        path = decode_path(text)
        internal = _parse_target(f"{url.root}{path}" if path else text, url, url)
        if internal and internal != url:
            key = param.key[:_QUOTED_LENGTH]
            redirector = url.path[:_QUOTED_LENGTH]
            return RedirectTarget(
                internal, f"the shop's own redirect {redirector}: target in {key}="
            )
    return None


def is_redirector(url: Url) -> bool:
    """Return True if a visit is a click at a network, or ends at an address that only the visit
    tells.
    """
    data = load_network_data()
    if data.is_shortener(url.host):
        return True
    for wrapper in data.wrappers_at(url.host):
        if not wrapper.shared or wrapper.redirects_at(url.path):
            return True
    return False


def is_internal_redirector(url: Url) -> bool:
    """Return True if the path names a page of the shop that does nothing but redirect."""
    return not load_network_data().redirectors.isdisjoint(_end_segments(url.path))


def _end_segments(path: str) -> set[str]:
    """Return the first and last segment of a path without file endings: there a redirector has its
    name.
    """
    segments = _segment_names(path)
    if not segments:
        return set()
    return {segments[0], segments[-1]}


def _segment_names(path: str) -> list[str]:
    """Return the segments of a path in lower case, without file endings."""
    return [segment.partition(".")[0] for segment in path.lower().split("/") if segment]


def _named_targets(url: Url) -> Iterator[tuple[Parameter, str]]:
    """Yield the parameters that are named like targets, likeliest first, with their values."""
    params = parse_query(url.query)
    rank_of = load_network_data().targets
    ranked: list[tuple[int, int]] = []
    for index, param in enumerate(params[:_MAX_NAMED_PARAMETERS]):
        if param.key in rank_of:
            ranked.append((rank_of[param.key], index))
    for _, index in sorted(ranked)[:_MAX_PARAMETERS]:
        yield params[index], unencoded_value(params, index)


def _network_positions(url: Url, wrapper: WrapperFormat) -> Iterator[tuple[str, str]]:
    """Yield texts that begin with the target, maybe encoded, where this network puts it; and their
    positions.
    """
    after_host = url.after_host
    for mark in wrapper.marks:
        if text := text_after(after_host, *mark):
            yield decode_network_code(text, after_host, wrapper), f"the text after {mark[0]!r}"
    if wrapper.link_in_path:
        yield from _path_positions(url)
    params = parse_query(url.query)
    for key in wrapper.keys:
        indices = [index for index, param in enumerate(params) if param.key == key]
        for index in indices[:_MAX_REPEATS]:
            value = unencoded_value(params, index, wrapper.network_keys)
            yield decode_network_code(value, "", wrapper), f"{key}="
    if wrapper.host_redirects_only:
        yield from _usual_positions(url, wrapper)


def _usual_positions(url: Url, wrapper: WrapperFormat) -> Iterator[tuple[str, str]]:
    """Yield texts at the positions of most networks, for formats that this one has beside those
    known: absolute links in parameters named like targets, and in the path.
    """
    params = parse_query(url.query)
    for param, _ in _named_targets(url):
        if param.key in wrapper.network_keys or param.key in wrapper.keys:
            continue
        value = unencoded_value(params, params.index(param), wrapper.network_keys)
        if begins_with_link(value):
            yield value, f"{param.key}="
    # The first link only: a hostile path is full of them.
    for text in islice(link_tails(url, in_path=True), 1):
        yield text, "the path"


def _path_positions(url: Url) -> Iterator[tuple[str, str]]:
    for text in (*link_tails(url), *base64_segments(url)):
        yield text, "the path"


def _all_positions(url: Url) -> Iterator[tuple[str, str]]:
    """Yield all texts that can hold a target, those in parameters named like targets first."""
    # The sum of their lengths is bounded: a hostile link would be searched for minutes.
    searched = 0
    for text, position in _unbounded_positions(url):
        searched += len(text)
        if searched > MAX_URL_LENGTH:
            return
        yield text, position


def _unbounded_positions(url: Url) -> Iterator[tuple[str, str]]:
    params = parse_query(url.query)
    data = load_network_data()
    for index in _indices_by_rank(params)[:_MAX_PARAMETERS]:
        key = params[index].key
        if key not in data.referrers:
            yield unencoded_value(params, index), f"{key[:_QUOTED_LENGTH]}="
    yield from _path_positions(url)
    if url.fragment:
        yield url.fragment.partition("=")[2] or url.fragment, "the fragment"


def _indices_by_rank(params: Sequence[Parameter]) -> list[int]:
    rank_of = load_network_data().targets
    ranked: list[tuple[int, int]] = []
    for index, param in enumerate(params):
        if len(param.value) >= _MIN_TARGET_LENGTH:
            ranked.append((rank_of.get(param.key, _UNNAMED_RANK), index))
    return [index for _, index in sorted(ranked)]


def _complete(text: str, url: Url, wrapper: WrapperFormat) -> str:
    """Supply the scheme or host that some links lack before a target."""
    if wrapper.relative and (path := decode_path(text)):
        return url.root + path
    if decode_link(text, None) is None and (bare_link := decode_bare_link(text)):
        return f"{url.scheme}://{bare_link}"
    return text


def _parse_target(text: str, url: Url, home: Url | None) -> Url | None:
    """Parse the link that a text holds; None where it holds none, or one that cannot be a shop's
    page.
    """
    link = decode_link(text, home)
    if link is None:
        return None
    try:
        # Without a shop only the scheme of the wrapper is passed on: no text begins with a line
        # break.
        target = Url.parse(link, home or replace(url, host="\n"))
    except BadUrl:
        return None
    is_shop = home is not None and target.site == home.site
    if is_shop or registrable_domain(target.host):
        return target
    return None
