"""Journal of a crawl: everything from which its link filter has learnt, in order.

Which pages a crawl fetches depends on what it has learnt before: canonical rules, traps, pages that
look alike. The page table does not hold that. So each step is an event, stored in the transaction
of its pages; a crawl that resumes learns from the events again (`crawler.fetch.crawl_memory`).

A shop's menus repeat on each page. So events are compressed with the text of the crawl's first page
as a dictionary, which makes them about a tenth of their size.
"""

import json
import logging
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from catalog.storage.crawl_events import NumberedEvent

COMPRESSION_LEVEL = 1  # the fastest of zlib: events are written often, and read after a kill only
WINDOW_SIZE = 32_768  # bytes of a dictionary that zlib uses (RFC 1951)

log = logging.getLogger(__name__)

Event = list[Any]
"""An event: its kind, and the arguments of that kind as JSON values."""


class CrawlJournal:
    """Numbers and encodes the events of a crawl; gives None for each if they are not kept.

    They are not where several crawlers share a shop: their pages come in no fixed order.
    """

    def __init__(self, *, is_kept: bool) -> None:
        self.is_kept = is_kept
        self._next_number = 0
        self._dictionary = b""

    def make_event(self, kind: str, *arguments: Any) -> NumberedEvent | None:
        """Number and encode an event."""
        if not self.is_kept:
            return None
        text = json.dumps([kind, *arguments], separators=(",", ":")).encode()
        compressor = zlib.compressobj(COMPRESSION_LEVEL, zdict=self._dictionary)
        data = compressor.compress(text) + compressor.flush()
        number = self._next_number
        self._next_number += 1
        self._note(kind, text)
        return number, data

    def decode(self, events: Iterable[NumberedEvent]) -> Iterator[Event]:
        """Yield stored events; new ones are numbered after the last of them.

        If the page that is the dictionary could not be stored, it ends with a warning.
        """
        is_readable = True
        for number, data in events:
            self._next_number = number + 1
            try:
                text = zlib.decompressobj(zdict=self._dictionary).decompress(data)
            except zlib.error:
                is_readable = False
            if not is_readable:
                continue
            event: Event = json.loads(text)
            self._note(event[0], text)
            yield event
        if not is_readable:
            log.warning("the crawl forgets a part of what it has learnt before its interruption")

    def _note(self, kind: str, text: bytes) -> None:
        if kind == "page" and not self._dictionary:
            self._dictionary = text[-WINDOW_SIZE:]
