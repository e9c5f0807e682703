"""Review decisions on findings, stored by the offer's URL so that they outlive runs.

Every step is one transaction: the decisions, their log, and the stored findings of the last
finished run with its counts.
"""

import getpass
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlmodel import Session, col, select

from catalog.errors import BadUrl, UsageError
from catalog.models import (
    Attribute,
    Match,
    ReviewChange,
    ReviewDecision,
    ReviewStep,
    Shop,
    utc_now,
)
from catalog.runtime.batches import batches
from catalog.storage.decisions.reviews import (
    ReviewEntry,
    log_step,
    mark_undone,
    read_last_changes,
    read_last_step,
    read_open_changes,
    replace_reviews,
)
from catalog.storage.findings import FindingFilter, read_match_urls
from catalog.storage.store import Store, lock_shop
from reports.model.finding_storage import update_findings
from reports.model.findings import ensure_stored
from reports.statistics.findings_reader import MAX_KEY_LENGTH, MAX_TEXT_LENGTH, clean_text
from scout.pipeline import run_records
from url_cleaner.cleaner import clean_url

IMPORT_ACTION = "import"
"""Action of a step that imported decisions; the other steps have their decision."""

_BATCH_SIZE = 500  # URLs of a query


_DECISIONS = {"confirm": ReviewDecision.ACCEPT} | {str(name): name for name in ReviewDecision}


@dataclass(frozen=True)
class Judgement:
    """The decision of a step, with its reason and the reviewer."""

    decision: ReviewDecision
    note: str | None = None
    reviewer: str | None = None


@dataclass(frozen=True)
class RecordedStep:
    """The URLs under which decisions were recorded.

    `unknown` are those of them that are no finding of the last finished run. `step_id` names the
    step, to undo it.
    """

    urls: tuple[str, ...]
    unknown: tuple[str, ...]
    step_id: int


@dataclass(frozen=True)
class UndoneChanges:
    """The changes of a step that were undone: all of them, or those on some URLs."""

    step: ReviewStep
    urls: tuple[str, ...]


def parse_decision(name: str) -> ReviewDecision:
    """Return the decision of that name; `confirm` and `accept` are the same. Raises UsageError.

    >>> parse_decision("confirm").value
    'accept'
    """
    if name not in _DECISIONS:
        raise UsageError(
            f"{name[:40]!r} is no review decision: choose from confirm, reject, ignore"
        )
    return _DECISIONS[name]


def check_note(note: str | None) -> str | None:
    """Return a note on one printable line. Raises UsageError for one that is too long."""
    if note is not None and len(note) > MAX_TEXT_LENGTH:
        raise UsageError(
            f"the note has {len(note)} characters: at most {MAX_TEXT_LENGTH} are allowed"
        )
    return clean_text(note)


def reviewer_name(name: str | None) -> str | None:
    """Return the reviewer's name, by default that of the user of the operating system.

    None if that user has no name. Raises UsageError for a name that is empty or too long.
    """
    if name is None:
        try:
            return clean_text(getpass.getuser(), MAX_KEY_LENGTH)
        except (OSError, KeyError, ImportError):
            return None
    cleaned = clean_text(name, MAX_KEY_LENGTH)
    if cleaned is None or len(name) > MAX_KEY_LENGTH:
        raise UsageError(f"a reviewer's name has 1 to {MAX_KEY_LENGTH} characters")
    return cleaned


def last_run_id(store: Store, shop: Shop) -> int | None:
    """Return the last finished run, with its findings stored; None without one."""
    run = run_records.shop_runs(store, shop).finished
    if run is None:
        return None
    run_id = run_records.run_key(run)
    ensure_stored(store, shop, run_id)
    return run_id


def decide_urls(
    store: Store, shop: Shop, urls: Sequence[str], judgement: Judgement
) -> RecordedStep:
    """Record a decision on the offers at some URLs, as one step. Raises BadUrl.

    Any URL of an offer names it.
    """
    run_id = last_run_id(store, shop)
    with store.write() as session:
        lock_shop(session, run_records.shop_key(shop))
        keys = resolve_urls(session, shop, run_id, urls)
        selection = urls[0] if len(urls) == 1 else f"{len(urls)} URLs"
        entries = _entries(keys.values(), judgement)
        step = _make_step(shop, judgement.decision, selection, judgement.reviewer)
        return record_entries(session, shop, run_id, step, entries)


def decide_filtered(
    store: Store, shop: Shop, where: FindingFilter, judgement: Judgement, selection: str
) -> RecordedStep:
    """Record a decision on the findings that a filter keeps, as one step.

    They are findings of the last finished run. Raises UsageError if no run has finished, or if the
    filter keeps none.
    """
    run_id = last_run_id(store, shop)
    if run_id is None:
        raise UsageError(f"no run of shop {shop.name!r} has finished: give URLs")
    with store.write() as session:
        lock_shop(session, run_records.shop_key(shop))
        urls = read_match_urls(session, run_id, where)
        if not urls:
            raise UsageError(f"no offer is selected: {selection}")
        entries = _entries(urls, judgement)
        step = _make_step(shop, judgement.decision, selection, judgement.reviewer)
        return record_entries(session, shop, run_id, step, entries)


def record_entries(
    session: Session,
    shop: Shop,
    run_id: int | None,
    step: ReviewStep,
    entries: Mapping[str, ReviewEntry],
) -> RecordedStep:
    """Write decisions as one step, and bring the findings of a run up to them."""
    before = replace_reviews(session, run_records.shop_key(shop), entries)
    states: dict[str, dict[str, object]] = {}
    if run_id is not None:
        states = update_findings(session, shop, run_id, list(entries))
    log_step(session, step, before, entries, states)
    unknown = tuple(url for url in entries if url not in states)
    assert step.id is not None
    return RecordedStep(tuple(entries), unknown, step.id)


def undo_last_steps(
    store: Store, shop: Shop, count: int, reviewer: str | None
) -> list[UndoneChanges]:
    """Undo the last steps of a shop, the newest first. Raises UsageError if there is none."""
    run_id = last_run_id(store, shop)
    undone: list[UndoneChanges] = []
    with store.write() as session:
        lock_shop(session, run_records.shop_key(shop))
        while len(undone) < count:
            step = read_last_step(session, run_records.shop_key(shop))
            if step is None:
                break
            changes = read_open_changes(session, step)
            _undo(session, shop, run_id, changes, reviewer)
            undone.append(UndoneChanges(step, tuple(change.url for change in changes)))
    if not undone:
        raise UsageError(f"shop {shop.name!r} has no review decision to undo")
    return undone


def undo_step(store: Store, shop: Shop, step_id: int, reviewer: str | None) -> UndoneChanges:
    """Undo one step of a shop as a whole.

    Raises UsageError if the shop has no such step, it is undone already, or a later step decided on
    one of its offers.
    """
    run_id = last_run_id(store, shop)
    shop_id = run_records.shop_key(shop)
    with store.write() as session:
        lock_shop(session, run_records.shop_key(shop))
        step = session.get(ReviewStep, step_id)
        if step is None or step.shop_id != shop_id:
            raise UsageError(f"shop {shop.name!r} has no step {step_id}")
        changes = read_open_changes(session, step)
        if not changes:
            raise UsageError(f"step {step_id} is undone already")
        urls = [change.url for change in changes]
        last_changes = read_last_changes(session, shop_id, urls)
        later = sum(change.step_id != step_id for change in last_changes)
        if later:
            raise UsageError(
                f"there are later decisions on {later} of the offers of step {step_id}: "
                "undo those first"
            )
        _undo(session, shop, run_id, changes, reviewer)
        return UndoneChanges(step, tuple(urls))


def undo_urls(
    store: Store, shop: Shop, urls: Sequence[str], reviewer: str | None
) -> list[UndoneChanges]:
    """Undo the last decision on each of some URLs.

    Raises UsageError if one of them has none: nothing is undone then. Raises BadUrl.
    """
    run_id = last_run_id(store, shop)
    with store.write() as session:
        lock_shop(session, run_records.shop_key(shop))
        keys = resolve_urls(session, shop, run_id, urls)
        changes = read_last_changes(session, run_records.shop_key(shop), [*keys.values(), *keys])
        changed = {change.url for change in changes}
        for url, key in keys.items():
            if not changed & {url, key}:
                raise UsageError(f"there is no review decision to undo on {url}")
        _undo(session, shop, run_id, changes, reviewer)
        by_step: dict[int, list[str]] = {}
        for change in changes:
            by_step.setdefault(change.step_id, []).append(change.url)
        return [
            UndoneChanges(session.get_one(ReviewStep, step_id), tuple(by_step[step_id]))
            for step_id in sorted(by_step, reverse=True)
        ]


def resolve_urls(
    session: Session, shop: Shop, run_id: int | None, urls: Sequence[str]
) -> dict[str, str]:
    """Return the URL under which a decision on each URL is stored. Raises BadUrl.

    It is that of the run's finding which has the URL among its own, else the cleaned URL.
    """
    match_urls = _find_match_urls(session, shop, run_id, urls)
    resolved = {}
    for url in urls:
        resolved[url] = match_urls.get(url) or clean_url(url, home=shop.url).url or url
    return resolved


def _undo(
    session: Session,
    shop: Shop,
    run_id: int | None,
    changes: Sequence[ReviewChange],
    reviewer: str | None,
) -> None:
    former: dict[str, ReviewEntry | None] = {}
    for change in changes:
        former[change.url] = None
        if change.before is not None:
            former[change.url] = ReviewEntry.from_json(change.url, change.before)
    replace_reviews(session, run_records.shop_key(shop), former)
    mark_undone(session, changes, reviewer, utc_now())
    if run_id is None:
        return
    match_urls = _find_match_urls(session, shop, run_id, list(former))
    states = {
        match_urls[change.url]: change.finding
        for change in changes
        if change.finding and change.url in match_urls
    }
    update_findings(session, shop, run_id, sorted(set(match_urls.values())), states)


def _make_step(
    shop: Shop, decision: ReviewDecision, selection: str, reviewer: str | None
) -> ReviewStep:
    return ReviewStep(
        shop_id=run_records.shop_key(shop),
        action=str(decision),
        selection=selection,
        reviewer=reviewer,
    )


def _entries(urls: Iterable[str], judgement: Judgement) -> dict[str, ReviewEntry]:
    reviewed_at = utc_now()
    return {
        url: ReviewEntry(url, judgement.decision, reviewed_at, judgement.note, judgement.reviewer)
        for url in urls
    }


def _find_match_urls(
    session: Session, shop: Shop, run_id: int | None, urls: Sequence[str]
) -> dict[str, str]:
    """Return the URL of the run's match that has each URL among its own; others are left out."""
    if run_id is None:
        return {}
    match_urls: dict[str, str] = {}
    for batch in batches(urls, _BATCH_SIZE):
        of_batch = col(Match.url).in_(batch)
        exact = select(Match.url).where(Match.run_id == run_id, of_batch)
        match_urls |= {url: url for url in session.exec(exact)}
    spellings: dict[str, list[str]] = {}
    for url in urls:
        if url not in match_urls:
            for spelling in _spellings(shop, url):
                spellings.setdefault(spelling, []).append(url)
    if not spellings:
        return match_urls
    urls_of_run = select(Match.url, Match.urls).where(Match.run_id == run_id)
    for match_url, further_urls in session.exec(urls_of_run):
        for spelling in (match_url, *further_urls):
            for url in spellings.get(spelling, ()):
                match_urls.setdefault(url, match_url)
    return match_urls


def _spellings(shop: Shop, url: str) -> set[str]:
    """Return a URL and its cleaned form; only itself if it cannot be cleaned."""
    try:
        return {url, clean_url(url, home=shop.url).url or url}
    except BadUrl:
        return {url}


def parse_attribute(name: str) -> Attribute:
    """Return the attribute of that name. Raises UsageError that lists all.

    >>> parse_attribute("price").value
    'price'
    """
    if name not in set(Attribute):
        raise UsageError(f"{name!r} is no attribute: choose from {', '.join(Attribute)}")
    return Attribute(name)
