"""HTTP responses as archives keep them: their head, and their body without its codings.

Archives often keep the body as it was read, with headers of codings that are undone already. So a
body that is clearly not coded is taken as it is (RFC 9110, section 8.4; RFC 9112, section 7.1).
"""

import re
import zlib
from dataclasses import dataclass
from io import BytesIO

import brotli  # type: ignore[import-untyped]
import zstandard

# Codings of a body at most. Bound against hostile input.
MAX_CODINGS = 5
# Bytes that a body of zstd may refer back to (RFC 9659).
MAX_ZSTD_WINDOW = 8_388_608

# Reasons why a response cannot be read.
NO_HTTP = "no http response"
ABSURD_STATUS = "absurd status code"
UNKNOWN_CODING = "unknown coding of the body"
BROKEN_BODY = "broken body"

_STATUS_LINE = re.compile(
    rb"[ \t\r\n]*HTTP/[0-9]{1,2}(?:\.[0-9]{1,2})?[ \t]+(?P<code>[^ \t\r\n]*)", re.I
)
_STATUS_CODE = re.compile(rb"[1-5][0-9]{2}")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_CHUNK_SIZE = re.compile(rb"(?P<size>[0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")
_CODING = re.compile(r"(?:x-)?(?P<name>gzip|deflate|br|zstd|compress)")
# Texts in the place of a coding that name none.
_NO_CODINGS = re.compile(
    r"|identity|none|null|binary|8bit|7bit|chunked|utf-?8|iso-8859-\d+|text/html"
)
_MARKUP_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*+<[!?a-zA-Z]")

# Headers whose values are lists.
_LISTS = frozenset({"content-encoding", "transfer-encoding", "content-language", "link"})
_CONTROLS = re.compile("[\x00-\x08\x0a-\x1f\x7f]")


class BrokenMessage(ValueError):
    """A response that cannot be read; its text is one of the reasons above."""


@dataclass(frozen=True)
class HttpMessage:
    """A response: its status, its headers with lower-case names, and its body as it was sent."""

    status: int
    headers: dict[str, str]
    body: bytes


def parse_message(data: bytes) -> HttpMessage:
    """Split a response into head and body. Raises BrokenMessage."""
    status_line = _STATUS_LINE.match(data)
    if status_line is None:
        raise BrokenMessage(NO_HTTP)
    if not _STATUS_CODE.fullmatch(status_line["code"]):
        raise BrokenMessage(ABSURD_STATUS)
    end = _HEAD_END.search(data, status_line.end())
    head = data[status_line.end() : end.start() if end else len(data)]
    body = data[end.end() :] if end else b""
    return HttpMessage(int(status_line["code"]), parse_headers(head.split(b"\n")[1:]), body)


def parse_headers(lines: list[bytes]) -> dict[str, str]:
    """Parse the lines of a head into values by lower-case names; lines without a name are left out.

    Lines that begin with a blank continue the one before. Values of headers that are lists are joined
    with commas (RFC 9110, section 5.3); of any other header the last value counts.
    """
    headers: dict[str, str] = {}
    name = ""
    for line in lines:
        text = decode_header(line)
        if line[:1] in (b" ", b"\t"):
            if name:
                headers[name] = f"{headers[name]} {text.strip()}"
            continue
        key, colon, value = text.partition(":")
        name = key.strip().lower() if colon else ""
        if not name:
            continue
        if name in _LISTS and headers.get(name):
            value = f"{headers[name]}, {value}"
        headers[name] = value.strip()
    return headers


def decode_header(line: bytes) -> str:
    """Decode a line of a head as UTF-8, or else as Latin-1, without control characters."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        text = line.decode("latin-1")
    return _CONTROLS.sub("", text)


def decode_body(message: HttpMessage, max_size: int) -> bytes | None:
    """Return a body without its codings; None if it is larger than `max_size` bytes.

    Raises BrokenMessage.
    """
    body = message.body
    if "chunked" in message.headers.get("transfer-encoding", "").lower():
        body = _join_chunks(body)
    if len(body) > max_size:
        return None
    codings = message.headers.get("content-encoding", "").lower().split(",")
    # The coding that was applied last comes last.
    for coding in reversed(codings[:MAX_CODINGS]):
        decoded = _decode(body, coding.strip(), max_size)
        if len(decoded) > max_size:
            return None
        body = decoded
    return body


def _join_chunks(body: bytes) -> bytes:
    if not _CHUNK_SIZE.match(body):
        return body
    chunks: list[bytes] = []
    position = 0
    while position < len(body):
        header = _CHUNK_SIZE.match(body, position)
        if header is None:
            raise BrokenMessage(BROKEN_BODY)
        size = int(header["size"], 16)
        if size == 0:
            break
        chunk = body[header.end() : header.end() + size]
        if len(chunk) < size:
            raise BrokenMessage(BROKEN_BODY)
        chunks.append(chunk)
        position = header.end() + size
        position += len(b"\r\n") if body[position : position + 2] == b"\r\n" else 0
        position += body[position : position + 1] == b"\n"
    return b"".join(chunks)


def _decode(body: bytes, coding: str, max_size: int) -> bytes:
    """Undo one coding, up to one byte more than `max_size`. Raises BrokenMessage."""
    if not body or _NO_CODINGS.fullmatch(coding):
        return body
    coding_match = _CODING.fullmatch(coding)
    decode = _DECODERS.get(coding_match["name"]) if coding_match else None
    if _MARKUP_START.match(body):
        return body
    if decode is None:
        raise BrokenMessage(UNKNOWN_CODING)
    try:
        return decode(body, max_size + 1)
    except (zlib.error, brotli.error, zstandard.ZstdError, EOFError) as error:
        raise BrokenMessage(BROKEN_BODY) from error


def _gunzip(body: bytes, limit: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while body.startswith(b"\x1f\x8b") and size < limit:
        unpacker = zlib.decompressobj(wbits=31)
        piece = unpacker.decompress(body, limit - size)
        size += len(piece)
        pieces.append(piece)
        if not unpacker.eof and size < limit:
            raise EOFError
        body = unpacker.unused_data
    if not pieces:
        raise EOFError
    return b"".join(pieces)


def _inflate(body: bytes, limit: int) -> bytes:
    """Undo `deflate`, which means zlib; some servers send it without the header of zlib."""
    for wbits in (15, -15):
        unpacker = zlib.decompressobj(wbits)
        try:
            inflated = unpacker.decompress(body, limit)
        except zlib.error:
            continue
        if unpacker.eof or len(inflated) >= limit:
            return inflated
    raise EOFError


def _unbrotli(body: bytes, limit: int) -> bytes:
    unpacker = brotli.Decompressor()
    pieces = [unpacker.process(body, output_buffer_limit=limit)]
    size = len(pieces[0])
    while size < limit and not unpacker.is_finished() and pieces[-1]:
        pieces.append(unpacker.process(b"", output_buffer_limit=limit - size))
        size += len(pieces[-1])
    if size < limit and not unpacker.is_finished():
        raise EOFError
    return b"".join(pieces)[:limit]


def _unzstd(body: bytes, limit: int) -> bytes:
    unpacker = zstandard.ZstdDecompressor(max_window_size=MAX_ZSTD_WINDOW)
    with unpacker.stream_reader(BytesIO(body), read_across_frames=True) as stream:
        data = stream.read(limit)
    if len(data) < limit:
        # The stream does not tell whether the frame is complete; a frame of this size may be read.
        frame = unpacker.decompressobj()
        frame.decompress(body)
        if not frame.eof:
            raise EOFError
    return data


_DECODERS = {"gzip": _gunzip, "deflate": _inflate, "br": _unbrotli, "zstd": _unzstd}
