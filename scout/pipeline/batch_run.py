"""`scout run --all`: run every shop with known offers, in parallel within the machine's budget.

Unfinished runs come first, then the shops that have waited longest. A run that was ended for its
memory is started again after the others, up to `MAX_ATTEMPTS` times in all: it resumes where it
was.
"""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from sqlmodel import col, func, select

from catalog.models import KnownOffer, Run, RunState, Shop
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.pipeline import run_records
from scout.pipeline.run_pool import RunPool, RunResult

MAX_ATTEMPTS = 3
"""Starts of a run that exceeds its memory, so that a shop that always exceeds it ends."""


@dataclass(frozen=True)
class ShopOutcome:
    """The outcome of a shop's run.

    `reason` is None when the run is done; `missing` counts offers, None otherwise.
    """

    shop: str
    run: int | None
    state: str
    missing: int | None
    seconds: float
    reason: str | None = None


def due_shops(store: Store) -> list[Shop]:
    """Return the shops that can be run, in the order in which to run them."""
    newest_ids = (
        select(func.max(Run.id))
        .where(col(Run.state) != RunState.ABANDONED)
        .group_by(col(Run.shop_id))
    )
    with_offers = select(Shop).where(col(Shop.id).in_(select(KnownOffer.shop_id).distinct()))
    with store.read() as session:
        shops = list(session.exec(with_offers))
        runs = list(session.exec(select(Run).where(col(Run.id).in_(newest_ids))))
    newest = {run.shop_id: run for run in runs}
    return sorted(shops, key=lambda shop: _priority(shop, newest.get(shop.id or 0)))


def _priority(shop: Shop, newest: Run | None) -> tuple[int, float, str]:
    """Return a shop's sort key: unfinished runs first, then start of the newest run, then name."""
    if newest is None:
        return 1, 0.0, shop.name
    rank = 0 if newest.state == RunState.RUNNING else 1
    return rank, newest.started_at.timestamp(), shop.name


def run_shops(
    settings: Settings,
    store: Store,
    pool: RunPool,
    shops: list[Shop],
    progress: Progress = no_progress,
) -> Iterator[ShopOutcome]:
    """Run shops in parallel; yield each outcome as soon as it is known."""
    queue = list(shops)
    attempts: Counter[int] = Counter()
    done, failed = 0, 0
    with ThreadPoolExecutor(settings.at_once) as executor:
        running: dict[Future[RunResult], Shop] = {}
        try:
            while queue or running:
                while queue and len(running) < settings.at_once:
                    shop = queue.pop(0)
                    attempts[shop.id or 0] += 1
                    running[executor.submit(pool.run, shop.id or 0, shop.name)] = shop
                progress("shops", done, len(shops), running=len(running), failed=failed)
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    shop, result = running.pop(future), future.result()
                    if result.over_memory and attempts[shop.id or 0] < MAX_ATTEMPTS:
                        queue.append(shop)
                        continue
                    outcome = _outcome(store, shop, result)
                    done += 1
                    failed += outcome.state != RunState.DONE
                    yield outcome
            progress("shops", done, len(shops), running=0, failed=failed)
        finally:
            # The consumer may stop early, by Ctrl-C for instance: no process may outlive this
            # command.
            if running:
                pool.stop()


def _outcome(store: Store, shop: Shop, result: RunResult) -> ShopOutcome:
    from scout.pipeline.run_summary import summarize_run

    run = run_records.latest_run(store, shop)
    seconds = round(result.seconds, 1)
    if result.exit_code == 0 and run is not None:
        missing = summarize_run(store, shop, run.id or 0).missing
        return ShopOutcome(shop.name, run.id, str(run.state), missing, seconds)
    state = str(run.state) if run is not None and result.over_memory else "failed"
    return ShopOutcome(
        shop.name, run.id if run else None, state, None, seconds, result.failure_reason
    )
