"""`scout run --all`: every shop that the catalog knows offers of, side by side within the machine's budget.

Runs that were left unfinished come first, then the shops that have waited longest. A run that was ended for its memory
is started again when the others have had their turn, as often as `TRIES` says: it goes on where it was.
"""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from sqlmodel import col, func, select

from catalog.models import KnownOffer, Run, RunState, Shop
from catalog.runtime.progress import Progress, silent
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.pipeline import pipeline
from scout.pipeline.run_pool import Ended, Fleet

TRIES = 3


@dataclass(frozen=True)
class Outcome:
    """What a shop's run came to: its state, the offers that are missing, and why where it is not done."""

    shop: str
    run: int | None
    state: str
    missing: int | None
    seconds: float
    reason: str | None = None


def due(store: Store) -> list[Shop]:
    """The shops that can be run, in the order in which they are."""
    newest = (
        select(func.max(Run.id))
        .where(col(Run.state) != RunState.ABANDONED)
        .group_by(col(Run.shop_id))
    )
    with store.read() as session:
        shops = session.exec(
            select(Shop).where(col(Shop.id).in_(select(KnownOffer.shop_id).distinct()))
        )
        last = {
            run.shop_id: run for run in session.exec(select(Run).where(col(Run.id).in_(newest)))
        }
        found = list(shops)
    return sorted(found, key=lambda shop: _turn(shop, last.get(shop.id or 0)))


def _turn(shop: Shop, last: Run | None) -> tuple[int, float, str]:
    if last is None:
        return 1, 0.0, shop.name
    return 0 if last.state == RunState.RUNNING else 1, last.started_at.timestamp(), shop.name


def run_all(
    settings: Settings, store: Store, fleet: Fleet, shops: list[Shop], progress: Progress = silent
) -> Iterator[Outcome]:
    """Run shops side by side; gives what each came to as soon as it is known."""
    waiting = {shop.id or 0: shop for shop in shops}
    tries: Counter[int] = Counter()
    counts = {"running": 0, "failed": 0}
    with ThreadPoolExecutor(settings.at_once) as pool:
        running: dict[Future[Ended], Shop] = {}
        queue = list(waiting.values())
        done = 0
        try:
            while queue or running:
                while queue and len(running) < settings.at_once:
                    shop = queue.pop(0)
                    tries[shop.id or 0] += 1
                    running[pool.submit(fleet.run, shop.id or 0, shop.name)] = shop
                counts["running"] = len(running)
                progress("shops", done, len(waiting), **counts)
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    shop, ended = running.pop(future), future.result()
                    if ended.over_memory and tries[shop.id or 0] < TRIES:
                        queue.append(shop)
                        continue
                    outcome = _outcome(store, shop, ended)
                    done += 1
                    counts["failed"] += outcome.state != RunState.DONE
                    yield outcome
            progress("shops", done, len(waiting), running=0, failed=counts["failed"])
        finally:
            if running:
                fleet.stop()


def _outcome(store: Store, shop: Shop, ended: Ended) -> Outcome:
    from scout.pipeline.summary import summary

    run = pipeline.latest(store, shop)
    seconds = round(ended.seconds, 1)
    if ended.code == 0 and run is not None:
        return Outcome(
            shop.name, run.id, str(run.state), summary(store, shop, run.id or 0).missing, seconds
        )
    said = ended.said.removeprefix("error: ") or f"ended with exit code {ended.code}"
    state = str(run.state) if run is not None and ended.over_memory else "failed"
    return Outcome(shop.name, run.id if run else None, state, None, seconds, said)
