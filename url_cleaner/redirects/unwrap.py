"""Takes one redirect wrapper off a link, by reading it: nothing is ever fetched, for a fetch is a billed click.

Hübscher 2018, 2.11: decode the link, find the shop's root in it, drop all before it. That needs no knowledge of the
network, but loses parameters that are encoded once more or less than the rest. So the link is searched place by place:
first where its network is known to put the target, then, for a known shop, in every parameter, in the path, in base64.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from url_cleaner.errors import BadUrl
from url_cleaner.knowledge.providers import Wrapper, knowledge
from url_cleaner.redirects.reveal import own_code, plain_link, plain_path
from url_cleaner.redirects.target_places import base64_segments, tails, text_after, with_rest
from url_cleaner.urls.domains import registrable
from url_cleaner.urls.link import MAX_LENGTH, Link, read_link
from url_cleaner.urls.query import Parameter, parameters

if TYPE_CHECKING:
    from url_cleaner.knowledge.lists import Lists

_MAX_PLACES = 32
_FILES = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".svg", ".ico", ".css", ".js")


@dataclass(frozen=True)
class Found:
    """A target inside a link, and what was taken off."""

    target: Link
    reason: str


def by_network(link: Link, home: Link | None) -> Found | None:
    """The target at the place where the link's network is known to put it."""
    for wrapper in knowledge().wrappers_at(link.host):
        if not wrapper.leads_away(link.path):
            continue
        for text, place in _known_places(link, wrapper):
            target = _target(_completed(text, link, wrapper), link, home)
            if target and target != link:
                return Found(target, f"{wrapper.network} ({link.host}): target in {place}")
    return None


def by_list(link: Link, home: Link | None, lists: "Lists | None") -> Found | None:
    """The target where one of the user's lists says that it stands."""
    for text, by in lists.targets(link) if lists else ():
        target = _target(text, link, home)
        if target and target != link:
            return Found(target, f"{by} ({link.host})")
    return None


def by_root(link: Link, home: Link) -> Iterator[Found]:
    """Everything in a link that could lead to the shop, likeliest first: links to it, then links that may hold one."""
    others: list[Found] = []
    for text, place in _all_places(link):
        target = _target(text, link, home)
        if target is None or target.path.lower().endswith(_FILES):
            continue
        found = Found(target, f"{link.host}: link to the shop in {place}")
        if target.site == home.site:
            yield found
        elif target.site != link.site:
            others.append(replace(found, reason=f"{link.host}: link in {place}"))
    yield from others


def own_redirect(link: Link) -> Found | None:
    """The shop's own redirector (`/redirect?url=...`), read like any other; here a target may lack the host."""
    if found := by_network(link, link):
        return found
    if knowledge().redirects.isdisjoint(_ends(link.path)):
        return None
    for param, text in _named_targets(link):
        path = plain_path(text)
        target = _target(f"{_root(link)}{path}" if path else text, link, link)
        if target and target != link:
            return Found(
                target, f"the shop's own redirect {link.path[:60]}: target in {param.key[:60]}="
            )
    return None


def is_redirector(link: Link) -> bool:
    """Would a visit be a click at a network, or end at an address that only the visit tells?"""
    known = knowledge()
    return known.shortens(link.host) or any(
        not wrapper.shared or wrapper.leads_away(link.path)
        for wrapper in known.wrappers_at(link.host)
    )


def is_own_redirector(link: Link) -> bool:
    """Is this page of the shop nothing but a redirect, going by the path?"""
    return not knowledge().redirectors.isdisjoint(_ends(link.path))


def _ends(path: str) -> set[str]:
    """The first and last segment of a path, without file endings: there a redirector gives its name."""
    segments = [segment.partition(".")[0] for segment in path.lower().split("/") if segment]
    return {segments[0], segments[-1]} if segments else set()


def _root(link: Link) -> str:
    return str(Link(link.scheme, link.user, link.host, link.port, ""))


def _named_targets(link: Link) -> Iterator[tuple[Parameter, str]]:
    params, targets = parameters(link.query), knowledge().targets
    named = [
        (targets[param.key], at) for at, param in enumerate(params[:1000]) if param.key in targets
    ]
    for _, at in sorted(named)[:_MAX_PLACES]:
        yield params[at], with_rest(params, at, ())


def _known_places(link: Link, wrapper: Wrapper) -> Iterator[tuple[str, str]]:
    """Where this network puts targets: texts that begin with the target, maybe encoded."""
    for mark in wrapper.marks:
        if text := text_after(link.rest, *mark):
            yield own_code(text, link.rest, wrapper), f"the text after {mark[0]!r}"
    if wrapper.link_in_path:
        yield from ((text, "the path") for text in (*tails(link), *base64_segments(link)))
    params = parameters(link.query)
    for key in wrapper.keys:
        places = [at for at, param in enumerate(params) if param.key == key]
        for at in places[:2]:
            yield own_code(with_rest(params, at, wrapper.own), "", wrapper), f"{key}="


def _all_places(link: Link) -> Iterator[tuple[str, str]]:
    """Where a target can stand at all, keys named like targets first. The sum of what is looked at has a limit."""
    spent = 0
    for text, place in _every_place(link):
        spent += len(text)
        if spent > MAX_LENGTH:
            return
        yield text, place


def _every_place(link: Link) -> Iterator[tuple[str, str]]:
    params, known = parameters(link.query), knowledge()
    ranked = sorted(
        (known.targets.get(p.key, 1_000), at) for at, p in enumerate(params) if len(p.value) > 7
    )
    for _, at in ranked[:_MAX_PLACES]:
        if params[at].key not in known.referrers:
            yield with_rest(params, at, ()), f"{params[at].key[:60]}="
    for text in (*tails(link), *base64_segments(link)):
        yield text, "the path"
    if link.fragment:
        yield link.fragment.partition("=")[2] or link.fragment, "the fragment"


def _completed(text: str, link: Link, wrapper: Wrapper) -> str:
    """The text with what this network leaves away before a target."""
    if wrapper.relative and (path := plain_path(text)):
        return _root(link) + path
    if wrapper.schemeless and plain_link(text, None) is None:
        bare = text.replace("%5B", "[").replace("%5D", "]").removeprefix("[[").removesuffix("]]")
        return f"{link.scheme}://{bare}"
    return text


def _target(text: str, link: Link, home: Link | None) -> Link | None:
    """The link that a text holds; None where it holds none, or one that nobody can have meant as a shop's page."""
    plain = plain_link(text, home)
    if plain is None:
        return None
    try:
        target = read_link(plain, home or replace(link, host="\n"))
    except BadUrl:
        return None
    known = home is not None and target.site == home.site
    return target if known or registrable(target.host) else None
