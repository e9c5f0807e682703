"""Parquet files, read by polars in slices; the line of a row is its position, counted from 1."""

from pathlib import Path

import polars as pl

from catalog.errors import UnreadableFeed
from catalog.feeds.rows import Row, Rows, flatten

# Rows in memory at once.
SLICE_SIZE = 5_000


def read(path: Path) -> Rows:
    """Yield the rows of a Parquet file. Raises UnreadableFeed."""
    try:
        frame = pl.scan_parquet(path, glob=False)
        total = frame.select(pl.len()).collect().item()
        for start in range(0, total, SLICE_SIZE):
            rows = frame.slice(start, SLICE_SIZE).collect().iter_rows(named=True)
            for position, values in enumerate(rows, start + 1):
                yield Row(position, flatten(values), str(values))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UnreadableFeed(f"{path} is no Parquet file that can be read: {error}") from error
