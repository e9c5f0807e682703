"""Reading a feed to its end: rows into offers on a spool, with the figures and the bad rows beside them."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import IO

from catalog.errors import UnreadableFeed
from catalog.feeds import columns, offers
from catalog.feeds.rows import Row, Rows, Unread
from catalog.links.shop_links import Clean
from catalog.runtime.progress import Progress
from catalog.values import Hint, decimal_of

MOST_ROWS = 2_000_000
MOST_BAD_ROWS = 20_000
LONGEST_RAW = 500
SAMPLE = 500
STEP = 1000
MOST_NAMES = 2000
_PARTICULARS = re.compile(r"'.*'|\d[\d,.]*")


@dataclass(frozen=True)
class Imported:
    """The figures of an import: rows read, kept and bad; links that stay opaque; links that tracking was taken from.

    `reasons` counts why rows are bad, and the notes on rows that were kept.
    """

    read: int
    kept: int
    bad: int
    opaque: int
    removed: int
    reasons: dict[str, int]


@dataclass
class Intake:
    """One feed on its way in. The first rows show its columns and its decimal separator."""

    source: str
    home: str
    mapping: Mapping[str, str]
    spool: IO[str]
    progress: Progress
    cleaner: Clean | None = None
    bad_rows: list[Unread] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    read: int = 0
    kept: int = 0
    bad: int = 0
    opaque: int = 0
    removed: int = 0
    _names: dict[str, None] = field(default_factory=dict)
    _places: columns.Columns = field(default_factory=dict)
    _lines: dict[str, int] = field(default_factory=dict)

    def note(self, reason: str) -> None:
        """Count a doubt about something that is kept."""
        self.reasons[reason] += 1

    def figures(self) -> Imported:
        """The figures so far."""
        return Imported(
            self.read,
            self.kept,
            self.bad,
            self.opaque,
            self.removed,
            dict(self.reasons.most_common()),
        )

    def take_all(self, rows: Rows) -> None:
        """Read the feed. Raises UnreadableFeed where nothing of it can be kept, MissingFields, UsageError."""
        sample = list(islice(rows, SAMPLE))
        for row in sample:
            self._learn_columns(row, resolve=False)
        if not self._names:
            raise UnreadableFeed(self._nothing(sample))
        self._places = columns.resolve(self._names, self.mapping, self.source)
        hint = Hint(decimal=decimal_of(self._prices(sample)), base_url=self.home)
        for row in chain(sample, rows):
            self._learn_columns(row)
            self._take(row, hint)
            if self.read % STEP == 0:
                self.progress("offers read", self.read)
        if not self.kept:
            raise UnreadableFeed(self._nothing(self.bad_rows))

    def _learn_columns(self, row: Row | Unread, *, resolve: bool = True) -> None:
        """Take in the names that a row has first; where there are thousands, only those that mean something."""
        if isinstance(row, Unread) or row.texts.keys() <= self._names.keys():
            return
        new = [name for name in row.texts if name not in self._names]
        if len(self._names) > MOST_NAMES:
            new = [name for name in new if columns.known([name])]
        self._names |= dict.fromkeys(new)
        if new and resolve:
            self._places = columns.resolve(self._names, self.mapping, self.source)

    def _prices(self, sample: list[Row | Unread]) -> Iterator[str]:
        rows = (row.texts for row in sample if isinstance(row, Row))
        return (
            raw
            for texts in rows
            for place in self._places.get("price", [])
            for raw in texts.get(place, [])
        )

    def _take(self, row: Row | Unread, hint: Hint) -> None:
        self.read += 1
        if self.read > MOST_ROWS:
            raise UnreadableFeed(
                f"{self.source} has more than {MOST_ROWS:,} rows: import it as several shops"
            )
        if isinstance(row, Unread):
            return self._refuse(row)
        found = offers.read(row.texts, self._places, hint, self.home, self.cleaner)
        if isinstance(found, str):
            return self._refuse(Unread(row.line, found, row.raw or str(row.texts)))
        ref = found.columns["ref"]
        if ref in self._lines:
            reason = f"has the id {ref[:80]!r} of line {self._lines[ref]} again"
            return self._refuse(Unread(row.line, reason, row.raw or str(row.texts)))
        return self._keep(row, found)

    def _keep(self, row: Row, found: offers.Reading) -> None:
        self._lines[found.columns["ref"]] = row.line
        self.kept += 1
        self.opaque += found.columns["opaque"]
        self.removed += found.cleaned
        self.reasons.update(found.notes)
        self.spool.write(json.dumps(found.columns) + "\n")

    def _refuse(self, row: Unread) -> None:
        self.bad += 1
        self.reasons[_PARTICULARS.sub("N", row.reason.partition(":")[0])] += 1
        if len(self.bad_rows) < MOST_BAD_ROWS:
            self.bad_rows.append(Unread(row.line, row.reason[:LONGEST_RAW], row.raw[:LONGEST_RAW]))

    def _nothing(self, rows: list[Row | Unread] | list[Unread]) -> str:
        first = next((row for row in rows if isinstance(row, Unread)), None)
        if first is None:
            return f"{self.source} holds no offers"
        return f"{self.source} holds no row that can be read: line {first.line} {first.reason}"
