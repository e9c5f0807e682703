"""Lists of others, from files of the user's: ClearURLs' `data.min.json`, Brave's `clean-urls.json`, `debounce.json`.

Scout ships none of them (LGPL, MPL); its own knowledge always comes first, and a list can only add to it. The patterns
in these files are regular expressions of strangers, and links are strangers' texts: both meet in RE2, whose time grows
with the length of the text and nothing else. A pattern that RE2 cannot read is left out and counted. Whatever a list
says, keys that name variants stay, and a target is read like any other: http(s), with a registrable domain.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from url_cleaner.knowledge.brave import Debounce, Params
from url_cleaner.knowledge.clearurls import Providers
from url_cleaner.knowledge.shop_params import VARIANTS
from url_cleaner.urls.link import Link

MOST = 32_000_000


class Entries(Protocol):
    """One file's entries; `skipped` counts the patterns that could not be read."""

    skipped: int

    def targets(self, link: Link) -> Iterator[tuple[str, str]]:
        """Texts that may hold the link's target, each with the one who says so."""

    def tracks(self, link: Link, key: str) -> str | None:
        """Who says that this key tracks there."""

    def shorter(self, text: str) -> str:
        """The link without what else is to be cut out of it."""


@dataclass(frozen=True)
class Lists:
    """All lists of the user, asked one after the other."""

    entries: tuple[Entries, ...]

    @property
    def skipped(self) -> int:
        """How many patterns could not be read."""
        return sum(one.skipped for one in self.entries)

    def targets(self, link: Link) -> Iterator[tuple[str, str]]:
        """Texts that may hold the link's target, each with the one who says so."""
        for one in self.entries:
            yield from one.targets(link)

    def tracks(self, link: Link, key: str) -> str | None:
        """Who says that this key tracks there; nobody where it names a variant."""
        if key in VARIANTS:
            return None
        return next((by for one in self.entries if (by := one.tracks(link, key))), None)

    def shorter(self, text: str) -> str:
        """The link without what else is to be cut out of it."""
        for one in self.entries:
            text = one.shorter(text)
        return text


def load(files: Sequence[str | Path]) -> Lists:
    """The lists in files, told apart by what stands in them. ValueError, OSError name the file; ImportError: no RE2."""
    return Lists(tuple(_read(str(file), Path(file).stat().st_mtime_ns) for file in files))


@lru_cache(maxsize=16)
def _read(file: str, _changed: int) -> Entries:
    if Path(file).stat().st_size > MOST:
        raise ValueError(f"{file} is larger than any list of links")
    try:
        return _entries(json.loads(Path(file).read_text("utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{file} is no list in the format of ClearURLs or Brave ({error})"
        ) from error


def _entries(found: Any) -> Entries:
    if isinstance(found, dict):
        return Providers.of(found["providers"])
    if not isinstance(found, list) or not found:
        raise ValueError("neither an object with 'providers' nor a list")
    return Debounce.of(found) if any("action" in one for one in found) else Params.of(found)
