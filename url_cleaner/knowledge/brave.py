"""Lists in Brave's formats: parameters to drop by patterns of addresses, and redirects to skip ("debounce").

An address pattern is that of browser extensions: `*://*.example.com/*`. Of the actions, `redirect` reads a parameter,
`base64,redirect` the same in base64, `regex-path` what a pattern finds in the path.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from url_cleaner.knowledge.patterns import KEPT, Chooser, Pattern, compiled, escaped
from url_cleaner.urls.link import Link
from url_cleaner.urls.query import parameters


class Addresses:
    """Which entries a link falls under, by patterns that include and patterns that exclude."""

    def __init__(self, entries: Sequence[Mapping[str, Any]], skipped: list[str]) -> None:
        self._include = Chooser([_any(one["include"]) for one in entries], skipped)
        self._exclude = Chooser(
            [_any(one.get("exclude") or ["none://none"]) for one in entries], skipped
        )

        self.those = lru_cache(KEPT)(self._those)

    def _those(self, link: Link) -> list[int]:
        """The places of the entries that a link falls under."""
        text = (
            str(link)
            if link.path
            else str(Link(link.scheme, link.user, link.host, link.port, "/", link.query))
        )
        out = set(self._exclude.those(text))
        return [at for at in self._include.those(text) if at not in out]


class Params:
    """Brave's `clean-urls.json`."""

    def __init__(self, entries: Sequence[Mapping[str, Any]]) -> None:
        skipped: list[str] = []
        self._addresses = Addresses(entries, skipped)
        self._keys = [frozenset(str(key).lower() for key in one["params"]) for one in entries]
        self.skipped = len(skipped)

    @classmethod
    def of(cls, found: list[dict[str, Any]]) -> "Params":
        """The entries as the file has them."""
        return cls(found)

    def targets(self, link: Link) -> Iterator[tuple[str, str]]:
        """None: this list knows parameters only."""
        return iter(())

    def tracks(self, link: Link, key: str) -> str | None:
        """Brave, where one of its entries names the key."""
        return (
            "Brave's list"
            if any(key in self._keys[at] for at in self._addresses.those(link))
            else None
        )

    def shorter(self, text: str) -> str:
        """The link as it is."""
        return text


@dataclass(frozen=True)
class Bounce:
    """One way to read a target."""

    key: str
    pattern: Pattern | None
    scheme: str

    def target(self, link: Link) -> str | None:
        """The target's text in a link."""
        if self.pattern is not None:
            found = self.pattern.search(link.rest)
            text = found.group(1) if found and found.groups() else None
        else:
            text = next(
                (param.value for param in parameters(link.query) if param.key == self.key), None
            )
        return (
            f"{self.scheme}://{text}" if text and self.scheme and "://" not in text[:12] else text
        )


class Debounce:
    """Brave's `debounce.json`."""

    def __init__(self, entries: Sequence[Mapping[str, Any]]) -> None:
        skipped: list[str] = []
        kept = [
            one
            for one in entries
            if str(one.get("action")) in ("redirect", "base64,redirect", "regex-path")
        ]
        self._addresses = Addresses(kept, skipped)
        self._ways = [_bounce(one, skipped) for one in kept]
        self.skipped = len(skipped)

    @classmethod
    def of(cls, found: list[dict[str, Any]]) -> "Debounce":
        """The entries as the file has them."""
        return cls(found)

    def targets(self, link: Link) -> Iterator[tuple[str, str]]:
        """What the entries find; base64 is recognised where it stands."""
        for at in self._addresses.those(link):
            if text := self._ways[at].target(link):
                yield text, "Brave's list"

    def tracks(self, link: Link, key: str) -> str | None:
        """Nobody: this list knows redirects only."""
        return None

    def shorter(self, text: str) -> str:
        """The link as it is."""
        return text


def _bounce(entry: Mapping[str, Any], skipped: list[str]) -> Bounce:
    by_path = entry["action"] == "regex-path"
    pattern = compiled(str(entry["param"]), skipped) if by_path else None
    scheme = str(entry.get("prepend_scheme") or "")
    return Bounce(
        "" if by_path else str(entry["param"]).lower(),
        pattern,
        scheme if scheme in ("http", "https") else "",
    )


def _any(addresses: Sequence[str]) -> str:
    return "|".join(f"^{_pattern(str(address))}$" for address in addresses)


def _pattern(address: str) -> str:
    """An address pattern as a regular expression.

    >>> _pattern("*://*.shop.com/*")
    'https?://(?:[^/]*\\\\.)?shop\\\\.com(?::[0-9]+)?/.*'
    """
    if address == "<all_urls>":
        return ".*"
    scheme, _, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    named = "[^/]*" if host == "*" else escaped(host.removeprefix("*."))
    before = r"(?:[^/]*\.)?" if host.startswith("*.") else ""
    wanted = "https?" if scheme == "*" else escaped(scheme)
    return f"{wanted}://{before}{named}(?::[0-9]+)?{slash}" + ".*".join(
        map(escaped, path.split("*"))
    )
