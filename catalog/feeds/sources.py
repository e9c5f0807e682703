"""Sources: what the user names - a file, an address, a query - opened with the reader of its format."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from catalog.errors import UnreadableFeed, UsageError
from catalog.feeds import delimited, files, google, jsonlines, parquet, query, rest
from catalog.feeds.rows import Notice, Rows
from catalog.runtime.progress import Progress

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
def opened(source: str, format: str, notice: Notice, progress: Progress) -> Iterator[Rows]:
    """The rows of a source. `notice` is told what was repaired. Raises UsageError, UnreadableFeed."""
    if format not in ("auto", *files.FORMATS):
        raise UsageError(
            f"--format {format}: there is no such format; there are auto, {', '.join(files.FORMATS)}"
        )
    if format == "sql" or (format == "auto" and query.is_query(source)):
        yield query.read(source)
    elif not source.lower().startswith(("http://", "https://")):
        if format == "rest":
            raise UsageError(f"--format rest: {source} is no http(s) address")
        yield _file_rows(_existing(source), format, notice)
    elif format == "rest" or (format == "auto" and _suffix(source) not in _FILE_SUFFIXES):
        yield rest.read(source, progress)
    else:
        with _fetched(source) as path:
            yield _file_rows(path, format, notice)


def shown(source: str) -> str:
    """The source as it may be printed and stored: without passwords."""
    if query.is_query(source):
        return query.shown(source)
    return rest.shown(source) if "://" in source else source


def _file_rows(path: Path, format: str, notice: Notice) -> Rows:
    found = files.format_of(path)
    chosen = found if format == "auto" else format
    if "parquet" in (chosen, found) and chosen != found:
        raise UnreadableFeed(
            f"{path} is not in the format {chosen}: its content looks like {found}"
        )
    if chosen == "parquet":
        return parquet.read(path)
    if chosen == "google-xml":
        return google.read(path, notice)
    if chosen == "jsonl":
        return jsonlines.read(path)
    return delimited.read(path, "\t" if format == "tsv" else None)


def _existing(source: str) -> Path:
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
def _fetched(url: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder, rest.session() as http:
        path = Path(folder) / (PurePosixPath(urlsplit(url).path).name or "feed")
        rest.save(http, url, path)
        yield path
