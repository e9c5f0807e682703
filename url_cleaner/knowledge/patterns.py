"""Regular expressions of strangers, in RE2: linear in the length of the text, whatever the pattern.

RE2 comes with the extra `lists` and is imported only where a list is given.
"""

import re
from collections.abc import Sequence
from typing import Any

Pattern = Any
LARGEST = 8_000_000
KEPT = 16
"""For how many links it is kept which entries they fall under: a link is asked about for each of its parameters."""


def compiled(text: str, skipped: list[str]) -> Pattern | None:
    """The pattern, letters of either case alike; None where RE2 cannot read it, and then it is noted."""
    import re2

    try:
        return re2.compile(text, _options())
    except re2.error:
        skipped.append(text)
        return None


def escaped(text: str) -> str:
    """The pattern that means exactly this text.

    >>> escaped("a.b")
    'a\\\\.b'
    """
    return re.escape(text)


class Chooser:
    """Many patterns tried on a text in one pass."""

    def __init__(self, texts: Sequence[str], skipped: list[str]) -> None:
        import re2

        self._places: list[int] = []
        self._set = re2.Set.SearchSet(_options())
        for at, text in enumerate(texts):
            try:
                self._set.Add(text)
            except re2.error:
                skipped.append(text)
                continue
            self._places.append(at)
        if self._places:
            self._set.Compile()

    def those(self, text: str) -> list[int]:
        """The places of the patterns that the text holds, in order."""
        return (
            sorted(self._places[number] for number in self._set.Match(text) or ())
            if self._places
            else []
        )


def _options() -> Any:
    import re2

    options = re2.Options()
    options.case_sensitive, options.log_errors, options.max_mem = False, False, LARGEST
    return options
