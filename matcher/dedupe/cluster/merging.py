"""Merge duplicate records into one, with the source of each of its values.

After Kosolapov et al.: a compound field (one with several values in any record) becomes the union
of all values. A simple field takes its value from the records that have it, by one of three
preferences: the value that most of them agree on (confirmed: case, accents and spaces aside, and in
a draw the oldest record's), the longest (complete), or that of the oldest record, which comes first.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from catalog.feeds.rows import Row
from matcher.records.text import fold

Preference = Literal["confirmed", "complete", "oldest"]  # whose value a simple field takes
NO_LIMIT = 1 << 30  # characters; `fold` cuts texts, values are compared as a whole


@dataclass(frozen=True)
class MergedRow:
    """The values of a merged record by column, and the positions of the records that have each."""

    texts: dict[str, list[str]]
    sources: dict[str, list[int]]


def merge_rows(rows: Sequence[Row], preference: Preference = "confirmed") -> MergedRow:
    """Merge rows into one; the oldest row comes first.

    >>> old = Row(2, {"ean": [], "tag": ["red"]})
    >>> merged = merge_rows([old, Row(5, {"ean": ["4006381333931"], "tag": ["red", "new"]})])
    >>> merged.texts
    {'ean': ['4006381333931'], 'tag': ['red', 'new']}
    >>> merged.sources
    {'ean': [1], 'tag': [0, 1]}
    """
    texts, sources = dict[str, list[str]](), dict[str, list[int]]()
    for name in dict.fromkeys(name for row in rows for name in row.texts):
        values_of_row = [row.texts[name] for row in rows if row.texts.get(name)]
        texts[name] = _merge_column(values_of_row, preference)
        sources[name] = _find_sources(rows, name, texts[name])
    return MergedRow(texts, sources)


def _merge_column(values_of_row: list[list[str]], preference: Preference) -> list[str]:
    """Merge the values of one column; each row has at least one value."""
    is_compound = any(len(values) > 1 for values in values_of_row)
    if is_compound:
        return _unite([value for values in values_of_row for value in values])
    values = [row_values[0] for row_values in values_of_row]
    if preference == "oldest":
        return values[:1]
    if preference == "complete":
        # The first of the longest, so that a draw goes to the oldest record.
        return [max(values, key=len)] if values else []
    return _most_frequent(values)


def _find_sources(rows: Sequence[Row], name: str, values: list[str]) -> list[int]:
    """Return the positions of the rows that have one of the values, in any spelling."""
    accepted = set(map(_normalise, values))
    positions = list[int]()
    for position, row in enumerate(rows):
        if not accepted.isdisjoint(map(_normalise, row.texts.get(name, ()))):
            positions.append(position)
    return positions


def _unite(values: list[str]) -> list[str]:
    """Return all distinct values, each in its first spelling."""
    first_spelling = dict[str, str]()
    for value in values:
        first_spelling.setdefault(_normalise(value), value)
    return [*first_spelling.values()]


def _most_frequent(values: list[str]) -> list[str]:
    """Return the most frequent value in its first spelling, the first in a draw; [] without any."""
    # Counter keeps the order of first occurrence among equally frequent values.
    winners = Counter(map(_normalise, values)).most_common(1)
    for value in values:
        if _normalise(value) == winners[0][0]:
            return [value]
    return []


def _normalise(value: str) -> str:
    return fold(value, NO_LIMIT)
