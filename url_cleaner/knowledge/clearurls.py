"""Lists in ClearURLs' format: providers by a pattern of their URLs, each with keys, cuts and redirections as patterns.

See https://docs.clearurls.xyz, "Rules". A pattern that ends in any domain takes `shop.com.example.org` for the shop: a
provider counts only where its pattern names the domain that somebody registered.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from url_cleaner.knowledge.patterns import KEPT, Chooser, Pattern, compiled
from url_cleaner.urls.domains import registrable
from url_cleaner.urls.link import Link, read_link


@dataclass(frozen=True)
class Provider:
    """One provider's patterns."""

    name: str
    pattern: str
    rules: tuple[Pattern, ...]
    cuts: tuple[Pattern, ...]
    exceptions: tuple[Pattern, ...]
    redirections: tuple[Pattern, ...]

    def fits(self, link: Link, text: str) -> bool:
        """Is the link this provider's, beyond what its pattern says?"""
        plain = self.pattern.replace("\\", "").lower()
        domain = (registrable(link.host) or "").partition(".")[0]
        named = plain in (".*", "") or (domain != "" and domain in plain)
        return named and not any(exception.search(text) for exception in self.exceptions)


class Providers:
    """All providers of a file."""

    def __init__(self, providers: tuple[Provider, ...], chooser: Chooser, skipped: int) -> None:
        self._providers, self._chooser, self.skipped = providers, chooser, skipped
        self._at = lru_cache(KEPT)(self._fitting)

    @classmethod
    def of(cls, found: Mapping[str, Mapping[str, Any]]) -> "Providers":
        """The providers as the file has them."""
        skipped: list[str] = []

        def patterns(texts: Any, whole: bool = False) -> tuple[Pattern, ...]:
            made = [compiled(f"^(?:{text})$" if whole else text, skipped) for text in texts or ()]
            return tuple(one for one in made if one is not None)

        providers = tuple(
            Provider(
                str(name)[:60],
                str(one["urlPattern"]),
                patterns([*one.get("rules", ()), *one.get("referralMarketing", ())], whole=True),
                patterns(one.get("rawRules")),
                patterns(one.get("exceptions")),
                patterns(one.get("redirections")),
            )
            for name, one in found.items()
        )
        return cls(providers, Chooser([one.pattern for one in providers], skipped), len(skipped))

    def targets(self, link: Link) -> Iterator[tuple[str, str]]:
        """What the redirections find."""
        text = str(link)
        for one in self._at(link):
            for redirection in one.redirections:
                found = redirection.search(text)
                if found and found.groups():
                    yield found.group(1) or "", f"ClearURLs: {one.name}"

    def tracks(self, link: Link, key: str) -> str | None:
        """The provider that calls the key a tracker."""
        at = self._at(link)
        return next(
            (f"ClearURLs: {one.name}" for one in at if any(rule.search(key) for rule in one.rules)),
            None,
        )

    def shorter(self, text: str) -> str:
        """The link without what the raw rules find behind its host."""
        link = read_link(text)
        for one in self._at(link):
            rest = link.rest
            for cut in one.cuts:
                rest = cut.sub("", rest)
            text = text[: len(text) - len(link.rest)] + rest
        return text

    def _fitting(self, link: Link) -> tuple[Provider, ...]:
        text = str(link)
        return tuple(
            self._providers[at]
            for at in self._chooser.those(text)
            if self._providers[at].fits(link, text)
        )
