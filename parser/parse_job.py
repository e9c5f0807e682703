"""Parse all fetched pages of a shop by its newest rules, in worker processes.

The offer of a page, its kind and the version of the rules that read it are written together, so a
killed parse continues with the unread pages. A page that is made to be slow is given up after a
limit of processor time and recorded with the reason. A page on which worker processes die is set
aside with the reason after three of them. Both cost their own time only.

A page is not read again while its reading would be the same: its `read_key` is a digest of the
page, of the rules without their version, and of the code.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Table, insert
from sqlmodel import Session, SQLModel, col, delete, select, update

from catalog.errors import BodiesUnreachable, LearnError
from catalog.models import (
    Attribute,
    OfferFields,
    Page,
    PageKind,
    PageState,
    Shop,
    ShopOffer,
    StoredRules,
)
from catalog.runtime.batches import batches
from catalog.runtime.code_version import code_version
from catalog.runtime.limits.process_end import set_aside_reason
from catalog.runtime.limits.process_limits import ProcessLimits
from catalog.runtime.limits.processor_time import ProcessorTimeLimit
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.runtime.spark.session import SparkJobs
from catalog.runtime.supervised_workers import map_chunks
from catalog.runtime.telemetry.tracing import span
from catalog.storage.bodies import share_credentials
from catalog.storage.bulk.page_batches import update_pages
from catalog.storage.fingerprints import Digest
from catalog.storage.store import Store
from parser.compiled_rules import CompiledRules
from parser.crawled_pages import CrawledPage, PageOpener, list_crawled_pages
from parser.page_reader import PageReading, drop_uncertain
from parser.rules.model import RuleSet
from parser.variants import Variant
from parser.voting.winner import Reading

log = logging.getLogger("parser.parse_job")

# Pages that one task reads and one transaction writes.
CHUNK_SIZE = 40
# Seconds of processor time for one page: a bound against pages made to be slow.
TIME_LIMIT = 20
# Limits that the operating system keeps: an extension module may not return to Python, which alone
# can raise an error. The memory is a bound against hostile input.
WORKER_LIMITS = ProcessLimits(memory=1_000, processor_time=60)
# Packages whose code a reading depends on.
READING_PACKAGES = ("catalog", "parser", "url_cleaner")
# Fields of a rule set that no reading depends on.
UNREAD_FIELDS = frozenset({"version", "learnt_at", "learnt_from"})
# Pages of one UPDATE: below SQLite's limit of variables.
BATCH_SIZE = 500
# Pages up to which one worker reads all: worker processes take time to start.
MAX_PAGES_ALONE = 80
# Characters of the text and of the selector that are stored with a reading.
MAX_RAW_CHARS = 200
# Characters of a stored reason.
MAX_REASON_CHARS = 500
_SHOP_OFFERS: Table = SQLModel.metadata.tables[str(ShopOffer.__tablename__)]


@dataclass(frozen=True)
class ParseSummary:
    """The counts of a parse: pages read, offers, other pages, pages that failed."""

    pages: int = 0
    offers: int = 0
    others: int = 0
    failed: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class StoredOutcome:
    """The outcome of one page as it is stored; `failed` where it could not be read at all.

    `offers` are those of its variants, `variant_of` the URL of a page with several.
    """

    page_id: int
    failed: bool
    kind: str
    reason: str
    offers: Sequence[OfferFields]
    readings: Sequence[dict[str, dict[str, Any]]]
    variant_of: str | None


@dataclass(frozen=True)
class ParseTask:
    """The input of a worker process: page store, rules as JSON, confidence thresholds."""

    bodies_url: str
    rules: str
    thresholds: tuple[tuple[Attribute, float], ...]


def stored_rules(store: Store, shop: Shop) -> RuleSet:
    """Load the newest rules of a shop. Raises LearnError where there are none yet."""
    with store.read() as session:
        newest = newest_rules_row(session, shop)
    if newest is None:
        raise LearnError(
            f"shop {shop.name!r} has no rules yet: run 'scout learn {shop.name}' first"
        )
    return RuleSet.from_json(newest.rules).model_copy(update={"version": newest.version})


def newest_rules_row(session: Session, shop: Shop) -> StoredRules | None:
    """Return the newest rules of a shop as stored; None where there are none yet."""
    versions = select(StoredRules).where(StoredRules.shop_id == shop.id)
    return session.exec(versions.order_by(col(StoredRules.version).desc()).limit(1)).first()


def parse_shop(
    settings: Settings,
    store: Store,
    shop: Shop,
    run_id: int,
    *,
    workers: int | None = None,
    anew: bool = False,
    jobs: SparkJobs | None = None,
    progress: Progress = no_progress,
) -> ParseSummary:
    """Parse the pages whose reading may differ from that of the newest rules.

    With `anew`, all pages that this version of the rules has not read. With `jobs`, they are read on
    Spark. Raises LearnError where the shop has no rules.
    """
    begin, rules = time.monotonic(), stored_rules(store, shop)
    share_credentials(settings.bodies)
    _delete_lost_offers(store, shop)
    keys = _ReadKeys(rules, settings.confidence)
    pages: list[CrawledPage] = []
    current_pages: list[CrawledPage] = []
    for page in list_crawled_pages(store, shop):
        if page.rules_version == rules.version and page.read_key is None:
            # It could not be read, by this version of the rules.
            continue
        if page.rules_version is None or page.read_key != keys.of(page):
            pages.append(page)
        elif page.rules_version != rules.version:
            (pages if anew else current_pages).append(page)
    _date_readings(store, rules.version, [page.page_id for page in current_pages])
    task = ParseTask(settings.bodies, rules.model_dump_json(), tuple(settings.confidence.items()))
    summary, done = ParseSummary(pages=len(pages)), 0
    keys_by_page = {page.page_id: keys.of(page) for page in pages}
    if jobs:
        # Imported late: most runs read their pages on one machine.
        from parser.distributed_pages import read_distributed

        batches_read = read_distributed(jobs, task, pages)
    else:
        worker_count = settings.workers if workers is None else workers
        batches_read = read_in_workers(task, pages, worker_count)
    while done < len(pages):
        with span("page batch", run=run_id, done=done):
            outcomes = next(batches_read)
            _save(store, shop, rules.version, outcomes, keys_by_page)
        summary = _add_counts(summary, outcomes)
        done += len(outcomes)
        log.debug("pages read", extra={"done": done, "total": len(pages)})
        progress("pages read", done, len(pages))
    return replace(summary, seconds=round(time.monotonic() - begin, 2))


class _ReadKeys:
    """The read keys of pages for one rule set."""

    def __init__(self, rules: RuleSet, thresholds: Mapping[Attribute, float]) -> None:
        self._common = Digest(
            code_version(*READING_PACKAGES),
            rules.model_dump(mode="json", exclude=set(UNREAD_FIELDS)),
            sorted(thresholds.items()),
        ).hexdigest()

    def of(self, page: CrawledPage) -> str:
        """Return the digest of everything that the reading of a page depends on."""
        return Digest(self._common, page.address, page.body, page.content_type).hexdigest()


def _date_readings(store: Store, version: int, page_ids: Sequence[int]) -> None:
    """Note that a version of the rules would read these pages as the version before did."""
    for batch in batches(page_ids, BATCH_SIZE):
        with store.write() as session:
            readings = update(Page).where(col(Page.id).in_(batch))
            session.exec(readings.values(rules_version=version))


def _add_counts(summary: ParseSummary, outcomes: Sequence[StoredOutcome]) -> ParseSummary:
    offers, non_offers, failed = summary.offers, summary.others, summary.failed
    for outcome in outcomes:
        if outcome.failed:
            failed += 1
        elif not outcome.offers:
            non_offers += 1
        else:
            offers += len(outcome.offers)
    return replace(summary, offers=offers, others=non_offers, failed=failed)


def _delete_lost_offers(store: Store, shop: Shop) -> None:
    """Delete the offers of pages that left the shop; they are read when they are back."""
    with store.write() as session:
        is_lost = (col(Page.shop_id) == shop.id) & (col(Page.state) != PageState.FETCHED)
        lost = select(Page.id).where(is_lost)
        session.exec(delete(ShopOffer).where(col(ShopOffer.page_id).in_(lost)))
        unread = update(Page).where(is_lost, col(Page.rules_version).is_not(None))
        session.exec(unread.values(rules_version=None))


def read_in_workers(
    task: ParseTask, pages: Sequence[CrawledPage], workers: int
) -> Iterator[list[StoredOutcome]]:
    """Read pages in worker processes, of which a page may cost one, but never this process.

    Yields the outcomes of at most CHUNK_SIZE pages at a time, in the order of the pages.
    """
    chunks = batches(pages, CHUNK_SIZE)
    worker_count = max(1, workers) if len(pages) > MAX_PAGES_ALONE else 1
    return map_chunks(_prepare_worker, (task,), chunks, worker_count, _set_aside, WORKER_LIMITS)


def _prepare_worker(task: ParseTask) -> Callable[[CrawledPage], StoredOutcome]:
    """Return the function that reads a page by compiled rules; its faults are its outcome."""
    rules = RuleSet.model_validate_json(task.rules)
    compiled, opener, thresholds = (
        CompiledRules(rules),
        PageOpener(task.bodies_url),
        dict(task.thresholds),
    )

    def read(page: CrawledPage) -> StoredOutcome:
        try:
            with ProcessorTimeLimit(TIME_LIMIT):
                reading = compiled.read(opener.open(page, trusted=True))
                certain = drop_uncertain(reading, thresholds, rules.currency)
                # Made here: the votes of a page are many times what is stored of them.
                return _stored_outcome(page, certain)
        except (MemoryError, BodiesUnreachable):
            # The worker ends, and the page is tried again in a fresh one; or the stage ends, since
            # the page is not at fault.
            raise
        except Exception as error:  # noqa: BLE001 - a page or a rule may bring about anything
            reason = f"unreadable: {str(error) or type(error).__name__}"
            log.info("page is unreadable", extra={"reason": reason, "page": page.page_id})
            return _stored_outcome(page, PageReading(PageKind.OTHER, reason), failed=True)

    return read


def _set_aside(page: CrawledPage, reason: str) -> StoredOutcome:
    """Return the outcome of a page on which worker processes died."""
    log.info("page is set aside", extra={"reason": reason, "page": page.page_id})
    reading = PageReading(PageKind.OTHER, set_aside_reason(reason))
    return _stored_outcome(page, reading, failed=True)


def _save(
    store: Store,
    shop: Shop,
    version: int,
    outcomes: Sequence[StoredOutcome],
    keys_by_page: Mapping[int, str],
) -> None:
    """Write offers, kinds, the version and the read keys in one transaction.

    Replace earlier readings of the same pages.
    """
    changes: dict[int, dict[str, Any]] = {}
    offer_rows: list[dict[str, Any]] = []
    for outcome in outcomes:
        changes[outcome.page_id] = {
            "kind": PageKind(outcome.kind),
            "rules_version": version,
            # A page that could not be read is tried again by the next run.
            "read_key": None if outcome.failed else keys_by_page[outcome.page_id],
            "read_reason": outcome.reason,
        }
        offer_rows += _offer_rows(shop, outcome)
    with store.write() as session:
        session.exec(delete(ShopOffer).where(col(ShopOffer.page_id).in_(changes)))
        update_pages(session.connection(), changes)
        if offer_rows:
            session.connection().execute(insert(_SHOP_OFFERS), offer_rows)


def _offer_rows(shop: Shop, outcome: StoredOutcome) -> Iterator[dict[str, Any]]:
    """Yield the rows of a page's offers."""
    for number, (offer, readings) in enumerate(zip(outcome.offers, outcome.readings, strict=True)):
        yield offer.model_dump() | {
            "shop_id": shop.id,
            "page_id": outcome.page_id,
            "variant": number,
            "variant_of": outcome.variant_of,
            "readings": readings,
        }


def _stored_outcome(
    page: CrawledPage, reading: PageReading, *, failed: bool = False
) -> StoredOutcome:
    """Return what is stored of a page: its offers, and their readings as JSON."""
    variants: Sequence[Variant] = ()
    if reading.offer is not None:
        variants = reading.variants or (Variant(reading.offer, reading.readings),)
    return StoredOutcome(
        page.page_id,
        failed,
        str(reading.kind),
        reading.reason[:MAX_REASON_CHARS],
        [variant.offer for variant in variants],
        [_stored_readings(variant.readings) for variant in variants],
        reading.offer.url if reading.offer is not None and len(variants) > 1 else None,
    )


def _stored_readings(readings: Mapping[Attribute, Reading]) -> dict[str, dict[str, Any]]:
    """Return the JSON form of readings: `weight` is the confidence, as first named.

    `raw` is the text that the best rule with the winning value selected, `rule` its selector.
    """
    stored: dict[str, dict[str, Any]] = {}
    for attribute, reading in readings.items():
        if reading.value is None:
            continue
        entry: dict[str, Any] = {
            "weight": round(reading.confidence, 4),
            "votes": reading.vote_count,
        }
        for vote in reading.votes:
            if vote.value == reading.value:
                entry["raw"] = _printable((vote.raw or "")[:MAX_RAW_CHARS])
                entry["rule"] = _printable(str(vote.rule.selector)[:MAX_RAW_CHARS])
                break
        stored[str(attribute)] = entry
    return stored


def _printable(text: str) -> str:
    """Return a text without the characters that a database may refuse, on one line."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
