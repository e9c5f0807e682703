"""The whole way through for one shop: crawl, learn, parse, match, report - and on again where a killed run stopped.

What has been done stands in the run's row: `stage` is the step that comes next or is under way, and is moved on in the
same transaction that keeps the figures of the step before. Each step is its own room's; it goes on or begins anew
without doubling anything, so all that is left to do here is to call the one that comes next.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, is_dataclass
from typing import Any

from sqlmodel import Session, col, select

from catalog.errors import CrawlError, ScoutError, StoreError, UsageError
from catalog.models import LARGEST_KEY, Run, RunState, Shop, Stage, now
from catalog.runtime.progress import Progress, silent
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.pipeline import locks
from scout.pipeline.summary import RunSummary, summary
from scout.shops import purge

Step = Callable[[int], Any]


def run_shop(
    settings: Settings,
    store: Store,
    shop: Shop,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> RunSummary:
    """Run a shop to its report, going on with an unfinished run unless a `fresh` one is asked for.

    A shop of which the catalog knows no offer is read by general rules. Raises Busy where the shop is being run
    already, and what a step raises: the run then stays unfinished with the reason kept, except after a crawl that
    brought nothing, which has failed.
    """
    with only_one(settings, shop):
        run_id = take_up(store, shop, fresh=fresh)
        _look_after_bodies(settings, store, shop, run_id)
        steps = _steps(settings, store, shop, progress)
        while (stage := _open_stage(store, run_id)) is not None:
            do(store, run_id, stage, steps[stage])
        return summary(store, shop, run_id)


def only_one(settings: Settings, shop: Shop) -> AbstractContextManager[None]:
    """Hold the shop's lock for the block. Raises Busy."""
    busy = f"shop {shop.name!r} is being run already: wait for that run to end"
    return locks.held(settings, locks.shop_lock_name(shop_key(shop)), busy)


def shop_key(shop: Shop) -> int:
    """The key of a stored shop."""
    assert shop.id is not None
    return shop.id


def take_up(store: Store, shop: Shop, *, fresh: bool = False) -> int:
    """The key of the shop's unfinished run, or of a new one for which all pages are due again.

    Where there is no unfinished run, or a `fresh` one is asked for, pages are made due and the run is begun in one
    transaction. A fresh run forgets the pages and their offers; rules set by hand and people's words stay.
    """
    from crawler.frontier.revisit import reset

    with store.write() as session:
        found = _unfinished(session, shop)
        if found is not None and not fresh:
            found.reason = None
            return run_key(found)
        if found is not None:
            found.state, found.finished_at = RunState.ABANDONED, now()
        if fresh:
            purge.pages(session, shop_key(shop))
        else:
            reset(session, shop_key(shop))
        begun = Run(shop_id=shop_key(shop))
        session.add(begun)
        session.flush()
        return run_key(begun)


def latest(store: Store, shop: Shop) -> Run | None:
    """The shop's newest run that was not abandoned."""
    with store.read() as session:
        runs = select(Run).where(Run.shop_id == shop.id, col(Run.state) != RunState.ABANDONED)
        return session.exec(runs.order_by(col(Run.id).desc())).first()


def run_at(session: Session, run_id: int) -> Run | None:
    """The run of that key; none where there is none, or no key is so large."""
    return session.get(Run, run_id) if abs(run_id) <= LARGEST_KEY else None


def run_of(store: Store, shop: Shop, run_id: int) -> int:
    """The key of that run, where it is one of the shop's. Raises UsageError."""
    with store.read() as session:
        run = run_at(session, run_id)
    if run is None or run.shop_id != shop.id:
        raise UsageError(
            f"shop {shop.name!r} has no run {run_id}: 'scout shop show {shop.name}' names the newest"
        )
    return run_id


def run_key(run: Run) -> int:
    """The key of a stored run."""
    assert run.id is not None
    return run.id


def do(store: Store, run_id: int, stage: Stage, step: Step) -> Any:
    """Take one step of a run, and keep its figures and what comes next. An error's line is kept as the run's reason."""
    begun = time.monotonic()
    try:
        done = step(run_id)
    except ScoutError as error:
        _keep_reason(store, run_id, error)
        raise
    figures = figures_of(done) | {"seconds": round(time.monotonic() - begun, 2)}
    with store.write() as session:
        run = session.get_one(Run, run_id)
        run.figures = {
            **run.figures,
            **_coverage(session, run, stage),
            stage.value: _written(run, stage) | figures,
        }
        run.reason = None
        if run.state == RunState.RUNNING:
            _move_on(run, stage)
    return done


def _written(run: Run, stage: Stage) -> dict[str, Any]:
    """What is kept of an earlier report: its files are there still where only some formats are written again."""
    return dict(run.figures.get(stage.value, {})) if stage is Stage.REPORT else {}


def _coverage(session: Session, run: Run, stage: Stage) -> dict[str, Any]:
    """How much of the shop the run has seen, kept with it because the next crawl begins the page table anew."""
    from reports.statistics.coverage import covered

    if stage is not Stage.MATCH:
        return {}
    return {
        "coverage": covered(session, session.get_one(Shop, run.shop_id), run_key(run)).as_json()
    }


def figures_of(done: object) -> dict[str, Any]:
    """A step's figures as JSON can keep them.

    >>> figures_of({"price": 3, "pages": {"fetched": 7}})
    {'price': 3, 'pages': {'fetched': 7}}
    """
    given = asdict(done) if is_dataclass(done) and not isinstance(done, type) else done
    if not isinstance(given, Mapping):
        return {}
    return {str(name): _storable(value) for name, value in given.items()}


def _storable(value: object) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _storable(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_storable(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _move_on(run: Run, stage: Stage) -> None:
    """What follows a step is due next, even where it was done before; a step out of turn skips none before it."""
    stages = list(Stage)
    place = stages.index(stage)
    if place > stages.index(Stage(run.stage)):
        return
    if place + 1 < len(stages):
        run.stage = stages[place + 1]
    else:
        run.state, run.finished_at = RunState.DONE, now()


def _keep_reason(store: Store, run_id: int, error: ScoutError) -> None:
    """Best effort: where the store itself is what fails, the error that is under way says so already."""
    with suppress(StoreError), store.write() as session:
        run = session.get_one(Run, run_id)
        run.reason = str(error)
        if isinstance(error, CrawlError) and run.state == RunState.RUNNING:
            run.state, run.finished_at = RunState.FAILED, now()


def _open_stage(store: Store, run_id: int) -> Stage | None:
    with store.read() as session:
        run = session.get_one(Run, run_id)
        return Stage(run.stage) if run.state == RunState.RUNNING else None


def _look_after_bodies(settings: Settings, store: Store, shop: Shop, run_id: int) -> None:
    """A run that a power cut ended after its crawl may have lost pages: it crawls those again before it goes on."""
    from catalog.storage.bodies import Bodies
    from crawler.store.repair_bodies import mend

    if _open_stage(store, run_id) in (None, Stage.CRAWL) or not mend(
        store, shop_key(shop), Bodies(settings.bodies)
    ):
        return
    with store.write() as session:
        session.get_one(Run, run_id).stage = Stage.CRAWL


def _unfinished(session: Session, shop: Shop) -> Run | None:
    runs = select(Run).where(Run.shop_id == shop.id, col(Run.state) == RunState.RUNNING)
    return session.exec(runs.order_by(col(Run.id).desc())).first()


def _steps(settings: Settings, store: Store, shop: Shop, progress: Progress) -> dict[Stage, Step]:
    from crawler.crawl import crawl_shop
    from matcher.match_job import match_shop
    from parser.parse_job import parse_shop
    from reports.write.write import report_shop
    from rules_generator.learn import learn_shop

    rooms: dict[Stage, Callable[..., Any]] = {
        Stage.CRAWL: crawl_shop,
        Stage.LEARN: learn_shop,
        Stage.PARSE: parse_shop,
        Stage.MATCH: match_shop,
        Stage.REPORT: report_shop,
    }
    return {stage: _step(room, settings, store, shop, progress) for stage, room in rooms.items()}


def _step(
    room: Callable[..., Any], settings: Settings, store: Store, shop: Shop, progress: Progress
) -> Step:
    return lambda run_id: room(settings, store, shop, run_id, progress=progress)
