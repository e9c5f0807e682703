"""Google Merchant XML (RSS 2.0 or Atom with the `g:` namespace), and plain XML lists of products,
as a stream.

Feeds are often no well-formed XML: a bare `&` or `<`, `&nbsp;`, control characters, undeclared
prefixes, a wrong encoding. So no XML parser reads them: `xml_items` cuts out the items, and
`xml_fields` reads each by itself. An item is read in full or refused with its line. Document types
and entities are refused before anything is read, nothing is fetched, and a file that ends in its
middle is refused rather than taken for the full catalog.
"""

import io
import re
from functools import partial
from pathlib import Path
from typing import IO

from catalog.feeds.files import HEAD_SIZE, ISO_2022, detect_encoding, known_encoding, open_feed
from catalog.feeds.formats.xml.fields import read_fields
from catalog.feeds.formats.xml.items import Item, ItemReader
from catalog.feeds.rows import RepairNotice, Row, Rows, UnreadableRow

_DECLARED_ENCODING = re.compile(
    rb"""<\?xml\s[^<>]{0,200}?encoding\s{0,5}=\s{0,5}["']\s{0,5}([\w.:-]{1,40})"""
)
# Control characters: those that XML forbids, and DEL, which no value needs. Vertical tab and form
# feed set words apart.
_CONTROLS = bytes([*range(9), *range(14, 32), 127])
_SPACE_OF_CONTROL = bytes.maketrans(b"\x0b\x0c", b"  ")
# Starts of the names of encodings in which a byte of a character may be a control character.
_WITH_CONTROL_BYTES = ("utf-16", "utf-32", ISO_2022)


class _WithoutControls(io.RawIOBase):
    """A stream of bytes without control characters."""

    def __init__(self, inner: IO[bytes]) -> None:
        self._inner = inner

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while chunk := self._inner.read(len(buffer)):
            tidy = chunk.translate(_SPACE_OF_CONTROL, _CONTROLS)
            # Nothing at all would be taken for the end of the stream.
            if tidy:
                buffer[: len(tidy)] = tidy
                return len(tidy)
        return 0


def read(path: Path, notice: RepairNotice) -> Rows:
    """Yield the rows of an XML feed; `notice` is called with each repair. Raises UnreadableFeed."""
    encoding = detect_encoding(path, _declared_encoding(path))
    with open_feed(path) as file:
        binary: IO[bytes] = file
        if not encoding.startswith(_WITH_CONTROL_BYTES):
            binary = io.BufferedReader(_WithoutControls(file), 1 << 16)
        stream = io.TextIOWrapper(binary, encoding=encoding, errors="replace")
        yield from ItemReader(stream, path, partial(_parse_item, notice), notice)


def _parse_item(notice: RepairNotice, item: Item) -> Row | UnreadableRow:
    texts = read_fields(item.attributes, item.content, notice)
    if isinstance(texts, str):
        return UnreadableRow(item.line, texts, item.raw)
    return Row(item.line, texts, item.raw)


def _declared_encoding(path: Path) -> str | None:
    with open_feed(path) as file:
        match = _DECLARED_ENCODING.search(file.read(HEAD_SIZE))
    return known_encoding(match[1].decode("ascii")) if match else None
