"""Bytes of an archive, unpacked: in segments where it is damaged.

An archive is plain, packed as a whole, or packed record by record: with gzip (ISO 28500, annex D),
or with Zstandard ("WARC Zstandard compression", IIPC), whose first frame may hold a dictionary for
all others. Where a member of a packed archive is damaged, the next one is searched for by its first
bytes; the bytes behind the gap are another segment. Nothing is unpacked before it is needed, so
that a hostile file cannot fill the memory.
"""

import re
import zlib
from collections.abc import Callable, Iterator
from enum import Enum
from io import BufferedReader
from typing import Protocol

import zstandard

GZIP_MAGIC = b"\x1f\x8b\x08"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# First bytes of the frame that holds the dictionary of a Zstandard archive.
ZSTD_DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
# Bytes of the length behind these.
DICTIONARY_LENGTH_SIZE = 4
BLOCK_SIZE = 65_536  # bytes unpacked at a time
READ_SIZE = 16_384  # bytes read at a time; small, as what is behind a member is copied
# Bytes of a packed member that are kept, to search for the next one if it is damaged. Bound: behind
# more bytes, the search begins where the damage shows.
MAX_MEMBER_SIZE = 16_777_216
# Members that fail to unpack, one behind the other, before the file is given up. Bound against
# hostile input.
MAX_DAMAGED_MEMBERS = 5_000
# Packed bytes of a member before the first unpacked one; a block of Zstandard has up to 128 KiB.
# Bound against hostile input.
MAX_MEMBER_HEAD = 262_144
# Bytes that are unpacked with Zstandard at a time: 4 bytes may hold a block of 128 KiB.
ZSTD_STEP = 512
# Bytes that a Zstandard archive may refer back to: the bound of its command-line program.
MAX_ZSTD_WINDOW = 134_217_728
# Bytes of a dictionary, unpacked. Bound against hostile input.
MAX_DICTIONARY_SIZE = 16_777_216


class Gap(Enum):
    """Missing bytes; those before a dirty gap may be wrong, as their checksum is missing."""

    CLEAN = "clean"
    DIRTY = "dirty"


Block = bytes | Gap


def unpacked_blocks(file: BufferedReader) -> Iterator[Block]:
    """Yield the bytes of a file, unpacked if need be, and gaps."""
    head = file.peek(len(ZSTD_MAGIC))
    if head.startswith(GZIP_MAGIC):
        yield from _Unpacker(file, GZIP_MAGIC, _GzipMember).blocks()
    elif head.startswith((ZSTD_MAGIC, ZSTD_DICTIONARY_MAGIC)):
        yield from _unpacked_zstd(file)
    else:
        while block := file.read(BLOCK_SIZE):
            yield block


class _DamagedMember(ValueError):
    """A member that cannot be unpacked any further."""


class _Member(Protocol):
    """Unpacks one member."""

    @property
    def at_end(self) -> bool:
        """True once the member is unpacked to its end."""

    def unpack(self, packed: bytes) -> tuple[bytes, bytes]:
        """Unpack a part of some packed bytes; returns the unpacked bytes, and the packed bytes that
        are left.

        Raises _DamagedMember.
        """


class _GzipMember:
    def __init__(self) -> None:
        self._unpacker = zlib.decompressobj(wbits=31)

    @property
    def at_end(self) -> bool:
        return self._unpacker.eof

    def unpack(self, packed: bytes) -> tuple[bytes, bytes]:
        try:
            block = self._unpacker.decompress(packed, BLOCK_SIZE)
        except zlib.error as error:
            raise _DamagedMember from error
        return block, self._unpacker.unconsumed_tail or self._unpacker.unused_data


class _ZstdMember:
    def __init__(self, unpacker: zstandard.ZstdDecompressor) -> None:
        self._unpacker = unpacker.decompressobj()

    @property
    def at_end(self) -> bool:
        return self._unpacker.eof

    def unpack(self, packed: bytes) -> tuple[bytes, bytes]:
        try:
            block = self._unpacker.decompress(packed[:ZSTD_STEP])
        except zstandard.ZstdError as error:
            raise _DamagedMember from error
        return block, self._unpacker.unused_data + packed[ZSTD_STEP:]


def _unpacked_zstd(file: BufferedReader) -> Iterator[Block]:
    dictionary = None
    if file.peek(len(ZSTD_DICTIONARY_MAGIC)).startswith(ZSTD_DICTIONARY_MAGIC):
        file.read(len(ZSTD_DICTIONARY_MAGIC))
        size = int.from_bytes(file.read(DICTIONARY_LENGTH_SIZE), "little")
        dictionary = _read_dictionary(file.read(min(size, MAX_DICTIONARY_SIZE)))
    unpacker = zstandard.ZstdDecompressor(dictionary, max_window_size=MAX_ZSTD_WINDOW)
    yield from _Unpacker(file, ZSTD_MAGIC, lambda: _ZstdMember(unpacker)).blocks()


def _read_dictionary(content: bytes) -> zstandard.ZstdCompressionDict | None:
    """Return the dictionary of an archive, which may be packed itself; None if it is damaged."""
    if content.startswith(ZSTD_MAGIC):
        unpacker = zstandard.ZstdDecompressor(max_window_size=MAX_ZSTD_WINDOW)
        try:
            with unpacker.stream_reader(content) as reader:
                content = reader.read(MAX_DICTIONARY_SIZE)
        except zstandard.ZstdError:
            return None
    return zstandard.ZstdCompressionDict(content) if content else None


class _Unpacker:
    """Unpacks member after member, damaged ones up to the damage."""

    def __init__(
        self, file: BufferedReader, magic: bytes, new_member: Callable[[], _Member]
    ) -> None:
        self._file = file
        self._magic = magic
        self._new_member = new_member
        # Packed bytes of the current member, and behind it. Unpacked up to `_position`.
        self._packed = bytearray()
        self._position = 0
        self._at_end = False

    def blocks(self) -> Iterator[Block]:
        damaged = 0
        while damaged < MAX_DAMAGED_MEMBERS and self._next_member():
            gap = Gap.CLEAN
            try:
                for block in self._member_blocks():
                    gap = Gap.DIRTY
                    yield block
                damaged = 0
            except _DamagedMember:
                damaged += 1
                yield gap
                # The member may end before the damage shows: bytes behind it are read as its own.
                self._drop(1)

    def _next_member(self) -> bool:
        """Go to the next member; returns False at the end of the file."""
        while True:
            start = self._packed.find(self._magic)
            if start >= 0:
                self._drop(start)
                return True
            self._drop(max(0, len(self._packed) - len(self._magic) + 1))
            if not self._read():
                return False

    def _member_blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the member at the present position. Raises _DamagedMember."""
        member = self._new_member()
        self._position = 0
        has_output = False
        tail = b""
        while not member.at_end:
            packed = tail or self._next_packed()
            block, tail = member.unpack(packed)
            if not packed and not block:
                raise _DamagedMember("the file ends in the middle of a member")
            if block:
                has_output = True
                yield block
            elif not has_output and self._position > MAX_MEMBER_HEAD:
                raise _DamagedMember("the head of a member does not end")
            if len(self._packed) > MAX_MEMBER_SIZE:
                self._drop(self._position - len(tail))
        self._drop(self._position - len(tail))

    def _next_packed(self) -> bytes:
        """Return the next packed bytes; b"" at the end of the file."""
        if self._position == len(self._packed):
            self._read()
        packed = bytes(self._packed[self._position : self._position + READ_SIZE])
        self._position += len(packed)
        return packed

    def _drop(self, size: int) -> None:
        del self._packed[:size]
        self._position = max(0, self._position - size)

    def _read(self) -> bool:
        if not self._at_end:
            block = self._file.read(READ_SIZE)
            self._packed += block
            self._at_end = not block
        return not self._at_end


class SegmentReader:
    """Reader of blocks that can look ahead; it stops at each gap until `next_segment` is called."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._blocks = blocks
        self._buffer = bytearray()
        self._is_segment_read = False
        self._at_end = False
        # Whether the bytes before the end of the segment are as they were written.
        self.ends_clean = True
        # Bytes consumed so far.
        self.position = 0

    def peek(self, size: int) -> bytes:
        """Return the next bytes without consuming them; fewer at the end of the segment."""
        self._fill(size)
        return bytes(self._buffer[:size])

    def read(self, size: int) -> bytes:
        """Return and consume the next bytes; fewer at the end of the segment."""
        data = self.peek(size)
        del self._buffer[:size]
        self.position += len(data)
        return data

    def unread(self, data: bytes) -> None:
        """Put bytes back in front of the next ones."""
        self._buffer[:0] = data
        self.position -= len(data)

    def search(self, pattern: re.Pattern[bytes], start: int, size: int) -> re.Match[bytes] | None:
        """Search the next `size` bytes from the offset `start` on, without copying them.

        Of the match only the offsets may be used.
        """
        self._fill(size)
        return pattern.search(self._buffer, start, size)

    def available(self, size: int) -> int:
        """Return the number of bytes up to `size` that follow in this segment."""
        self._fill(size)
        return min(size, len(self._buffer))

    def next_segment(self) -> bool:
        """Go on behind the next gap; returns False at the end of the file."""
        while self.peek(BLOCK_SIZE):
            self.read(BLOCK_SIZE)
        self._is_segment_read = False
        return not self._at_end

    def _fill(self, size: int) -> None:
        while len(self._buffer) < size and not self._is_segment_read:
            block = next(self._blocks, None)
            if isinstance(block, bytes):
                self._buffer += block
                continue
            self._is_segment_read = True
            self._at_end = block is None
            self.ends_clean = block is not Gap.DIRTY
