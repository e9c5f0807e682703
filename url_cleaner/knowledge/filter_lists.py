"""Filter lists that the user names: ClearURLs' `data.min.json`, Brave's `clean-urls.json` and
`debounce.json`.

Scout ships none of them (LGPL, MPL). Its own knowledge comes first, and a list can only add to it.
Patterns in these files and the URLs they run on are both untrusted: they run in RE2, whose time is
linear in the length of the text. Patterns that RE2 does not support are skipped and counted. Keys
that name variants are never removed on the word of a list, and a target is parsed like any other:
http(s), with a registrable domain.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from url_cleaner.knowledge.brave import CleanUrls, DebounceList
from url_cleaner.knowledge.clearurls import ClearUrls
from url_cleaner.knowledge.shop_keys import VARIANT_KEYS
from url_cleaner.urls.url import Url

# Bytes of a list file. Bound against hostile input.
MAX_FILE_SIZE = 32_000_000


class FilterList(Protocol):
    """One file's entries; `skipped` counts the patterns that RE2 does not support."""

    skipped: int

    def targets(self, url: Url) -> Iterator[tuple[str, str]]:
        """Yield texts that may hold the URL's target, each with its source."""

    def tracker_of(self, url: Url, key: str) -> str | None:
        """Return the source that lists the key as a tracker on this URL, else None."""

    def shorten(self, text: str) -> str:
        """Cut everything else that the list calls tracking out of a URL."""


@dataclass(frozen=True)
class FilterLists:
    """All lists of the user, in order."""

    lists: tuple[FilterList, ...]

    @property
    def skipped(self) -> int:
        """Number of patterns that RE2 does not support."""
        return sum(filter_list.skipped for filter_list in self.lists)

    def targets(self, url: Url) -> Iterator[tuple[str, str]]:
        """Yield texts that may hold the URL's target, each with its source."""
        for filter_list in self.lists:
            yield from filter_list.targets(url)

    def tracker_of(self, url: Url, key: str) -> str | None:
        """Return the source that lists the key as a tracker on this URL; None for keys that name
        variants.
        """
        if key in VARIANT_KEYS:
            return None
        for filter_list in self.lists:
            if source := filter_list.tracker_of(url, key):
                return source
        return None

    def shorten(self, text: str) -> str:
        """Cut everything else that the lists call tracking out of a URL."""
        for filter_list in self.lists:
            text = filter_list.shorten(text)
        return text


def load_filter_lists(files: Sequence[str | Path]) -> FilterLists:
    """Load filter lists; their format is recognised by their content.

    Raises ValueError or OSError, which name the file, and ImportError where RE2 is not installed.
    """
    lists = [_load(str(file), Path(file).stat().st_mtime_ns) for file in files]
    return FilterLists(tuple(lists))


# The time of the last change is part of the cache key, so that an edited file is loaded again.
@lru_cache(maxsize=16)
def _load(file: str, _modified_ns: int) -> FilterList:
    if Path(file).stat().st_size > MAX_FILE_SIZE:
        raise ValueError(f"{file} is larger than any list of links")
    try:
        return _parse(json.loads(Path(file).read_text("utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{file} is no list in the format of ClearURLs or Brave ({error})"
        ) from error


def _parse(content: Any) -> FilterList:
    if isinstance(content, dict):
        return ClearUrls(content["providers"])
    if not isinstance(content, list) or not content:
        raise ValueError("neither an object with 'providers' nor a list")
    if any("action" in entry for entry in content):
        return DebounceList(content)
    return CleanUrls(content)
