"""Feed files: opened plain or gzipped, with a limited size; format and encoding detected from their
content.

charset-normalizer alone does not suffice for the encoding: one broken byte makes it take a UTF-8
feed for something else, and on prices and product names it confuses the one-byte encodings. So
UTF-8 is tried on each run of bytes beyond ASCII. Only where most of these fail, an encoding that
the file declares is taken if it fits; without one, charset-normalizer
decides whether the letters are Latin; among the Latin encodings the one wins that puts most letters
inside words. Where no byte is one of Windows' own signs, the sign for any currency beside digits is
ISO-8859-15's euro.
"""

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from charset_normalizer import from_bytes
from w3lib.encoding import resolve_encoding

from catalog.errors import UnreadableFeed

# Bytes of a feed, unpacked. Bound against hostile input: a gzip bomb.
MAX_BYTES = 8 * 1024**3
# Characters of a line, or its bytes where it is read undecoded. Bound against hostile input.
MAX_LINE_LENGTH = 1_000_000
# Bytes that are read at once, that show the format, and that show the encoding.
BUFFER_SIZE = 1 << 18
HEAD_SIZE = 4_096
SAMPLE_SIZE = 1 << 17
# Lines beyond ASCII that are tried as UTF-8.
MAX_TRIED_LINES = 20_000
# UTF-8 is the encoding where this many runs of bytes beyond ASCII are valid for each that is not.
VALID_PER_INVALID = 9

FORMATS = ("csv", "tsv", "jsonl", "parquet", "google-xml", "rest", "sql")
_FORMAT_OF_SUFFIX = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
}
_GZIP_MAGIC = b"\x1f\x8b"
_PARQUET_MAGIC = b"PAR1"
# ZIP (and the office formats in it), PDF, older office formats.
_OTHER_MAGIC = (b"PK\x03\x04", b"%PDF", b"\xd0\xcf\x11\xe0")
_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# Bytes of the longest byte order mark.
_START_SIZE = 4
# Share of the bytes at the start of a file that are zero in UTF-16, and the zeros in the high bytes
# for each in the low ones; UTF-8 with stray zeros has them anywhere.
MIN_ZEROS = 0.02
ZEROS_PER_STRAY = 20
# Start of the names of encodings that write all letters in bytes of ASCII, behind sequences that
# begin with the control character ESC (RFC 1468, RFC 1554 and RFC 1557).
ISO_2022 = "iso2022"
_LATIN_ENCODINGS = ("cp1252", "cp1250", "cp1254")
_OTHER_ENCODINGS = ["cp1251", "cp1253", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"]
_XML_DECLARATION = re.compile(r"^\s*<\?xml\s[^<>]*\?>", re.MULTILINE)
_LATIN_9_EURO = re.compile(rb"\d[ \xa0]?\xa4|\xa4[ \xa0]?\d")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
_BEYOND_ASCII_TEXT = re.compile(r"[^\x00-\x7f]+")
_REPLACEMENT_CHARACTER = "\ufffd"
# Encodings of Python that no text is written in, or only to hide something.
_UNFIT_ENCODINGS = frozenset(
    ("idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape", "utf_7")
)
_WINDOWS_SIGN = re.compile(rb"[\x80-\x9f]")


class PeekableStream(Protocol):
    """A stream of bytes that shows its start before it is read."""

    def peek(self, size: int = ..., /) -> bytes:
        """Return the next bytes without taking them."""

    def readline(self, size: int = ..., /) -> bytes:
        """Take the next line, or as much of it as is asked for."""


class _BoundedStream(io.RawIOBase):
    """A stream that refuses to yield more than `MAX_BYTES`."""

    def __init__(self, inner: IO[bytes] | gzip.GzipFile, path: Path) -> None:
        self._inner = inner
        self._path = path
        self._remaining = MAX_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        try:
            chunk = self._inner.read(len(buffer))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise UnreadableFeed(
                f"{self._path} is damaged or cut short ({error}): fetch it again"
            ) from error
        self._remaining -= len(chunk)
        if self._remaining < 0:
            raise UnreadableFeed(
                f"{self._path} unpacks to more than {MAX_BYTES / 1024**3:g} GB: split it"
            )
        buffer[: len(chunk)] = chunk
        return len(chunk)


@contextmanager
def open_feed(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file, unpacked where it is gzipped. Raises UnreadableFeed."""
    try:
        with path.open("rb") as file:
            is_gzipped = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
            file.seek(0)
            inner = gzip.GzipFile(fileobj=file) if is_gzipped else file
            yield io.BufferedReader(_BoundedStream(inner, path), BUFFER_SIZE)
    except OSError as error:
        raise UnreadableFeed(f"{path} cannot be read: {error.strerror or error}") from error


def detect_format(path: Path) -> str:
    """Detect a file's format by its first bytes; between kinds of text its name decides."""
    with open_feed(path) as file:
        head = file.read(HEAD_SIZE)
    if head.startswith(_PARQUET_MAGIC):
        return "parquet"
    encoding = _encoding_by_start(head) or "utf-8"
    text = head.decode(encoding, "replace").lstrip("\ufeff \t\r\n")
    if text[:60].lower().startswith(("<!doctype html", "<html")):
        raise UnreadableFeed(f"{path} is a web page, not a feed: save the feed itself")
    if head.startswith(_OTHER_MAGIC):
        raise UnreadableFeed(
            f"{path} is an archive or an office file: unpack it, or save it as CSV"
        )
    # A script's warnings may stand before the declaration.
    if text.startswith("<") or _XML_DECLARATION.search(text):
        return "google-xml"
    if text.startswith(("{", "[")):
        return "jsonl"
    name = path.name.lower().removesuffix(".gz")
    return _FORMAT_OF_SUFFIX.get(Path(name).suffix, "csv")


def detect_encoding(path: Path, declared: str | None = None) -> str:
    """Detect a text file's encoding: its byte order mark, UTF-8 where most of it is valid, the
    declared one where it fits, else the likeliest.
    """
    with open_feed(path) as file:
        return detect_stream_encoding(file, declared)


def detect_stream_encoding(stream: PeekableStream, declared: str | None = None) -> str:
    """Detect the encoding of a text from its start on, as `detect_encoding` does."""
    encoding = _encoding_by_start(stream.peek(HEAD_SIZE)[:HEAD_SIZE])
    if encoding is not None:
        return encoding
    trial = _try_utf8(stream)
    if trial.valid >= VALID_PER_INVALID * trial.invalid:
        if declared and declared.startswith(ISO_2022) and not trial.valid:
            return declared
        return "utf-8"
    if declared and _fits(trial.sample, declared):
        return declared
    candidates = [*_LATIN_ENCODINGS, *_OTHER_ENCODINGS]
    best = from_bytes(trial.sample, cp_isolation=candidates).best()
    if best is not None and best.encoding in _OTHER_ENCODINGS:
        return best.encoding
    return _likeliest_latin(trial.sample)


def _encoding_by_start(head: bytes) -> str | None:
    """Return the encoding that the start of a file shows: UTF-8, UTF-16 or UTF-32 by a byte order
    mark, or UTF-16 or UTF-32 by its zeros; else None.
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return name
    if b"\x00" not in head:
        return None
    return _utf32_by_zeros(head) or _utf16_by_zeros(head)


def _utf32_by_zeros(head: bytes) -> str | None:
    """Return UTF-32 in the order of bytes in which each character's highest byte is zero, and most
    characters' next one.

    >>> [_utf32_by_zeros("id,名".encode(name)) for name in ("utf-32-le", "utf-32-be", "utf-16-le")]
    ['utf-32-le', 'utf-32-be', None]
    """
    size = len(head) // 4
    zeros = [head[place : size * 4 : 4].count(0) for place in range(4)]
    for name, highest, next_highest in (("utf-32-le", 3, 2), ("utf-32-be", 0, 1)):
        if size and zeros[highest] == size and zeros[next_highest] * 2 > size:
            return name
    return None


def _utf16_by_zeros(head: bytes) -> str | None:
    """Return UTF-16 in the order of bytes in which the high bytes of ASCII characters are zero.

    Letters of other scripts have none: then separators and line feeds show the order.
    """
    if b"\x00" in head[:_START_SIZE]:
        return "utf-16-be" if head.startswith(b"\x00") else "utf-16-le"
    of_even, of_odd = head[::2].count(0), head[1::2].count(0)
    if of_even + of_odd < len(head) * MIN_ZEROS:
        return None
    if of_odd >= ZEROS_PER_STRAY * of_even:
        return "utf-16-le"
    return "utf-16-be" if of_even >= ZEROS_PER_STRAY * of_odd else None


def known_encoding(label: str) -> str | None:
    """Return Python's name of the encoding of a label; None where it is no encoding of texts.

    Labels are read as browsers do: ISO-8859-1 is Windows-1252. Those of more than one byte a sign
    (UTF-16) are unknown too: the label itself could not be read in them.

    >>> [known_encoding(label) for label in ("ISO-8859-1", "x-unknown", "cp1251", "hex", "utf-16")]
    ['cp1252', None, 'cp1251', None, None]
    """
    name = resolve_encoding(label.strip())
    if name is None or name.replace("-", "_") in _UNFIT_ENCODINGS:
        return None
    try:
        return name if "a".encode(name) == b"a" else None
    except (LookupError, UnicodeError):
        return None


@dataclass(frozen=True)
class _Utf8Trial:
    """A sample of the lines beyond ASCII, and how many runs of bytes in these are valid UTF-8 or
    not.
    """

    sample: bytes
    valid: int
    invalid: int


def _try_utf8(stream: PeekableStream) -> _Utf8Trial:
    sample = bytearray()
    valid = 0
    invalid = 0
    tried = 0
    while line := stream.readline(MAX_LINE_LENGTH):
        if line.isascii():
            continue
        for run in _BEYOND_ASCII.findall(line):
            if _is_utf8(run):
                valid += 1
            else:
                invalid += 1
        if len(sample) < SAMPLE_SIZE:
            sample += line[:SAMPLE_SIZE]
        tried += 1
        if tried >= MAX_TRIED_LINES:
            break
    return _Utf8Trial(bytes(sample), valid, invalid)


def _is_utf8(run: bytes) -> bool:
    try:
        run.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _fits(sample: bytes, encoding: str) -> bool:
    """Return True if nearly all of a sample can be decoded."""
    text = sample.decode(encoding, "replace")
    letters = len(_BEYOND_ASCII_TEXT.sub("", text))
    beyond = len(text) - letters
    return text.count(_REPLACEMENT_CHARACTER) * VALID_PER_INVALID <= beyond


def _likeliest_latin(sample: bytes) -> str:
    counts = {name: _inner_letters(sample.decode(name, "replace")) for name in _LATIN_ENCODINGS}
    likeliest = max(counts, key=counts.__getitem__)
    if likeliest != "cp1252" or _WINDOWS_SIGN.search(sample):
        return likeliest
    return "iso-8859-15" if _LATIN_9_EURO.search(sample) else likeliest


def _inner_letters(text: str) -> int:
    """Count letters beyond ASCII between letters: `żółta` has two, the same bytes as `¿ó³ta`
    one.
    """
    count = 0
    for left, letter, right in zip(text, text[1:], text[2:], strict=False):
        if letter > "\x7f" and left.isalpha() and letter.isalpha() and right.isalpha():
            count += 1
    return count
