"""Records of a WARC file (ISO 28500) or its predecessor ARC, split so that one broken record costs
no other one.

warcio stops at the first record that breaks the format. Here the start of the next record is
searched for: behind a head that cannot be read, behind a block whose length is wrong, and behind a
gap of the file.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from catalog.digits import is_ascii_number
from crawler.sources.archive_stream import BLOCK_SIZE, SegmentReader
from crawler.sources.http_message import decode_header, parse_headers

MAX_HEADER_SIZE = 1_000_000  # bytes of a record's head; bound against hostile input
_HEAD_WINDOW = MAX_HEADER_SIZE + 1  # bytes that show that a head is longer
MAX_LENGTH_DIGITS = 18  # digits of a Content-Length
MAX_URL_SIZE = 2_000  # bytes of a URL at the start of a record of an ARC file
MAX_START_SIZE = 2_300  # bytes of the start of a record at most
BLANKS_SIZE = 1_024  # bytes in which blank lines are looked for

# Reasons under which records are counted that cannot be read.
HEAD_TOO_LONG = f"record whose head is longer than {MAX_HEADER_SIZE} bytes"
BROKEN_HEAD = "record with a broken head"
WRONG_LENGTH = "record with a wrong length"
DAMAGED_MEMBER = "damaged gzip member"
CUT_OFF = "record cut off"

# A start of a record for certain: text in a page is hardly taken for one. It may stand in the
# middle of a line: a crawler that was killed and started again writes on behind half a record.
_WARC_LINES = rb"WARC/[0-9]\.[0-9]{1,2}[ \t]*\r?\n[A-Za-z-]{1,100}[ \t]*:"
_START = re.compile(rb"(?P<start>%b)" % _WARC_LINES)
_ARC_LINE = rb"(?:filedesc|https?|dns):\S{1,%d} \S{1,100} [0-9]{4,14} \S{0,100} ?[0-9]{1,18}\r?\n"
_ARC_START = re.compile(_ARC_LINE % MAX_URL_SIZE)
_LATER_ARC_START = re.compile(rb"(?:\A|\n)(?P<start>%b)" % (_ARC_LINE % MAX_URL_SIZE))
_WARC_MARK = b"WARC/"
# The end of a head, or the start of another record before it.
_HEAD_END = re.compile(rb"\r?\n(?:[ \t]*\r?\n|(?P<start>%b))" % _WARC_LINES)
_SEPARATOR = re.compile(rb"\r?\n\r?\n")
_BLANKS = b"\r\n \t"


@dataclass(frozen=True)
class Record:
    """A record's headers with lower-case names, and its block; None if it is too large."""

    headers: dict[str, str]
    block: bytes | None


class RecordReader:
    """Reader of the records of an archive, with blocks of up to `max_size` bytes.

    `skipped` maps reasons to the numbers of records left out; `count` are those read.
    """

    def __init__(self, stream: SegmentReader, max_size: int) -> None:
        self.skipped: Counter[str] = Counter()
        self.count = 0
        self._stream = stream
        self._max_size = max_size
        self._is_arc = False
        # Position in the stream up to which no head ends.
        self._searched_to = 0

    def __iter__(self) -> Iterator[Record]:
        while True:
            yield from self._segment_records()
            if not self._stream.next_segment():
                return
            if self._stream.ends_clean:
                # The gap is a gzip member that gave no bytes: at least one record is lost.
                self.skipped[DAMAGED_MEMBER] += 1

    def _segment_records(self) -> Iterator[Record]:
        while self._skip_blanks():
            headers = self._read_head()
            if headers is None:
                if not self._find_start():
                    return
                continue
            record = self._read_block(headers)
            if record is not None:
                self.count += 1
                yield record

    def _skip_blanks(self) -> bool:
        """Consume the blank lines between records; returns False at the end of the segment."""
        while data := self._stream.peek(BLANKS_SIZE):
            blanks = len(data) - len(data.lstrip(_BLANKS))
            self._stream.read(blanks)
            if blanks < len(data):
                return True
        return False

    def _read_head(self) -> dict[str, str] | None:
        """Read a record's head; None if it cannot be read."""
        data = self._stream.peek(BLOCK_SIZE)
        if arc := _ARC_START.match(data):
            self._is_arc = True
            self._stream.read(arc.end())
            return _arc_headers(arc[0])
        if not data.startswith(_WARC_MARK):
            self.skipped[BROKEN_HEAD] += 1
            return None
        end = self._find_head_end()
        # Another record may begin before the head ends.
        if end is None or end.start("start") >= 0:
            is_long = end is None and self._stream.available(_HEAD_WINDOW) == _HEAD_WINDOW
            self.skipped[HEAD_TOO_LONG if is_long else BROKEN_HEAD] += 1
            self._stream.read(len(_WARC_MARK))
            return None
        head = self._stream.read(end.start())
        self._stream.read(end.end() - end.start())
        return parse_headers(head.split(b"\n")[1:])

    def _find_head_end(self) -> re.Match[bytes] | None:
        """Find the end of the head at the present position; None if it has none.

        Bytes in which the head before was searched in vain are not searched again: a hostile file
        begins thousands of heads and ends none.
        """
        start = max(0, self._searched_to - self._stream.position - MAX_START_SIZE)
        for size in (BLOCK_SIZE, _HEAD_WINDOW):
            if start < size and (end := self._stream.search(_HEAD_END, start, size)):
                return end
        self._searched_to = self._stream.position + self._stream.available(_HEAD_WINDOW)
        return None

    def _read_block(self, headers: dict[str, str]) -> Record | None:
        """Read the block of a record; None if its length is wrong."""
        text = headers.get("content-length", "").strip()
        if not is_ascii_number(text, MAX_LENGTH_DIGITS):
            self.skipped[WRONG_LENGTH] += 1
            self._find_start()
            return None
        length = int(text)
        if length > self._max_size:
            return self._skip_block(headers, length)
        block = self._stream.read(length)
        if len(block) == length:
            return self._checked(Record(headers, block))
        # A length that is too large hides the next record in the block.
        start = self._search_start(block)
        if start is not None:
            self._stream.unread(block[start:])
        self.skipped[CUT_OFF if start is None else WRONG_LENGTH] += 1
        return None

    def _skip_block(self, headers: dict[str, str], length: int) -> Record | None:
        """Consume a large block, or its part before the next record if it is cut short."""
        while length:
            data = self._stream.peek(min(length, BLOCK_SIZE) + MAX_START_SIZE)
            start = self._search_start(data)
            if start is not None and start < length:
                self._stream.read(start)
                self.skipped[WRONG_LENGTH] += 1
                return None
            size = min(length, BLOCK_SIZE, len(data))
            if not size:
                self.skipped[CUT_OFF] += 1
                return None
            self._stream.read(size)
            length -= size
        return self._checked(Record(headers, None))

    def _checked(self, record: Record) -> Record | None:
        """Return a record if it is followed as it must be; None if not.

        Blank lines follow, and the next record or the end of the file.
        """
        following = self._stream.peek(BLANKS_SIZE)
        has_separator = _SEPARATOR.match(following) is not None
        if not self._skip_blanks():
            if self._stream.ends_clean:
                return record
            self.skipped[CUT_OFF] += 1
            return None
        data = self._stream.peek(MAX_START_SIZE)
        if has_separator or data.startswith(_WARC_MARK) or _ARC_START.match(data):
            return record
        self.skipped[WRONG_LENGTH] += 1
        if record.block:
            # The next record may begin in the block, or at its end: even the line break between
            # its first lines may be one of the blanks skipped.
            self._stream.unread(following[: len(following) - len(following.lstrip(_BLANKS))])
            self._stream.unread(record.block)
        self._find_start()
        return None

    def _find_start(self) -> bool:
        """Consume everything up to the next start of a record; returns False if there is none."""
        while data := self._stream.peek(BLOCK_SIZE + MAX_START_SIZE):
            start = self._search_start(data)
            if start is not None:
                self._stream.read(start)
                return True
            # A start may be cut by the end of the data.
            is_last = len(data) < BLOCK_SIZE + MAX_START_SIZE
            self._stream.read(len(data) if is_last else BLOCK_SIZE)
        return False

    def _search_start(self, data: bytes) -> int | None:
        """Return the position of the first start of a record; None if there is none."""
        # The search for plain bytes is fast, and most data hold no start.
        if _WARC_MARK not in data and not self._is_arc:
            return None
        match = (_LATER_ARC_START if self._is_arc else _START).search(data)
        return match.start("start") if match else None


def _arc_headers(line: bytes) -> dict[str, str]:
    """Return the headers of WARC that say the same as the line before a block of an ARC file."""
    url, _, date, kind, length = decode_header(line).rsplit(" ", 4)
    is_file_header = url.startswith("filedesc:")
    return {
        "warc-type": "warcinfo" if is_file_header else "response",
        "warc-target-uri": url,
        # Of digits only; ISO 8601 has a mark before the time.
        "warc-date": f"{date[:8]}T{date[8:]}" if len(date) > len("YYYYMMDD") else date,
        "content-type": kind,
        "content-length": length,
    }
