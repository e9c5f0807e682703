"""WARC reader (ISO 28500): the HTTP responses that archives and crawlers have saved.

A record that cannot be read is left out and counted with its reason; the others are read. warcio,
which writes archives, reads them up to the first slip only, fails at bodies in Brotli, and accepts
lines of any length.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from catalog.errors import UsageError
from crawler.sources.archive_stream import SegmentReader, unpacked_blocks
from crawler.sources.http_message import BrokenMessage, decode_body, parse_message
from crawler.sources.warc_records import MAX_HEADER_SIZE, Record, RecordReader

# First bytes of a WARC file, and of an ARC file, once they are unpacked.
STARTS = (b"WARC/", b"filedesc:")
WARC_ENDINGS = (".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz")
# Records that say how a response came about, and hold no page.
ACCOMPANYING_TYPES = frozenset({"warcinfo", "request", "metadata"})
SHOWN_TYPE_LENGTH = 30  # characters of a record's type in a reason

# Reasons under which records are counted that cannot be read.
NO_ADDRESS = "record without an address of the web"
log = logging.getLogger("scout.warc")


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


def is_warc(file: Path) -> bool:
    """Return True if a file looks like a WARC file, by its name or its first unpacked bytes."""
    if file.name.lower().endswith(WARC_ENDINGS):
        return True
    try:
        with file.open("rb") as opened:
            blocks = (block for block in unpacked_blocks(opened) if isinstance(block, bytes))
            return next(blocks, b"").lstrip().startswith(STARTS)
    except OSError:
        return False


def read_responses(
    file: Path, max_size: int, skipped: Counter[str] | None = None
) -> Iterator[SavedResponse]:
    """Yield the HTTP responses of a WARC file in order, with bodies of up to `max_size` bytes.

    Adds the reasons of records that are left out to `skipped`. Raises UsageError.
    """
    try:
        with file.open("rb") as opened:
            # Codings make no body larger than its head and theirs.
            stream = SegmentReader(unpacked_blocks(opened))
            records = RecordReader(stream, max_size + MAX_HEADER_SIZE)
            yield from _responses(records, max_size)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    if not records.count:
        reason = next(iter(records.skipped), "it holds no records")
        raise UsageError(f"{file} is no WARC file: {reason}")
    if records.skipped:
        log.warning(
            "records of a WARC file were left out",
            extra={
                "file": str(file),
                "records": records.count,
                "skipped": dict(records.skipped),
            },
        )
    if skipped is not None:
        skipped.update(records.skipped)


def _responses(records: RecordReader, max_size: int) -> Iterator[SavedResponse]:
    for record in records:
        kind = record.headers.get("warc-type", "").lower()
        if kind in ACCOMPANYING_TYPES:
            continue
        if kind != "response":
            records.skipped[f"record of type {kind[:SHOWN_TYPE_LENGTH] or 'unknown'}"] += 1
            continue
        try:
            yield _saved_response(record, max_size)
        except BrokenMessage as error:
            records.skipped[str(error)] += 1


def _saved_response(record: Record, max_size: int) -> SavedResponse:
    """Read the response in a record. Raises BrokenMessage."""
    # The grammar of WARC 1.0 puts the URL in angle brackets, that of 1.1 does not.
    url = record.headers.get("warc-target-uri", "").strip("<>").replace(" ", "%20")
    if not url.lower().startswith(("http://", "https://")):
        raise BrokenMessage(NO_ADDRESS)
    date = record.headers.get("warc-date", "")
    if record.block is None:
        return SavedResponse(url, 200, {}, None, date)
    message = parse_message(record.block)
    body = decode_body(message, max_size)
    return SavedResponse(url, message.status, message.headers, body, date)
