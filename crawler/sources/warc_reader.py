"""WARC reader (ISO 28500): the HTTP responses that archives and crawlers have saved.

warcio parses the format. But it unpacks gzip as it reads and accepts lines of any length, so a
hostile file could fill the memory. The file is therefore unpacked here, and no record may have
headers of more than `MAX_HEADER_SIZE` bytes. A file that ends within a record, because its crawler
was killed, is read up to that record.
"""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

import structlog
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from catalog.errors import UsageError

MAX_HEADER_SIZE = 1_000_000  # bytes of a record; bound against hostile input
BLOCK_SIZE = 65_536  # bytes read at a time
MAX_SHOWN = 200  # characters of warcio's message in an error
GZIP_MAGIC = b"\x1f\x8b"
MAGIC = (b"WARC/", GZIP_MAGIC)
WARC_ENDINGS = (".warc", ".warc.gz", ".arc", ".arc.gz")
# Exceptions of warcio, gzip and http parsing for a file that is damaged or of another kind.
FORMAT_ERRORS = (
    ArchiveLoadFailed,
    EOFError,
    OSError,
    zlib.error,
    ValueError,
    AssertionError,
    UnicodeError,
)
log = structlog.get_logger("scout.warc")


@dataclass(frozen=True)
class SavedResponse:
    """One HTTP response.

    `body` is None if it is larger than the limit; `headers` have lower-case names.
    """

    url: str
    status: int
    headers: dict[str, str]
    body: bytes | None
    date: str = ""


class _LimitedFile:
    """File whose reader may read `remaining` bytes, None for any number.

    `is_cut` if it ends early.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self.remaining: int | None = MAX_HEADER_SIZE
        self.is_cut = False

    def read(self, size: int = -1) -> bytes:
        try:
            block: bytes = self._file.read1(BLOCK_SIZE if size < 0 else size)
        except (EOFError, OSError, zlib.error):
            self.is_cut = True
            block = b""
        if self.remaining is not None:
            self.remaining -= len(block)
            if self.remaining < 0:
                raise ArchiveLoadFailed(f"a record's head is longer than {MAX_HEADER_SIZE} bytes")
        return block

    def tell(self) -> int:
        return int(self._file.tell())


def is_warc(file: Path) -> bool:
    """Return True if a file looks like a WARC file, by its name or its first bytes."""
    if file.name.lower().endswith(WARC_ENDINGS):
        return True
    try:
        with file.open("rb") as opened:
            return opened.read(5).startswith(MAGIC)
    except OSError:
        return False


def read_responses(file: Path, max_size: int) -> Iterator[SavedResponse]:
    """Yield the HTTP responses of a WARC file in order, with bodies of up to `max_size` bytes.

    Raises UsageError.
    """
    try:
        with file.open("rb") as opened, _unpacked(opened) as unpacked:
            yield from _responses(unpacked, file, max_size)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error


def _unpacked(opened: BufferedReader) -> Any:
    if opened.peek(2)[:2] == GZIP_MAGIC:
        return gzip.GzipFile(fileobj=opened)
    return opened


def _responses(unpacked: IO[bytes], file: Path, max_size: int) -> Iterator[SavedResponse]:
    stream = _LimitedFile(unpacked)
    count = 0
    records = iter(ArchiveIterator(stream))
    try:
        while (record := next(records, None)) is not None:
            # Its headers are read; the body has a limit of its own.
            stream.remaining = None
            count += 1
            saved = _saved_response(record, max_size)
            while record.raw_stream.read(BLOCK_SIZE):
                continue
            stream.remaining = MAX_HEADER_SIZE
            if getattr(record.raw_stream, "limit", 0) > 0:
                stream.is_cut = True
            if saved and not stream.is_cut:
                yield saved
    except FORMAT_ERRORS as error:
        if not count:
            message = str(error).strip()[:MAX_SHOWN]
            raise UsageError(f"{file} is no WARC file: {message}") from error
        stream.is_cut = True
    if not count:
        raise UsageError(f"{file} is no WARC file: it holds no records")
    if stream.is_cut:
        log.warning("a WARC file ends in the middle of a record", file=str(file), records=count)


def _saved_response(record: Any, max_size: int) -> SavedResponse | None:
    if record.rec_type != "response" or record.http_headers is None:
        return None
    # The grammar of WARC 1.0 puts the URL in angle brackets, that of 1.1 does not.
    url = (record.rec_headers.get_header("WARC-Target-URI") or "").strip("<>")
    status = record.http_headers.get_statuscode() or ""
    if not url or not status.isdigit():
        return None
    headers = {name.lower(): value for name, value in record.http_headers.headers}
    body = _body(record, max_size)
    date = record.rec_headers.get_header("WARC-Date") or ""
    return SavedResponse(url, int(status), headers, body, date)


def _body(record: Any, max_size: int) -> bytes | None:
    """Read the body without its transfer codings, in blocks.

    Returns None if it is larger than `max_size`.
    """
    stream = record.content_stream()
    blocks: list[bytes] = []
    size = 0
    while block := stream.read(BLOCK_SIZE):
        blocks.append(block)
        size += len(block)
        if size > max_size:
            return None
    return b"".join(blocks)
