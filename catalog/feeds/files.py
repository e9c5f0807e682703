"""Files of feeds: opened plain or gzipped, of limited size, and their format and encoding told by their content.

charset-normalizer alone does not suffice for the encoding: one broken byte makes it take a UTF-8 feed for something
else, and on prices and product names it confuses the one-byte encodings. So UTF-8 is tried on each line that is not
ASCII; only where most of these fail is it asked whether the letters are Latin ones at all, and among the encodings of
those the one wins that puts most letters inside words. Where none of its bytes is one of Windows' own signs, what
stands beside digits as the sign for any currency is ISO-8859-15's euro.
"""

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from charset_normalizer import from_bytes

from catalog.errors import UnreadableFeed

MOST_BYTES = 8 * 1024**3
LONGEST_LINE = 1_000_000
FORMATS = ("csv", "tsv", "jsonl", "parquet", "google-xml", "rest", "sql")
_SUFFIXES = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
}
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_LATIN = ("cp1252", "cp1250", "cp1254")
_OTHERS = ["cp1251", "cp1253", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"]
_EURO_OF_LATIN_9 = re.compile(rb"\d[ \xa0]?\xa4|\xa4[ \xa0]?\d")
_OF_WINDOWS = re.compile(rb"[\x80-\x9f]")


class _Bounded(io.RawIOBase):
    """A stream that refuses to give more than `MOST_BYTES`, so that a gzip bomb ends."""

    def __init__(self, inner: IO[bytes] | gzip.GzipFile, path: Path) -> None:
        self._inner, self._path, self._left = inner, path, MOST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        try:
            got = self._inner.read(len(buffer))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise UnreadableFeed(
                f"{self._path} is damaged or cut short ({error}): fetch it again"
            ) from error
        self._left -= len(got)
        if self._left < 0:
            raise UnreadableFeed(
                f"{self._path} unpacks to more than {MOST_BYTES / 1024**3:g} GB: split it"
            )
        buffer[: len(got)] = got
        return len(got)


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader]:
    """The bytes of a file, unpacked where it is gzipped. Raises UnreadableFeed."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            yield io.BufferedReader(
                _Bounded(gzip.GzipFile(fileobj=file) if packed else file, path), 1 << 18
            )
    except OSError as error:
        raise UnreadableFeed(f"{path} cannot be read: {error.strerror or error}") from error


def format_of(path: Path) -> str:
    """The format that a file's first bytes show, its name deciding between kinds of text."""
    with opened(path) as file:
        start = file.read(4096)
    if start.startswith(b"PAR1"):
        return "parquet"
    text = start.decode(
        "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace"
    ).lstrip()
    if text[:60].lower().startswith(("<!doctype html", "<html")):
        raise UnreadableFeed(f"{path} is a web page, not a feed: save the feed itself")
    if start.startswith((b"PK\x03\x04", b"%PDF", b"\xd0\xcf\x11\xe0")):
        raise UnreadableFeed(
            f"{path} is an archive or an office file: unpack it, or save it as CSV"
        )
    if text.startswith("<"):
        return "google-xml"
    if text.startswith(("{", "[")):
        return "jsonl"
    name = path.name.lower().removesuffix(".gz")
    return _SUFFIXES.get(Path(name).suffix, "csv")


def encoding_of(path: Path) -> str:
    """The encoding of a text file: by its mark, else UTF-8 where most lines allow it, else the likeliest."""
    with opened(path) as file:
        start = file.read(4)
        for mark, name in _MARKS:
            if start.startswith(mark):
                return name
        if b"\x00" in start:
            return "utf-16-be" if start.startswith(b"\x00") else "utf-16-le"
    sample, right, wrong = _lines_beyond_ascii(path)
    if right >= 9 * wrong:
        return "utf-8"
    best = from_bytes(sample, cp_isolation=[*_LATIN, *_OTHERS]).best()
    if best is not None and best.encoding in _OTHERS:
        return best.encoding
    latin = max(_LATIN, key=lambda name: _inner_letters(sample.decode(name, "replace")))
    euro = latin == "cp1252" and _EURO_OF_LATIN_9.search(sample) and not _OF_WINDOWS.search(sample)
    return "iso-8859-15" if euro else latin


def _lines_beyond_ascii(path: Path) -> tuple[bytes, int, int]:
    """Some of the lines with other bytes than ASCII's, and how many of them are UTF-8 and how many not."""
    sample, right, wrong = bytearray(), 0, 0
    with opened(path) as file:
        while line := file.readline(LONGEST_LINE):
            if line.isascii():
                continue
            fine = _decodes(line, "utf-8")
            right, wrong = right + fine, wrong + (not fine)
            sample += line if len(sample) < 1 << 17 else b""
            if right + wrong >= 20_000:
                break
    return bytes(sample), right, wrong


def _inner_letters(text: str) -> int:
    """How many letters beyond ASCII stand between letters: `żółta` has two, the same bytes as `¿ó³ta` one."""
    threes = zip(text, text[1:], text[2:], strict=False)
    return sum(
        letter > "\x7f" and left.isalpha() and letter.isalpha() and right.isalpha()
        for left, letter, right in threes
    )


def _decodes(sample: bytes, encoding: str) -> bool:
    try:
        sample.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
