"""Filter lists in Brave's formats: query parameters to drop by URL pattern, and redirects to skip
("debounce").

A URL pattern is that of browser extensions: `*://*.example.com/*`. Of the actions, `redirect` reads
a query parameter, `base64,redirect` the same in base64, and `regex-path` the match of a pattern in
the path.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from url_cleaner.knowledge.patterns import (
    MATCH_CACHE_SIZE,
    Pattern,
    PatternSet,
    compile_pattern,
    escape_pattern,
)
from url_cleaner.urls.query import parse_query
from url_cleaner.urls.url import Url

_SOURCE = "Brave's list"
_ACTIONS = ("redirect", "base64,redirect", "regex-path")
# Stands for an absent `exclude`: matches no http(s) URL.
_NO_URL = ["none://none"]
# Characters in which the scheme of a target must stand: `https://` and some slack.
_SCHEME_WINDOW = 12


class EntryIndex:
    """Index of list entries by their URL patterns, including and excluding ones."""

    def __init__(self, entries: Sequence[Mapping[str, Any]], skipped: list[str]) -> None:
        included = [_any_of(entry["include"]) for entry in entries]
        excluded = [_any_of(entry.get("exclude") or _NO_URL) for entry in entries]
        self._include = PatternSet(included, skipped)
        self._exclude = PatternSet(excluded, skipped)
        self.matching = lru_cache(MATCH_CACHE_SIZE)(self._matching)

    def _matching(self, url: Url) -> list[int]:
        """Return the indices of the entries that apply to a URL."""
        text = str(url)
        if not url.path:
            # URL patterns always have a path, at least the root's.
            text = str(replace(url, path="/", fragment=""))
        excluded = set(self._exclude.matching(text))
        return [index for index in self._include.matching(text) if index not in excluded]


class CleanUrls:
    """Brave's `clean-urls.json`: query parameters to drop."""

    def __init__(self, entries: Sequence[Mapping[str, Any]]) -> None:
        unsupported: list[str] = []
        self._index = EntryIndex(entries, unsupported)
        self._keys = [frozenset(str(key).lower() for key in entry["params"]) for entry in entries]
        self.skipped = len(unsupported)

    def targets(self, url: Url) -> Iterator[tuple[str, str]]:
        """Yield nothing: this list knows parameters only."""
        return iter(())

    def tracker_of(self, url: Url, key: str) -> str | None:
        """Return the name of the list where one of its entries has the key, else None."""
        for index in self._index.matching(url):
            if key in self._keys[index]:
                return _SOURCE
        return None

    def shorten(self, text: str) -> str:
        """Return the URL unchanged: this list knows parameters only."""
        return text


@dataclass(frozen=True)
class Debounce:
    """One entry of `debounce.json`: reads the target from the parameter `key`, or by `pattern` from
    the path.
    """

    key: str
    pattern: Pattern | None
    scheme: str

    def target(self, url: Url) -> str | None:
        """Return the text of the target in a URL, None where there is none."""
        text = self._target_text(url)
        if text and self.scheme and "://" not in text[:_SCHEME_WINDOW]:
            return f"{self.scheme}://{text}"
        return text

    def _target_text(self, url: Url) -> str | None:
        if self.pattern is not None:
            match = self.pattern.search(url.after_host)
            return match.group(1) if match and match.groups() else None
        for param in parse_query(url.query):
            if param.key == self.key:
                return param.value
        return None


class DebounceList:
    """Brave's `debounce.json`: redirects to skip."""

    def __init__(self, entries: Sequence[Mapping[str, Any]]) -> None:
        unsupported: list[str] = []
        supported = [entry for entry in entries if str(entry.get("action")) in _ACTIONS]
        self._index = EntryIndex(supported, unsupported)
        self._debounces = [_debounce(entry, unsupported) for entry in supported]
        self.skipped = len(unsupported)

    def targets(self, url: Url) -> Iterator[tuple[str, str]]:
        """Yield the targets that the entries find, each with the name of the list."""
        # Base64 needs no case of its own: the reader of targets recognises it.
        for index in self._index.matching(url):
            if text := self._debounces[index].target(url):
                yield text, _SOURCE

    def tracker_of(self, url: Url, key: str) -> str | None:
        """Return None: this list knows redirects only."""
        return None

    def shorten(self, text: str) -> str:
        """Return the URL unchanged: this list knows redirects only."""
        return text


def _debounce(entry: Mapping[str, Any], skipped: list[str]) -> Debounce:
    scheme = str(entry.get("prepend_scheme") or "")
    if scheme not in ("http", "https"):
        scheme = ""
    param = str(entry["param"])
    if entry["action"] == "regex-path":
        return Debounce("", compile_pattern(param, skipped), scheme)
    return Debounce(param.lower(), None, scheme)


def _any_of(url_patterns: Sequence[str]) -> str:
    return "|".join(f"^{_regex(str(pattern))}$" for pattern in url_patterns)


def _regex(url_pattern: str) -> str:
    """Translate a URL pattern of browser extensions to a regular expression.

    >>> _regex("*://*.shop.com/*")
    'https?://(?:[^/]*\\\\.)?shop\\\\.com(?::[0-9]+)?/.*'
    """
    if url_pattern == "<all_urls>":
        return ".*"
    scheme, _, after_scheme = url_pattern.partition("://")
    host, slash, path = after_scheme.partition("/")
    scheme_regex = "https?" if scheme == "*" else escape_pattern(scheme)
    subdomains = r"(?:[^/]*\.)?" if host.startswith("*.") else ""
    host_regex = "[^/]*" if host == "*" else escape_pattern(host.removeprefix("*."))
    path_regex = ".*".join(map(escape_pattern, path.split("*")))
    return f"{scheme_regex}://{subdomains}{host_regex}(?::[0-9]+)?{slash}{path_regex}"
