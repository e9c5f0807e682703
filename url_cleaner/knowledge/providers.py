"""What is known of networks: the formats of their redirect wrappers, and the parameters they track with.

The knowledge is data (`data/wrappers.json`, `data/tracking.json`, each with its legend in `about`), so that a format is
added without touching code. Written for Scout from the networks' public link formats; ClearURLs' and Brave's lists are
neither copied nor loaded (LGPL and MPL; and their wrapper patterns match `webgains.com.example.org`).
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from url_cleaner.urls.domains import suffixes


@dataclass(frozen=True)
class Keys:
    """A set of keys, some of them prefixes (`utm_*`), each with the one who reads it.

    >>> Keys.of([("campaign tag", ["utm_*", "xtor"])]).by("utm_source")
    'campaign tag'
    """

    exact: Mapping[str, str] = field(default_factory=dict)
    prefixes: tuple[tuple[str, str], ...] = ()
    starts: tuple[str, ...] = ()

    @classmethod
    def of(cls, groups: Iterable[tuple[str, Iterable[str]]]) -> "Keys":
        """The set of all keys of the groups."""
        pairs = [(key.lower(), by) for by, keys in groups for key in keys]
        prefixes = tuple((key[:-1], by) for key, by in pairs if key.endswith("*"))
        return cls(dict(pairs), prefixes, tuple(prefix for prefix, _ in prefixes))

    def by(self, key: str) -> str | None:
        """Who reads this key (in small letters); None where it is not in the set."""
        if found := self.exact.get(key):
            return found
        if self.starts and key.startswith(self.starts):
            return next(by for prefix, by in self.prefixes if key.startswith(prefix))
        return None

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.by(key) is not None


@dataclass(frozen=True)
class Wrapper:
    """The format of one network's redirect links."""

    network: str
    paths: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    marks: tuple[tuple[str, ...], ...] = ()
    own: Keys = Keys()
    link_in_path: bool = False
    shared: bool = False
    relative: bool = False
    schemeless: bool = False
    code: str = ""
    tail: str = ""

    def leads_away(self, path: str) -> bool:
        """Is this path one of those where the network's clicks go?"""
        return not self.paths or any(
            path.startswith(p[:-1]) if p.endswith("*") else path.rstrip("/") == p.rstrip("/")
            for p in self.paths
        )


@dataclass(frozen=True)
class Site:
    """What tracks on one host: keys, on all pages or on those whose path holds a text; starts of path segments."""

    keys: Keys
    pages: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Knowledge:
    """All that the data files say, ready to be asked."""

    wrappers: Mapping[str, tuple[Wrapper, ...]]
    shorteners: frozenset[str]
    anywhere: Keys
    mail: Keys
    shop: Keys
    sites: Mapping[str, tuple["Site", ...]]
    mail_marks: tuple[str, ...]
    vague: frozenset[str]
    portals: frozenset[str]
    channels: frozenset[str]
    ids: frozenset[str]
    scripts: frozenset[str]
    redirects: frozenset[str]
    redirectors: frozenset[str]
    targets: Mapping[str, int]
    referrers: frozenset[str]

    def wrappers_at(self, host: str) -> list[Wrapper]:
        """The wrapper formats of the host's network, most specific first."""
        return [w for name in suffixes(host) for w in self.wrappers.get(name, ())]

    def shortens(self, host: str) -> bool:
        """Does the host know nothing but ids?"""
        return any(name in self.shorteners for name in suffixes(host))

    def segments_at(self, host: str) -> tuple[str, ...]:
        """With what segments of a path begin that track on this host."""
        return tuple(
            start
            for name in suffixes(host)
            for site in self.sites.get(name, ())
            for start in site.segments
        )

    def keys_at(self, host: str, path: str) -> list[Keys]:
        """The keys that track on this host alone, or on some of its pages."""
        sites = [site for name in suffixes(host) for site in self.sites.get(name, ())]
        return [
            site.keys
            for site in sites
            if not site.pages or any(part in path for part in site.pages)
        ]


@cache
def knowledge() -> Knowledge:
    """The data files, read once."""
    links, keys = _load("wrappers.json"), _load("tracking.json")
    words = {
        n: frozenset(keys[n])
        for n in (
            "vague",
            "portals",
            "channels",
            "ids",
            "scripts",
            "redirects",
            "redirectors",
            "referrers",
        )
    }
    return Knowledge(
        wrappers=_by_host(links["wrappers"]),
        shorteners=frozenset(links["shorteners"]),
        anywhere=_keys(keys["anywhere"]),
        mail=_keys(keys["mail"]),
        shop=_keys(keys["shop"]),
        sites=_sites(keys["sites"]),
        mail_marks=tuple(keys["mail_marks"]),
        targets={key: rank for rank, key in enumerate(keys["targets"])},
        **words,
    )


def _load(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(
        files("url_cleaner").joinpath("data", name).read_text("utf-8")
    )
    return loaded


def _keys(groups: Iterable[Mapping[str, Any]]) -> Keys:
    return Keys.of((group["by"], group["keys"]) for group in groups)


def _sites(entries: Iterable[Mapping[str, Any]]) -> dict[str, tuple[Site, ...]]:
    found: dict[str, tuple[Site, ...]] = {}
    for entry in entries:
        site = Site(_keys([entry]), tuple(entry.get("pages", ())), tuple(entry.get("segments", ())))
        for host in entry["hosts"]:
            found[host] = (*found.get(host, ()), site)
    return found


def _by_host(entries: Iterable[Mapping[str, Any]]) -> dict[str, tuple[Wrapper, ...]]:
    found: dict[str, list[Wrapper]] = {}
    for entry in entries:
        wrapper = _wrapper(entry)
        for host in entry["hosts"]:
            found.setdefault(host, []).append(wrapper)
    return {host: tuple(wrappers) for host, wrappers in found.items()}


def _wrapper(entry: Mapping[str, Any]) -> Wrapper:
    values = {key: value for key, value in entry.items() if key != "hosts"}
    values["paths"] = tuple(entry.get("paths", ()))
    values["keys"] = tuple(key.lower().removesuffix("[]") for key in entry.get("keys", ()))
    values["marks"] = tuple(tuple(mark) for mark in entry.get("marks", ()))
    values["own"] = Keys.of([(entry["network"], entry.get("own", ()))])
    return Wrapper(**values)
