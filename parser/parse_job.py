"""Read all fetched pages of a shop by its newest rules, in worker processes.

A page's offer, its kind and the version of the rules that read it are written together, so a killed parse goes on with
the pages not read yet. A page that is made to be slow is given up after a while and recorded with its reason; it costs
its own time only.
"""

import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType

from sqlmodel import Session, col, delete, select, update

from catalog.errors import LearnError
from catalog.models import Attribute, Page, PageKind, PageState, Shop, ShopOffer, StoredRules
from catalog.runtime.processes import worker_pool
from catalog.runtime.progress import Progress, silent
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from parser.compiled_rules import Plan
from parser.crawled_pages import CrawledPage, Opener, crawled_pages
from parser.read import PageReading, without_doubtful
from parser.rules.model import RuleSet
from parser.variants import Variant
from parser.voting.winner import Reading

CHUNK = 40
SLOWEST = 20
FEW_PAGES = 80


@dataclass(frozen=True)
class Parsed:
    """What a parse did: pages read, offers and other pages among them, pages that could not be read."""

    pages: int = 0
    offers: int = 0
    others: int = 0
    failed: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """What became of one page; `failed` where it could not be read at all."""

    page_id: int
    reading: PageReading
    failed: bool = False


def stored_rules(store: Store, shop: Shop) -> RuleSet:
    """The newest rules of a shop. Raises LearnError where there are none yet."""
    with store.read() as session:
        found = newest_in(session, shop)
    if found is None:
        raise LearnError(
            f"shop {shop.name!r} has no rules yet: run 'scout learn {shop.name}' first"
        )
    return RuleSet.from_json(found.rules).model_copy(update={"version": found.version})


def newest_in(session: Session, shop: Shop) -> StoredRules | None:
    """The newest rules of a shop as they are stored; None where there are none yet."""
    versions = select(StoredRules).where(StoredRules.shop_id == shop.id)
    return session.exec(versions.order_by(col(StoredRules.version).desc()).limit(1)).first()


def parse_shop(
    settings: Settings,
    store: Store,
    shop: Shop,
    run_id: int,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Parsed:
    """Read the pages that the newest rules have not read yet. Raises LearnError where the shop has no rules."""
    begin, rules = time.monotonic(), stored_rules(store, shop)
    _forget_lost(store, shop)
    jobs = [page for page in crawled_pages(store, shop) if page.rules_version != rules.version]
    done, read = Parsed(pages=len(jobs)), 0
    for outcomes in _read_all(
        settings, rules, jobs, settings.workers if workers is None else workers
    ):
        _save(store, shop, rules.version, outcomes)
        done = _counted(done, outcomes)
        read += len(outcomes)
        progress("pages read", read, len(jobs))
    return replace(done, seconds=round(time.monotonic() - begin, 2))


def _counted(done: Parsed, outcomes: Sequence[Outcome]) -> Parsed:
    failed = sum(one.failed for one in outcomes)
    pages = sum(one.reading.offer is not None for one in outcomes)
    offers = sum(
        max(1, len(one.reading.variants)) for one in outcomes if one.reading.offer is not None
    )
    return replace(
        done,
        offers=done.offers + offers,
        failed=done.failed + failed,
        others=done.others + len(outcomes) - pages - failed,
    )


def _forget_lost(store: Store, shop: Shop) -> None:
    """Drop the offers of pages that are no longer there."""
    with store.write() as session:
        lost = select(Page.id).where(Page.shop_id == shop.id, Page.state != PageState.FETCHED)
        session.exec(delete(ShopOffer).where(col(ShopOffer.page_id).in_(lost)))


def _read_all(
    settings: Settings, rules: RuleSet, jobs: Sequence[CrawledPage], workers: int
) -> Iterator[list[Outcome]]:
    """Read in this process or in several; rules that are none are refused in this one, where it can be said."""
    chunks = [jobs[start : start + CHUNK] for start in range(0, len(jobs), CHUNK)]
    _prepare(settings.bodies, rules, settings.confidence)
    if workers <= 1 or len(jobs) <= FEW_PAGES:
        yield from map(_read_chunk, chunks)
        return
    with worker_pool(workers, _prepare, settings.bodies, rules, settings.confidence) as pool:
        yield from pool.map(_read_chunk, chunks)


_opener: Opener
_plan: Plan
_least: Mapping[Attribute, float]
_currency: str | None


def _prepare(bodies: str, rules: RuleSet, least: Mapping[Attribute, float]) -> None:
    global _opener, _plan, _least, _currency
    _opener, _plan, _least, _currency = Opener(bodies), Plan(rules), least, rules.currency


def _read_chunk(pages: Sequence[CrawledPage]) -> list[Outcome]:
    return [_read_one(page) for page in pages]


def _read_one(page: CrawledPage) -> Outcome:
    """What a page says; whatever goes wrong with one, others are read."""
    try:
        with _Patience(SLOWEST):
            reading = _plan.read(_opener.open(page, trusted=True))
            return Outcome(page.page_id, without_doubtful(reading, _least, _currency))
    except Exception as error:  # noqa: BLE001 - a page or a rule may bring about anything
        why = f"unreadable: {str(error) or type(error).__name__}"
        return Outcome(page.page_id, PageReading(PageKind.OTHER, why), failed=True)


class _Patience:
    """Raises TimeoutError in the body after so many seconds, where signals can be had (a main thread on Unix)."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        try:
            self._before = signal.signal(signal.SIGALRM, _give_up)
            signal.alarm(self._seconds)
        except ValueError:
            self._before = None

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, self._before)


def _give_up(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"took longer than {SLOWEST} s")


def _save(store: Store, shop: Shop, version: int, outcomes: Sequence[Outcome]) -> None:
    """Write offers, kinds and the version in one transaction; an earlier reading of the same pages is replaced."""
    with store.write() as session:
        session.exec(
            delete(ShopOffer).where(col(ShopOffer.page_id).in_([one.page_id for one in outcomes]))
        )
        for one in outcomes:
            _save_one(session, shop, version, one)


def _save_one(session: Session, shop: Shop, version: int, one: Outcome) -> None:
    reading = one.reading
    columns = {"kind": reading.kind, "rules_version": version, "read_reason": reading.reason[:500]}
    session.exec(update(Page).where(col(Page.id) == one.page_id).values(**columns))
    if reading.offer is not None and shop.id is not None:
        read = reading.variants or (Variant(reading.offer, reading.readings),)
        product = reading.offer.url if len(read) > 1 else None
        for number, variant in enumerate(read):
            found = ShopOffer(
                **variant.offer.model_dump(),
                shop_id=shop.id,
                page_id=one.page_id,
                variant=number,
                variant_of=product,
                readings=_weights(variant.readings),
            )
            session.add(found)


def _weights(readings: Mapping[Attribute, Reading]) -> dict[str, dict[str, float]]:
    return {
        str(attribute): {"weight": round(found.weight, 4), "votes": found.cast}
        for attribute, found in readings.items()
        if found.value is not None
    }
