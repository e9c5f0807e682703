"""WARC files (ISO 28500): answers of web servers, as archives and crawlers keep them; read here, and written.

warcio knows the format. But it unpacks gzip as it goes and reads lines of any length, so a file made for that would
fill the memory: the file is unpacked here, and no record may spend more than `HEAD` bytes on its headers. A file that
ends in the middle of a record, because its crawler was killed, is read up to there.
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

HEAD = 1_000_000
BLOCK = 65_536
MAGIC = (b"WARC/", b"\x1f\x8b")
BROKEN = (
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
class Saved:
    """One answer out of a WARC file; `body` is None where it is larger than what was asked for."""

    url: str
    status: int
    headers: dict[str, str]
    body: bytes | None
    date: str = ""


class _Budget:
    """A file whose reader may spend so many bytes and no more until it is told otherwise; `cut` where it ends early."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.left: int | None = HEAD
        self.cut = False

    def read(self, size: int = -1) -> bytes:
        try:
            block: bytes = self._file.read1(BLOCK if size < 0 else size)
        except (EOFError, OSError, zlib.error):
            self.cut, block = True, b""
        if self.left is not None:
            self.left -= len(block)
            if self.left < 0:
                raise ArchiveLoadFailed(f"a record's head is longer than {HEAD} bytes")
        return block

    def tell(self) -> int:
        return int(self._file.tell())


def is_warc(file: Path) -> bool:
    """Whether a file looks like a WARC file, by its name or its first bytes."""
    if file.name.lower().endswith((".warc", ".warc.gz", ".arc", ".arc.gz")):
        return True
    try:
        with file.open("rb") as opened:
            return opened.read(5).startswith(MAGIC)
    except OSError:
        return False


def answers(file: Path, most: int) -> Iterator[Saved]:
    """The HTTP answers in a WARC file, in its order; bodies up to `most` bytes. Raises UsageError."""
    try:
        with file.open("rb") as opened, _unpacked(opened) as plain:
            yield from _answers(plain, file, most)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error


def _unpacked(opened: BufferedReader) -> Any:
    return gzip.GzipFile(fileobj=opened) if opened.peek(2)[:2] == b"\x1f\x8b" else opened


def _answers(plain: IO[bytes], file: Path, most: int) -> Iterator[Saved]:
    stream, count = _Budget(plain), 0
    records = iter(ArchiveIterator(stream))
    try:
        while (record := next(records, None)) is not None:
            stream.left, count = None, count + 1
            saved = _saved(record, most)
            while record.raw_stream.read(BLOCK):
                continue
            stream.left, stream.cut = HEAD, stream.cut or getattr(record.raw_stream, "limit", 0) > 0
            if saved and not stream.cut:
                yield saved
    except BROKEN as error:
        if not count:
            raise UsageError(f"{file} is no WARC file: {str(error).strip()[:200]}") from error
        stream.cut = True
    if not count:
        raise UsageError(f"{file} is no WARC file: it holds no records")
    if stream.cut:
        log.warning("a WARC file ends in the middle of a record", file=str(file), records=count)


def _saved(record: Any, most: int) -> Saved | None:
    if record.rec_type != "response" or record.http_headers is None:
        return None
    url = (record.rec_headers.get_header("WARC-Target-URI") or "").strip("<>")
    status = record.http_headers.get_statuscode() or ""
    if not url or not status.isdigit():
        return None
    headers = {name.lower(): value for name, value in record.http_headers.headers}
    return Saved(
        url,
        int(status),
        headers,
        _body(record, most),
        record.rec_headers.get_header("WARC-Date") or "",
    )


def _body(record: Any, most: int) -> bytes | None:
    """The body without the codings of its transfer, read piece by piece and never beyond `most`."""
    stream, pieces, size = record.content_stream(), list[bytes](), 0
    while block := stream.read(BLOCK):
        pieces.append(block)
        size += len(block)
        if size > most:
            return None
    return b"".join(pieces)
