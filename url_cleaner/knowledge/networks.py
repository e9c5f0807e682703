"""Built-in knowledge of networks: the formats of their redirect wrappers, and the parameters they
track with.

The knowledge is data (`data/wrappers.json`, `data/tracking.json`, each with its legend in `about`),
so that a format is added without touching code. It was written for Scout from the networks' public
link formats. ClearURLs' and Brave's lists are neither copied nor shipped (LGPL and MPL; and their
wrapper patterns match `webgains.com.example.org`).
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from url_cleaner.urls.domains import host_patterns

# Digits of an id in a path at least: networks number programmes and publishers in the thousands.
_MIN_ID_DIGITS = 4


@dataclass(frozen=True)
class KeySet:
    """A set of parameter keys, some of them prefixes (`utm_*`), each with the tracker that reads
    it.

    >>> KeySet.of([("campaign tag", ["utm_*", "xtor"])]).tracker_of("utm_source")
    'campaign tag'
    """

    trackers: Mapping[str, str] = field(default_factory=dict)
    trackers_by_prefix: tuple[tuple[str, str], ...] = ()
    prefixes: tuple[str, ...] = ()

    @classmethod
    def of(cls, groups: Iterable[tuple[str, Iterable[str]]]) -> "KeySet":
        """Build a set from groups of (tracker, keys)."""
        pairs = [(key.lower(), tracker) for tracker, keys in groups for key in keys]
        by_prefix = tuple((key[:-1], tracker) for key, tracker in pairs if key.endswith("*"))
        return cls(dict(pairs), by_prefix, tuple(prefix for prefix, _ in by_prefix))

    def tracker_of(self, key: str) -> str | None:
        """Return the tracker that reads a key (in lower case); None where it is not in the set."""
        if tracker := self.trackers.get(key):
            return tracker
        # One test for all prefixes first: most keys match none.
        if self.prefixes and key.startswith(self.prefixes):
            for prefix, tracker in self.trackers_by_prefix:
                if key.startswith(prefix):
                    return tracker
        return None

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.tracker_of(key) is not None


@dataclass(frozen=True)
class WrapperFormat:
    """Format of one network's redirect links; the legend in `data/wrappers.json` explains each
    field.
    """

    network: str
    paths: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    marks: tuple[tuple[str, ...], ...] = ()
    network_keys: KeySet = KeySet()
    link_in_path: bool = False
    requires: frozenset[str] = frozenset()
    shared: bool = False
    relative: bool = False
    code: str = ""
    tail: str = ""
    is_hosted: bool = False

    @property
    def host_redirects_only(self) -> bool:
        """True if the hosts belong to the network and have no pages of their own."""
        return not self.shared and not self.is_hosted

    def redirects_at(self, path: str) -> bool:
        """Return True if links with this path are redirects."""
        if not self.paths:
            return True
        stem = path.rstrip("/")
        for path_format in self.paths:
            pattern = _path_pattern(path_format)
            if pattern.fullmatch(path) or pattern.fullmatch(stem) or path_format == f"{stem}/":
                return True
        return False


@dataclass(frozen=True)
class HostTracking:
    """Tracking on one host: keys, on all pages or those whose path holds a text; prefixes of path
    segments.
    """

    keys: KeySet
    pages: tuple[str, ...] = ()
    segment_prefixes: tuple[str, ...] = ()

    def covers(self, path: str) -> bool:
        """Return True if the keys track on the page with this path."""
        return not self.pages or any(part in path for part in self.pages)


@dataclass(frozen=True)
class NetworkData:
    """Content of the data files, indexed; the legends in the files explain the fields."""

    wrappers: Mapping[str, tuple[WrapperFormat, ...]]
    hosted: tuple[WrapperFormat, ...]
    hosted_on_any_path: tuple[WrapperFormat, ...]
    hosted_paths: re.Pattern[str]
    shorteners: frozenset[str]
    anywhere: KeySet
    prefixed: KeySet
    attributes: frozenset[str]
    mail: KeySet
    shop: KeySet
    hosts: Mapping[str, tuple[HostTracking, ...]]
    mail_marks: tuple[str, ...]
    vague: frozenset[str]
    portals: frozenset[str]
    channels: frozenset[str]
    ids: frozenset[str]
    scripts: frozenset[str]
    redirects: frozenset[str]
    redirectors: frozenset[str]
    destinations: frozenset[str]
    mentions: frozenset[str]
    sessions: frozenset[str]
    targets: Mapping[str, int]
    referrers: frozenset[str]

    def wrappers_at(self, host: str) -> list[WrapperFormat]:
        """Return the wrapper formats of the host's network, most specific first."""
        formats: list[WrapperFormat] = []
        for name in host_patterns(host):
            formats += self.wrappers.get(name, ())
        return formats

    def hosted_at(self, path: str) -> tuple[WrapperFormat, ...]:
        """Return the formats of software under any host that may have links with this path."""
        # One test for all paths first: most links match none.
        if self.hosted_paths.fullmatch(path):
            return self.hosted
        return self.hosted_on_any_path

    def is_shortener(self, host: str) -> bool:
        """Return True if the host's links hold an id only."""
        return any(name in self.shorteners for name in host_patterns(host))

    def tracker_of(self, key: str) -> str | None:
        """Return the tracker that reads a key (in lower case) on every host; None where there is
        none, or the key may as well name an attribute of a product (`wt_class`).
        """
        if tracker := self.anywhere.tracker_of(key):
            return tracker
        tracker = self.prefixed.tracker_of(key)
        if tracker and self.attributes.isdisjoint(re.split("[._]", key)[1:]):
            return tracker
        return None

    def segment_prefixes_at(self, host: str) -> tuple[str, ...]:
        """Return the prefixes of path segments that track on this host."""
        prefixes: list[str] = []
        for tracking in self._tracking_at(host):
            prefixes += tracking.segment_prefixes
        return tuple(prefixes)

    def keys_at(self, host: str, path: str) -> list[KeySet]:
        """Return the keys that track on this host alone, or on some of its pages."""
        return [tracking.keys for tracking in self._tracking_at(host) if tracking.covers(path)]

    def _tracking_at(self, host: str) -> list[HostTracking]:
        rules_of_host: list[HostTracking] = []
        for name in host_patterns(host):
            rules_of_host += self.hosts.get(name, ())
        return rules_of_host


@cache
def load_network_data() -> NetworkData:
    """Load the data files, once per process."""
    links = _load("wrappers.json")
    tracking = _load("tracking.json")
    hosted = tuple(replace(_wrapper(entry), is_hosted=True) for entry in links["hosted"])
    return NetworkData(
        wrappers=_wrappers_by_host(links["wrappers"]),
        hosted=hosted,
        hosted_on_any_path=tuple(wrapper for wrapper in hosted if not wrapper.paths),
        hosted_paths=_any_path_pattern(hosted),
        shorteners=frozenset(links["shorteners"]),
        anywhere=_key_set(tracking["anywhere"]),
        prefixed=_key_set(tracking["prefixed"]),
        attributes=frozenset(tracking["attributes"]),
        mail=_key_set(tracking["mail"]),
        shop=_key_set(tracking["shop"]),
        hosts=_tracking_by_host(tracking["sites"]),
        mail_marks=tuple(tracking["mail_marks"]),
        vague=frozenset(tracking["vague"]),
        portals=frozenset(tracking["portals"]),
        channels=frozenset(tracking["channels"]),
        ids=frozenset(tracking["ids"]),
        scripts=frozenset(tracking["scripts"]),
        redirects=frozenset(tracking["redirects"]),
        redirectors=frozenset(tracking["redirectors"]),
        destinations=frozenset(tracking["destinations"]),
        mentions=frozenset(tracking["mentions"]),
        sessions=frozenset(tracking["sessions"]),
        # The likeliest key of a target comes first.
        targets={key: rank for rank, key in enumerate(tracking["targets"])},
        referrers=frozenset(tracking["referrers"]),
    )


def _load(name: str) -> dict[str, Any]:
    text = files("url_cleaner").joinpath("data", name).read_text("utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def _key_set(groups: Iterable[Mapping[str, Any]]) -> KeySet:
    return KeySet.of((group["by"], group["keys"]) for group in groups)


def _tracking_by_host(entries: Iterable[Mapping[str, Any]]) -> dict[str, tuple[HostTracking, ...]]:
    by_host: dict[str, list[HostTracking]] = defaultdict(list)
    for entry in entries:
        tracking = HostTracking(
            keys=_key_set([entry]),
            pages=tuple(entry.get("pages", ())),
            segment_prefixes=tuple(entry.get("segments", ())),
        )
        for host in entry["hosts"]:
            by_host[host].append(tracking)
    return {host: tuple(trackings) for host, trackings in by_host.items()}


def _wrappers_by_host(entries: Iterable[Mapping[str, Any]]) -> dict[str, tuple[WrapperFormat, ...]]:
    by_host: dict[str, list[WrapperFormat]] = defaultdict(list)
    for entry in entries:
        wrapper = _wrapper(entry)
        for host in entry["hosts"]:
            by_host[host].append(wrapper)
    return {host: tuple(wrappers) for host, wrappers in by_host.items()}


def _wrapper(entry: Mapping[str, Any]) -> WrapperFormat:
    network = entry["network"]
    values = {key: value for key, value in entry.items() if key not in ("hosts", "own")}
    # Parameters are compared in lower case and without a list's brackets.
    values["keys"] = tuple(key.lower().removesuffix("[]") for key in entry.get("keys", ()))
    values["requires"] = frozenset(key.lower() for key in entry.get("requires", ()))
    values["paths"] = tuple(entry.get("paths", ()))
    values["marks"] = tuple(tuple(mark) for mark in entry.get("marks", ()))
    return WrapperFormat(**values, network_keys=KeySet.of([(network, entry.get("own", ()))]))


def _any_path_pattern(wrappers: Iterable[WrapperFormat]) -> re.Pattern[str]:
    """Compile a pattern of the paths of all formats, with or without a last slash."""
    patterns: list[str] = []
    for wrapper in wrappers:
        for path_format in wrapper.paths:
            patterns.append(f"{_path_pattern(path_format).pattern}/?")
    return re.compile("|".join(patterns))


@cache
def _path_pattern(path_format: str) -> re.Pattern[str]:
    """Compile a format of paths; the legend in `data/wrappers.json` explains its signs.

    >>> bool(_path_pattern("/c/#/#").fullmatch("/c/12345/6789")), bool(_path_pattern("*/go.url").fullmatch("/x/go.url"))
    (True, True)
    """
    pieces: list[str] = []
    end = len(path_format) - 1
    for position, sign in enumerate(path_format):
        if sign == "#":
            pieces.append(f"[0-9]{{{_MIN_ID_DIGITS},}}")
        elif sign != "*":
            pieces.append(re.escape(sign))
        # Inside a path a star stays within its segment, so that matching takes linear time.
        elif position in (0, end):
            pieces.append(".*")
        else:
            pieces.append("[^/]*")
    return re.compile("".join(pieces))
