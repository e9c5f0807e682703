"""Reading of a whole feed: rows become offers in a temporary file, with counts and the unreadable
rows.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, Any

from catalog.errors import UnreadableFeed
from catalog.feeds import columns
from catalog.feeds.offers import OfferParser, PriceTexts
from catalog.feeds.row_parser import (
    OFFER_COLUMNS,
    ParsedRow,
    SpooledOffer,
    can_be_sent,
    parse_known_row,
    parse_row,
    parser_process,
)
from catalog.feeds.rows import Row, Rows, Texts, UnreadableRow
from catalog.links.shop_links import UrlCleaner
from catalog.runtime.progress import Progress
from catalog.values import Hint, find_decimal_separator

# Bounds against hostile input: rows of a feed, unreadable rows stored, different column names.
MAX_ROWS = 2_000_000
MAX_BAD_ROWS = 20_000
MAX_NAMES = 2_000
# Characters of an unreadable row, and of its reason, that are stored.
MAX_RAW_LENGTH = 500
# Characters of an id that a reason quotes.
MAX_QUOTED_LENGTH = 80
# Rows that show the columns and the decimal separator.
SAMPLE_SIZE = 500
# Rows between two progress reports.
PROGRESS_STEP = 1_000
# Rows from which a second process parses: it takes about a second to start.
ROWS_ALONE = 20_000
# Rows that are sent to it at a time.
BATCH_SIZE = 250

_PRICE_INDEX = OFFER_COLUMNS.index("price")
_CURRENCY_INDEX = OFFER_COLUMNS.index("currency")
# Details of a reason that differ from row to row.
_DETAILS = re.compile(r"""'.*'|".*"|\d[\d,.]*""")


@dataclass(frozen=True)
class ImportSummary:
    """Counts of an import: rows read, kept and bad; links that are opaque; links that had tracking.

    `reasons` counts the reasons of bad rows, and the notes on rows that were kept.
    """

    read: int
    kept: int
    bad: int
    opaque: int
    removed: int
    reasons: dict[str, int]


@dataclass
class FeedReader:
    """Reader of one feed; its first rows show its columns and its decimal separator."""

    source: str
    home: str
    mapping: Mapping[str, str]
    spool: IO[str]
    progress: Progress
    cleaner: UrlCleaner | None = None
    bad_rows: list[UnreadableRow] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    read: int = 0
    kept: int = 0
    bad: int = 0
    opaque: int = 0
    removed: int = 0
    # Column names in the order of their first row.
    _names: dict[str, None] = field(default_factory=dict)
    _columns: columns.Columns = field(default_factory=dict)
    _parser: OfferParser | None = None
    # Line of each id read so far.
    _line_of_ref: dict[str, int] = field(default_factory=dict)

    def note(self, reason: str) -> None:
        """Count a doubt about a row that is kept."""
        self.reasons[reason] += 1

    @property
    def column_names(self) -> list[str]:
        """Names of the columns read so far, in the order of their first row."""
        return list(self._names)

    @property
    def field_columns(self) -> columns.Columns:
        """Columns that hold each field, the preferred one first."""
        return self._columns

    def summary(self) -> ImportSummary:
        """Return the counts so far."""
        return ImportSummary(
            read=self.read,
            kept=self.kept,
            bad=self.bad,
            opaque=self.opaque,
            removed=self.removed,
            reasons=dict(self.reasons.most_common()),
        )

    def read_all(self, rows: Rows) -> None:
        """Read the feed to its end.

        Raises UnreadableFeed where no row can be kept, MissingFields, UsageError.
        """
        sample = list(islice(rows, SAMPLE_SIZE))
        for row in sample:
            self._add_names(row, resolve=False)
        if not self._names:
            raise UnreadableFeed(self._emptiness(sample))
        self._columns = columns.resolve_columns(self._names, self.mapping, self.source)
        decimal = find_decimal_separator(self._prices(sample))
        hint = Hint(decimal=decimal, base_url=self.home)
        self._parser = OfferParser(self._columns, hint, self.home, self.cleaner)
        for row in sample:
            if isinstance(row, Row):
                self._parser.learn_formats(row.texts)
        for row in sample:
            texts = row.texts if isinstance(row, Row) else None
            self._read_row(row, None if texts is None else parse_known_row(self._parser, texts))
        del sample
        for row in islice(rows, ROWS_ALONE):
            self._add_names(row)
            texts = row.texts if isinstance(row, Row) else None
            self._read_row(row, None if texts is None else parse_row(self._parser, texts))
        if self.read >= SAMPLE_SIZE + ROWS_ALONE:
            self._read_others(rows, self._parser)
        if not self.kept:
            raise UnreadableFeed(self._emptiness(self.bad_rows))

    def read_spool(self) -> Iterator[list[Any]]:
        """Yield the offers of the feed as lists of `OFFER_COLUMNS`, with their prices in the
        formats that all rows together have shown.
        """
        self.spool.seek(0)
        for line in self.spool:
            offer, texts = json.loads(line)
            if texts is not None and self._parser is not None:
                regular, sale, currency = texts
                price, code, note = self._parser.parse_price(
                    PriceTexts(_as_pairs(regular), _as_pairs(sale), currency)
                )
                if note:
                    self.note(note)
                offer[_PRICE_INDEX] = None if price is None else str(price)
                offer[_CURRENCY_INDEX] = code
            yield offer

    def _read_others(self, rows: Rows, parser: OfferParser) -> None:
        """Read the rows of a long feed, parsed by a second process where that is possible."""
        if not can_be_sent(parser):
            for row in rows:
                self._add_names(row)
                texts = row.texts if isinstance(row, Row) else None
                self._read_row(row, None if texts is None else parse_row(parser, texts))
            return
        with parser_process(parser) as process:
            batch: list[Row | UnreadableRow] = []
            for row in rows:
                # Rows before new columns are parsed without these.
                if self._new_names(row):
                    process.submit(batch, _texts_of(batch))
                    batch = []
                    self._read_batches(process.done())
                    self._add_names(row)
                    process.set_columns(self._columns)
                batch.append(row)
                if len(batch) >= BATCH_SIZE:
                    process.submit(batch, _texts_of(batch))
                    batch = []
                    self._read_batches(process.done())
            process.submit(batch, _texts_of(batch))
            self._read_batches(process.remaining())

    def _read_batches(
        self, batches: Iterable[tuple[list[Row | UnreadableRow], list[ParsedRow]]]
    ) -> None:
        for batch, parsed_rows in batches:
            parsed = iter(parsed_rows)
            for row in batch:
                self._read_row(row, next(parsed) if isinstance(row, Row) else None)

    def _new_names(self, row: Row | UnreadableRow) -> list[str]:
        """Return the column names that are new with a row; behind thousands, only those of a
        field.
        """
        if isinstance(row, UnreadableRow) or row.texts.keys() <= self._names.keys():
            return []
        new_names = [name for name in row.texts if name not in self._names]
        if len(self._names) > MAX_NAMES:
            new_names = [name for name in new_names if columns.count_known([name])]
        return new_names

    def _add_names(self, row: Row | UnreadableRow, *, resolve: bool = True) -> None:
        """Add the column names that are new with a row, and find the fields' columns anew."""
        new_names = self._new_names(row)
        self._names |= dict.fromkeys(new_names)
        if new_names and resolve:
            self._columns = columns.resolve_columns(self._names, self.mapping, self.source)
            if self._parser is not None:
                self._parser.set_columns(self._columns)

    def _prices(self, sample: list[Row | UnreadableRow]) -> Iterator[str]:
        for row in sample:
            if isinstance(row, UnreadableRow):
                continue
            for column in self._columns.get("price", []):
                yield from row.texts.get(column, [])

    def _read_row(self, row: Row | UnreadableRow, parsed: ParsedRow | None) -> None:
        """Keep or refuse a row; `parsed` is None for one that is unreadable."""
        self.read += 1
        if self.read % PROGRESS_STEP == 0:
            self.progress("offers read", self.read)
        if self.read > MAX_ROWS:
            raise UnreadableFeed(
                f"{self.source} has more than {MAX_ROWS:,} rows: import it as several shops"
            )
        if isinstance(row, UnreadableRow):
            self._refuse(row)
            return
        if not isinstance(parsed, SpooledOffer):
            self._refuse(UnreadableRow(row.line, parsed or "", _raw_text(row)))
            return
        first_line = self._line_of_ref.setdefault(parsed.ref, row.line)
        if len(self._line_of_ref) == self.kept:
            reason = f"has the id {parsed.ref[:MAX_QUOTED_LENGTH]!r} of line {first_line} again"
            self._refuse(UnreadableRow(row.line, reason, _raw_text(row)))
            return
        self.kept += 1
        self.opaque += parsed.is_opaque
        self.removed += parsed.had_tracking
        if parsed.notes:
            self.reasons.update(parsed.notes)
        self.spool.write(parsed.line)

    def _refuse(self, row: UnreadableRow) -> None:
        self.bad += 1
        # Reasons that differ in details only are counted as one.
        kind = _DETAILS.sub("N", row.reason).partition(":")[0]
        self.reasons[kind] += 1
        if len(self.bad_rows) < MAX_BAD_ROWS:
            reason, raw = row.reason[:MAX_RAW_LENGTH], row.raw[:MAX_RAW_LENGTH]
            self.bad_rows.append(UnreadableRow(row.line, reason, raw))

    def _emptiness(self, rows: list[Row | UnreadableRow] | list[UnreadableRow]) -> str:
        for row in rows:
            if isinstance(row, UnreadableRow):
                return f"{self.source} holds no row that can be read: line {row.line} {row.reason}"
        return f"{self.source} holds no offers"


def _texts_of(batch: list[Row | UnreadableRow]) -> list[Texts]:
    return [row.texts for row in batch if isinstance(row, Row)]


def _raw_text(row: Row) -> str:
    return row.raw or str(row.texts)


def _as_pairs(amounts: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((column, raw) for column, raw in amounts)
