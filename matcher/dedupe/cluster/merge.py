"""One record out of several that are the same thing, with the source of each of its values.

After Kosolapov et al.: a compound field (one with several values in any of the records) becomes the union of them all;
a simple one is taken from the record that has it. Where several have it, the value that most of them agree on wins
(capitals, accents and spaces set aside), and among equals the older record's, which is the one that stands first.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from catalog.feeds.rows import Row
from matcher.records.text import fold

LONGEST = 1 << 30


@dataclass(frozen=True)
class Merged:
    """The values of a merged record by column, and which of the records each column's values come from."""

    texts: dict[str, list[str]]
    sources: dict[str, list[int]]


def merge(rows: Sequence[Row]) -> Merged:
    """One record out of rows, the oldest first.

    >>> found = merge([Row(2, {"ean": [], "tag": ["red"]}), Row(5, {"ean": ["4006381333931"], "tag": ["red", "new"]})])
    >>> found.texts, found.sources
    ({'ean': ['4006381333931'], 'tag': ['red', 'new']}, {'ean': [1], 'tag': [0, 1]})
    """
    texts, sources = dict[str, list[str]](), dict[str, list[int]]()
    for name in dict.fromkeys(name for row in rows for name in row.texts):
        having = [row for row in rows if row.texts.get(name)]
        if any(len(row.texts[name]) > 1 for row in having):
            chosen = _united([text for row in having for text in row.texts[name]])
        else:
            chosen = _confirmed([row.texts[name][0] for row in having])
        texts[name] = chosen
        known = {_plain(text) for text in chosen}
        sources[name] = [
            place
            for place, row in enumerate(rows)
            if known & {*map(_plain, row.texts.get(name, ()))}
        ]
    return Merged(texts, sources)


def _united(values: list[str]) -> list[str]:
    """All values, each in its first spelling."""
    found = dict[str, str]()
    for value in values:
        found.setdefault(_plain(value), value)
    return [*found.values()]


def _confirmed(values: list[str]) -> list[str]:
    """The commonest value, the first of equals, in its first spelling; `most_common` keeps the order of first sight."""
    return [
        next(value for value in values if _plain(value) == most)
        for most, _ in Counter(map(_plain, values)).most_common(1)
    ]


def _plain(value: str) -> str:
    return fold(value, LONGEST)
