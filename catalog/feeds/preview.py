"""A feed's beginning before it is imported: columns, mapping, offers, refused rows."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from catalog.errors import FeedError, UsageError
from catalog.feeds import sources
from catalog.feeds.columns import Columns
from catalog.feeds.feed_reader import FeedReader
from catalog.feeds.row_parser import OFFER_COLUMNS
from catalog.feeds.rows import Row, UnreadableRow
from catalog.models import Shop
from catalog.runtime.progress import no_progress

PREVIEW_ROWS = 500
"""Rows at the beginning of a feed that are read for a preview."""

SHOWN_ROWS = 10
"""Offers and refused rows that a preview has at most, each."""

_SAMPLE_LENGTH = 60  # characters of a value that shows the content of a column


@dataclass(frozen=True)
class ColumnPreview:
    """A column of a feed: its name, the field that it is read as (None: none), a value of it."""

    name: str
    field: str | None
    sample: str


@dataclass(frozen=True)
class FeedPreview:
    """The beginning of a feed as it would be imported.

    `offers` are by field. `error` says why nothing could be imported with this mapping, in one
    line; the columns are there even so.
    """

    columns: Sequence[ColumnPreview]
    field_columns: Columns
    offers: Sequence[Mapping[str, Any]]
    refused: Sequence[UnreadableRow]
    reasons: Mapping[str, int]
    read: int
    kept: int
    bad: int
    error: str | None = None


def preview_feed(
    source: str, shop: Shop, format: str = "auto", mapping: Mapping[str, str] = {}
) -> FeedPreview:
    """Read the first rows of a feed as an import would, and store nothing.

    Raises UnreadableFeed and UsageError where the source cannot be opened at all.
    """
    samples: dict[str, str] = {}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as spool:
        reader = FeedReader(sources.without_password(source), shop.url, mapping, spool, no_progress)
        error: str | None = None
        with sources.open_source(source, format, reader.note, no_progress) as rows:
            try:
                reader.read_all(_collect_samples(islice(rows, PREVIEW_ROWS), samples))
            except (FeedError, UsageError) as failure:
                if not reader.column_names:
                    raise
                error = str(failure)
        offers = []
        if error is None:
            for offer in islice(reader.read_spool(), SHOWN_ROWS):
                offers.append(dict(zip(OFFER_COLUMNS, offer, strict=True)))
    fields = {column: field for field, names in reader.field_columns.items() for column in names}
    columns = [
        ColumnPreview(name, fields.get(name), samples.get(name, "")) for name in reader.column_names
    ]
    return FeedPreview(
        columns,
        reader.field_columns,
        offers,
        reader.bad_rows[:SHOWN_ROWS],
        dict(reader.reasons.most_common()),
        reader.read,
        reader.kept,
        reader.bad,
        error,
    )


def _collect_samples(
    rows: Iterator[Row | UnreadableRow], samples: dict[str, str]
) -> Iterator[Row | UnreadableRow]:
    """Yield the rows, and note the first value of each column on the way."""
    for row in rows:
        if isinstance(row, Row):
            for name, texts in row.texts.items():
                if name not in samples and texts and texts[0].strip():
                    samples[name] = texts[0].strip()[:_SAMPLE_LENGTH]
        yield row
