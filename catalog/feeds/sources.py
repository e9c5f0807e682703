"""Sources of a feed: a file, a URL or a query, opened with the reader of its format."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from catalog.errors import UnreadableFeed, UsageError
from catalog.feeds import files
from catalog.feeds.formats import delimited, jsonlines, parquet
from catalog.feeds.formats.xml import google_merchant
from catalog.feeds.remote import rest, sql_query
from catalog.feeds.rows import RepairNotice, Rows
from catalog.runtime.progress import Progress

# Endings of a URL's path by which it is a file to download, not a REST endpoint.
_FILE_SUFFIXES = {
    ".csv",
    ".tsv",
    ".tab",
    ".txt",
    ".jsonl",
    ".ndjson",
    ".parquet",
    ".xml",
    ".rss",
    ".atom",
    ".gz",
}


@contextmanager
def open_source(
    source: str, format: str, notice: RepairNotice, progress: Progress
) -> Iterator[Rows]:
    """Open the rows of a source; `notice` is called with each repair.

    Raises UsageError, UnreadableFeed.
    """
    is_auto = format == "auto"
    if not is_auto and format not in files.FORMATS:
        raise UsageError(
            f"--format {format}: there is no such format; there are auto, "
            f"{', '.join(files.FORMATS)}"
        )
    if format == "sql" or (is_auto and sql_query.is_query(source)):
        yield sql_query.read(source)
    elif not source.lower().startswith(("http://", "https://")):
        if format == "rest":
            raise UsageError(f"--format rest: {source} is no http(s) address")
        yield _read_file(_existing_file(source), format, notice)
    elif format == "rest" or (is_auto and _suffix(source) not in _FILE_SUFFIXES):
        yield rest.read(source, progress)
    else:
        with _downloaded(source) as path:
            yield _read_file(path, format, notice)


def without_password(source: str) -> str:
    """Return the source as it may be printed and stored."""
    if sql_query.is_query(source):
        return sql_query.without_password(source)
    if "://" in source:
        return rest.without_password(source)
    return source


def _read_file(path: Path, format: str, notice: RepairNotice) -> Rows:
    detected = files.detect_format(path)
    chosen = detected if format == "auto" else format
    if "parquet" in (chosen, detected) and chosen != detected:
        raise UnreadableFeed(
            f"{path} is not in the format {chosen}: its content looks like {detected}"
        )
    if chosen == "parquet":
        return parquet.read(path)
    if chosen == "google-xml":
        return google_merchant.read(path, notice)
    if chosen == "jsonl":
        return jsonlines.read(path)
    return delimited.read(path, "\t" if format == "tsv" else None)


def _existing_file(source: str) -> Path:
    path = Path(source)
    if path.is_dir():
        raise UnreadableFeed(f"{source} is a folder: name the feed's file in it")
    if not path.exists():
        raise UnreadableFeed(f"{source} is not there: check the path")
    if path.stat().st_size == 0:
        raise UnreadableFeed(f"{source} is empty")
    return path


def _suffix(url: str) -> str:
    return PurePosixPath(urlsplit(url).path).suffix.lower()


@contextmanager
def _downloaded(url: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder, rest.make_session() as session:
        path = Path(folder) / (PurePosixPath(urlsplit(url).path).name or "feed")
        rest.download(session, url, path)
        yield path
