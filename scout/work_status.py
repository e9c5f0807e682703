"""Work under way: shops that are in use on any machine, and the jobs and workers of the queue."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, select

from catalog.models import Lease, Shop
from catalog.runtime.settings import Settings
from catalog.storage.leases import lease_table
from catalog.storage.store import Store
from scout.job_queue import shop_jobs
from scout.job_queue.queue_schema import has_queue
from scout.job_queue.shop_jobs import JobState
from scout.pipeline import locks
from scout.pipeline.run_records import latest_run


@dataclass(frozen=True)
class RunningShop:
    """A shop that a process has for a purpose, with the run and the stage that are open."""

    shop: str
    run: int | None
    stage: str | None
    host: str | None
    process: int | None
    since: datetime | None
    purpose: str | None


@dataclass(frozen=True)
class SetAsideJob:
    """A job that failed for good, with the reason of its last attempt."""

    shop: str | None
    job: int
    reason: str | None


@dataclass(frozen=True)
class WorkStatus:
    """Shops that are in use, jobs by state (None without a queue), workers that live, and the
    jobs that were set aside.
    """

    running: Sequence[RunningShop]
    jobs: Mapping[str, int] | None = None
    workers: int = 0
    set_aside: Sequence[SetAsideJob] = ()


def read_work_status(settings: Settings, store: Store) -> WorkStatus:
    """Read the work under way on all machines."""
    running = _read_running(settings, store)
    if not has_queue(store):
        return WorkStatus(running)
    set_aside = shop_jobs.list_jobs(store, [JobState.SET_ASIDE])
    return WorkStatus(
        running=running,
        jobs={str(state): number for state, number in shop_jobs.count_jobs(store).items()},
        workers=shop_jobs.count_workers(store, settings.lease_seconds),
        set_aside=[SetAsideJob(job.shop, job.id, job.reason) for job in set_aside],
    )


def _read_running(settings: Settings, store: Store) -> list[RunningShop]:
    with store.read() as session:
        leases = lease_table.read_held(session, lease_table.SHOP_PREFIX)
        ids = [int(name.removeprefix(lease_table.SHOP_PREFIX)) for name in leases]
        shops = session.exec(select(Shop).where(col(Shop.id).in_(ids)).order_by(Shop.name)).all()
    running = []
    for shop in shops:
        lease = leases[shop_jobs.shop_lock(shop)]
        if locks.is_alive(settings, lease):
            running.append(_describe_holder(store, shop, lease))
    return running


def _describe_holder(store: Store, shop: Shop, lease: Lease) -> RunningShop:
    run = latest_run(store, shop)
    is_open = run is not None and run.finished_at is None
    return RunningShop(
        shop=shop.name,
        run=run.id if run is not None and is_open else None,
        stage=str(run.stage) if run is not None and is_open else None,
        host=lease.host,
        process=lease.process_id,
        since=lease.acquired_at,
        purpose=lease.purpose,
    )
