"""Parquet files, read by polars a slice at a time; the line of a row is its position, counted from 1."""

from pathlib import Path

import polars as pl

from catalog.errors import UnreadableFeed
from catalog.feeds.rows import Row, Rows, flat

SLICE = 5000


def read(path: Path) -> Rows:
    """The rows of a Parquet file. Raises UnreadableFeed."""
    try:
        frame = pl.scan_parquet(path, glob=False)
        total = frame.select(pl.len()).collect().item()
        for start in range(0, total, SLICE):
            for position, values in enumerate(
                frame.slice(start, SLICE).collect().iter_rows(named=True), start + 1
            ):
                yield Row(position, flat(values), str(values))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UnreadableFeed(f"{path} is no Parquet file that can be read: {error}") from error
