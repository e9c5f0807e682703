"""Rows of a feed parsed to lines of its temporary file, in this process or in one beside it.

A long feed is parsed by a second process: this one reads the rows, writes the lines, and parses the
batches for which the second one has no time. How a row is parsed does not depend on the rows before
it, but for the formats of prices: their votes are added up, and prices that these may change are
read again in the end. So the result is the same as that of one process alone.
"""

import json
import pickle
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Generic, NamedTuple, TypeVar

from catalog.errors import FeedError, WorkerError
from catalog.feeds.columns import Columns
from catalog.feeds.offers import OfferParser, ParsedOffer
from catalog.feeds.price_formats import PriceFormats
from catalog.feeds.rows import Texts
from catalog.models import OfferFields
from catalog.runtime.limits.process_limits import ProcessLimits
from catalog.runtime.worker_pool import WorkerPool, worker_pool

# Columns of a known offer that the feed decides, in the order of the temporary file.
OFFER_COLUMNS = (*OfferFields.model_fields, "ref", "link", "opaque", "product")
# Batches that the second process holds; with fewer, it has none left where this one parses one.
BATCHES_IN_PROCESS = 4
# Seconds after which a thread that waits for Python's lock gets it (`sys.setswitchinterval`): the
# second process waits while the thread that serves it does. Python's default is ten times as long.
SWITCH_INTERVAL = 0.0005
# Limits of the second process; the time is that of one batch. Bounds against hostile input.
ROW_LIMITS = ProcessLimits(memory=1_000, processor_time=60)

_ENCODER = json.JSONEncoder(check_circular=False)
# The parser of this process, where it is the second one.
_parser: OfferParser | None = None

Batch = TypeVar("Batch")


class SpooledOffer(NamedTuple):
    """An offer as a line of the temporary file, and the figures that are counted."""

    ref: str
    is_opaque: bool
    had_tracking: bool
    notes: list[str]
    line: str


# An offer, or the reason why a row holds none.
ParsedRow = SpooledOffer | str


def parse_row(parser: OfferParser, texts: Texts) -> ParsedRow:
    """Parse a row; its prices show the formats of their columns first."""
    parser.learn_formats(texts)
    return parse_known_row(parser, texts)


def parse_known_row(parser: OfferParser, texts: Texts) -> ParsedRow:
    """Parse a row whose prices have shown their formats before."""
    offer = parser.parse(texts)
    return offer if isinstance(offer, str) else _spooled(offer)


def _spooled(offer: ParsedOffer) -> SpooledOffer:
    columns = offer.columns
    price = columns["price"]
    if price is not None:
        columns["price"] = str(price)
    texts = offer.price_texts
    record = [
        list(map(columns.__getitem__, OFFER_COLUMNS)),
        None if texts is None else [texts.regular, texts.sale, texts.currency],
    ]
    return SpooledOffer(
        columns["ref"],
        columns["opaque"],
        offer.had_tracking,
        offer.notes,
        _ENCODER.encode(record) + "\n",
    )


def can_be_sent(parser: OfferParser) -> bool:
    """Return True if a parser can work in another process: its cleaner may hold compiled lists."""
    try:
        pickle.dumps(parser)
    except (pickle.PicklingError, TypeError, AttributeError):
        return False
    return True


class ParserProcess(Generic[Batch]):
    """A second process that parses batches of rows beside this one."""

    def __init__(self, pool: WorkerPool, parser: OfferParser) -> None:
        self._pool = pool
        self._parser = parser
        self._pending: deque[tuple[Batch, Future[list[ParsedRow]]]] = deque()

    def submit(self, batch: Batch, texts: Sequence[Texts]) -> None:
        """Send the texts of a batch of rows, or parse them here if the second process is busy."""
        busy = sum(not future.done() for _, future in self._pending)
        if busy < BATCHES_IN_PROCESS:
            future = self._pool.submit(_parse_batch, texts)
        else:
            future = Future()
            future.set_result([parse_row(self._parser, row) for row in texts])
        self._pending.append((batch, future))

    def set_columns(self, columns: Columns) -> None:
        """Set the columns of all later batches."""
        self._pool.submit(_set_columns, columns)

    def done(self) -> Iterator[tuple[Batch, list[ParsedRow]]]:
        """Yield the batches that are done, in order."""
        while self._pending and self._pending[0][1].done():
            batch, future = self._pending.popleft()
            yield batch, future.result()

    def remaining(self) -> Iterator[tuple[Batch, list[ParsedRow]]]:
        """Yield all batches that are left, then take over the formats of their prices."""
        while self._pending:
            batch, future = self._pending.popleft()
            yield batch, future.result()
        self._parser.formats.add_votes(self._pool.submit(_formats).result())


@contextmanager
def parser_process(parser: OfferParser) -> Iterator[ParserProcess[Any]]:
    """Start a second process with a copy of a parser. Raises FeedError if the process dies."""
    usual_interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        with worker_pool(1, _use_parser, parser, limits=ROW_LIMITS) as pool:
            yield ParserProcess(pool, parser)
    except WorkerError as error:
        raise FeedError(
            "the process that parses the feed's rows has ended, as for lack of memory: "
            "run the same command again"
        ) from error
    finally:
        sys.setswitchinterval(usual_interval)


def _use_parser(parser: OfferParser) -> None:
    global _parser  # noqa: PLW0603 - one per process
    _parser = parser
    # The votes so far are counted where they were given.
    parser.formats = PriceFormats()


def _process_parser() -> OfferParser:
    if _parser is None:
        raise RuntimeError("no parser in this process")
    return _parser


def _parse_batch(rows: Sequence[Texts]) -> list[ParsedRow]:
    parser = _process_parser()
    return [parse_row(parser, texts) for texts in rows]


def _set_columns(columns: Columns) -> None:
    _process_parser().set_columns(columns)


def _formats() -> PriceFormats:
    return _process_parser().formats
