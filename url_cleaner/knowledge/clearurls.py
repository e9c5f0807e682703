"""Filter lists in ClearURLs' format: providers by URL pattern, each with keys, cuts and
redirections as patterns.

See https://docs.clearurls.xyz, "Rules". Many URL patterns end in any domain and so match
`shop.com.example.org` as well: a provider applies only where its pattern names the registrable
domain.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from url_cleaner.knowledge.patterns import MATCH_CACHE_SIZE, Pattern, PatternSet, compile_pattern
from url_cleaner.urls.domains import registrable_domain
from url_cleaner.urls.url import Url

# Parts of a pattern that spell no name: sets, repeats, classes of characters, marks of groups, and the
# scheme before the name.
_NO_NAME = re.compile(
    r"\[[^\[\]]*+\]|\{[^{}]*+\}|\\[a-z]|\(\?[:=!<]+|^\^?https?\??:", re.IGNORECASE
)
_NAME = re.compile(r"[a-z0-9-]+", re.IGNORECASE)
# Characters of a provider's name that are shown.
_MAX_NAME_LENGTH = 60


@dataclass(frozen=True)
class Provider:
    """One provider's patterns; `domains` are the names that its URL pattern spells."""

    name: str
    pattern: str
    domains: frozenset[str]
    rules: tuple[Pattern, ...]
    cuts: tuple[Pattern, ...]
    exceptions: tuple[Pattern, ...]
    redirections: tuple[Pattern, ...]

    def applies_to(self, url: Url, text: str) -> bool:
        """Return True if a URL that matches the pattern is of the named domain, and no
        exception.
        """
        if self.pattern not in (".*", ""):
            domain = registrable_domain(url.host) or ""
            if domain.partition(".")[0] not in self.domains:
                return False
        return not any(exception.search(text) for exception in self.exceptions)


class ClearUrls:
    """All providers of a file."""

    def __init__(self, entries: Mapping[str, Mapping[str, Any]]) -> None:
        unsupported: list[str] = []
        self._providers = tuple(
            _provider(str(name), entry, unsupported) for name, entry in entries.items()
        )
        url_patterns = [provider.pattern for provider in self._providers]
        self._url_patterns = PatternSet(url_patterns, unsupported)
        self.skipped = len(unsupported)
        self._providers_of = lru_cache(MATCH_CACHE_SIZE)(self._applying)

    def targets(self, url: Url) -> Iterator[tuple[str, str]]:
        """Yield the targets that the redirections find, each with its provider."""
        text = str(url)
        for provider in self._providers_of(url):
            for redirection in provider.redirections:
                match = redirection.search(text)
                if match and match.groups():
                    yield match.group(1) or "", f"ClearURLs: {provider.name}"

    def tracker_of(self, url: Url, key: str) -> str | None:
        """Return the provider that lists the key as a tracker, else None."""
        for provider in self._providers_of(url):
            if any(rule.search(key) for rule in provider.rules):
                return f"ClearURLs: {provider.name}"
        return None

    def shorten(self, text: str) -> str:
        """Cut the matches of the raw rules out of a URL, behind its host."""
        url = Url.parse(text)
        after_host = url.after_host
        root = text.removesuffix(after_host)
        for provider in self._providers_of(url):
            for cut in provider.cuts:
                after_host = cut.sub("", after_host)
        return root + after_host

    def _applying(self, url: Url) -> tuple[Provider, ...]:
        text = str(url)
        providers = [self._providers[index] for index in self._url_patterns.matching(text)]
        return tuple(provider for provider in providers if provider.applies_to(url, text))


def _provider(name: str, entry: Mapping[str, Any], skipped: list[str]) -> Provider:
    # Rules must match a key as a whole.
    keys = [*entry.get("rules", ()), *entry.get("referralMarketing", ())]
    pattern = str(entry["urlPattern"])
    return Provider(
        name=name[:_MAX_NAME_LENGTH],
        pattern=pattern,
        domains=_spelled_names(pattern),
        rules=_compile_all((f"^(?:{key})$" for key in keys), skipped),
        cuts=_compile_all(entry.get("rawRules"), skipped),
        exceptions=_compile_all(entry.get("exceptions"), skipped),
        redirections=_compile_all(entry.get("redirections"), skipped),
    )


def _spelled_names(pattern: str) -> frozenset[str]:
    """Return the names that a URL pattern spells, each as a whole.

    >>> sorted(_spelled_names(r"^https?:\\/\\/(?:[a-z0-9-]+\\.)*?(?:amazon|amzn)(?:\\.[a-z]{2,}){1,}"))
    ['amazon', 'amzn']
    """
    return frozenset(_NAME.findall(_NO_NAME.sub(" ", pattern).lower()))


def _compile_all(texts: Iterable[str] | None, skipped: list[str]) -> tuple[Pattern, ...]:
    patterns = [compile_pattern(text, skipped) for text in texts or ()]
    return tuple(pattern for pattern in patterns if pattern is not None)
