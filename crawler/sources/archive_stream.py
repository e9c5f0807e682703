"""Bytes of an archive, unpacked: in segments where it is damaged.

An archive is plain, gzipped as a whole, or gzipped record by record (ISO 28500, annex D). Where a
member of the latter is damaged, the next one is searched for by the first bytes of gzip; the bytes
behind the gap are another segment. Nothing is unpacked before it is needed, so that a hostile file
cannot fill the memory.
"""

import zlib
from collections.abc import Iterator
from enum import Enum
from io import BufferedReader

GZIP_MAGIC = b"\x1f\x8b\x08"
BLOCK_SIZE = 65_536  # bytes unpacked at a time
READ_SIZE = 16_384  # bytes read at a time; small, as what is behind a member is copied
# Bytes of a packed member that are kept, to search for the next one if it is damaged. Bound: behind
# more bytes, the search begins where the damage shows.
MAX_MEMBER_SIZE = 16_777_216
# Members that fail to unpack, one behind the other, before the file is given up. Bound against
# hostile input.
MAX_DAMAGED_MEMBERS = 5_000
# Packed bytes of a member before the first unpacked one. Bound against hostile input.
MAX_MEMBER_HEAD = 65_536


class Gap(Enum):
    """Bytes that are missing; those before a dirty gap may be wrong, as their checksum is missing."""

    CLEAN = "clean"
    DIRTY = "dirty"


Block = bytes | Gap


def unpacked_blocks(file: BufferedReader) -> Iterator[Block]:
    """Yield the bytes of a file, gunzipped if need be, and gaps."""
    if file.peek(len(GZIP_MAGIC))[: len(GZIP_MAGIC)] == GZIP_MAGIC:
        yield from _Gunzipper(file).blocks()
        return
    while block := file.read(BLOCK_SIZE):
        yield block


class _Gunzipper:
    """Gunzips member after member, damaged ones up to the damage."""

    def __init__(self, file: BufferedReader) -> None:
        self._file = file
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
            except zlib.error:
                damaged += 1
                yield gap
                # The member may end before the damage shows: bytes behind it are read as its own.
                self._drop(1)

    def _next_member(self) -> bool:
        """Go to the next member; returns False at the end of the file."""
        while True:
            start = self._packed.find(GZIP_MAGIC)
            if start >= 0:
                self._drop(start)
                return True
            self._drop(max(0, len(self._packed) - len(GZIP_MAGIC) + 1))
            if not self._read():
                return False

    def _member_blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the member at the present position. Raises zlib.error."""
        unpacker = zlib.decompressobj(wbits=31)
        self._position = 0
        has_output = False
        tail = b""
        while not unpacker.eof:
            if not tail:
                tail = self._next_packed()
            block = unpacker.decompress(tail, BLOCK_SIZE)
            if not tail and not block:
                raise zlib.error("the file ends in the middle of a member")
            tail = unpacker.unconsumed_tail
            if block:
                has_output = True
                yield block
            elif not has_output and self._position > MAX_MEMBER_HEAD:
                raise zlib.error("the head of a member does not end")
            if len(self._packed) > MAX_MEMBER_SIZE:
                self._drop(self._position)
        self._drop(self._position - len(unpacker.unused_data))

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

    def peek(self, size: int) -> bytes:
        """Return the next bytes without consuming them; fewer at the end of the segment."""
        self._fill(size)
        return bytes(self._buffer[:size])

    def read(self, size: int) -> bytes:
        """Return and consume the next bytes; fewer at the end of the segment."""
        data = self.peek(size)
        del self._buffer[:size]
        return data

    def unread(self, data: bytes) -> None:
        """Put bytes back in front of the next ones."""
        self._buffer[:0] = data

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
