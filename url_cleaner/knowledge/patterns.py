"""Regular expressions of unknown origin, run in RE2: linear in the length of the text for every
pattern.

RE2 comes with the extra `lists` and is imported only where a filter list is given.
"""

import re
from collections.abc import Sequence
from typing import Any

# RE2 has no type stubs.
Pattern = Any

# Bytes of memory for one compiled pattern, or one set of them. Bound against hostile input.
MAX_PATTERN_MEMORY = 8_000_000
# URLs for which the matching list entries are cached: each URL is looked up once per parameter.
MATCH_CACHE_SIZE = 16


def compile_pattern(text: str, skipped: list[str]) -> Pattern | None:
    """Compile a pattern, ignoring case; None where RE2 does not support it, and then it is added to
    `skipped`.
    """
    import re2

    try:
        return re2.compile(text, _options())
    except re2.error:
        skipped.append(text)
        return None


def escape_pattern(text: str) -> str:
    """Return the pattern that matches exactly this text.

    >>> escape_pattern("a.b")
    'a\\\\.b'
    """
    return re.escape(text)


class PatternSet:
    """Many patterns, searched for in one pass over a text.

    Raises ValueError where they are too many for the memory of a set.
    """

    def __init__(self, texts: Sequence[str], skipped: list[str]) -> None:
        import re2

        self._indices: list[int] = []
        self._set = re2.Set.SearchSet(_options())
        for index, text in enumerate(texts):
            try:
                self._set.Add(text)
            except re2.error:
                skipped.append(text)
                continue
            self._indices.append(index)
        # Compiled once, when it is complete.
        if self._indices:
            self._compile()

    def _compile(self) -> None:
        import re2

        try:
            self._set.Compile()
        except re2.error as error:
            raise ValueError(
                f"its URL patterns take more than {MAX_PATTERN_MEMORY:,} bytes of memory"
            ) from error

    def matching(self, text: str) -> list[int]:
        """Return the indices of all patterns that match somewhere in the text, in order."""
        if not self._indices:
            return []
        return sorted(self._indices[number] for number in self._set.Match(text) or ())


def _options() -> Any:
    import re2

    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = MAX_PATTERN_MEMORY
    return options
