"""Work under way: shops that are being run on any machine, and the jobs and workers of the queue."""

from typing import Any

from sqlmodel import select

from catalog.models import Lease, Shop
from catalog.runtime.settings import Settings
from catalog.storage.leases import lease_table
from catalog.storage.store import Store
from scout.job_queue import shop_jobs
from scout.job_queue.queue_schema import has_queue
from scout.job_queue.shop_jobs import JobState
from scout.pipeline import locks
from scout.pipeline.run_records import latest_run


def describe_work(settings: Settings, store: Store) -> dict[str, Any]:
    """Describe the work under way.

    `running` are the shops with a lease, `jobs` counts the jobs by state (None without a queue),
    `workers` those that live, and `set_aside` has the jobs that failed for good.
    """
    with store.read() as session:
        leases = lease_table.read_held(session, lease_table.SHOP_PREFIX)
        shops = {lease_table.shop_lease(shop.id or 0): shop for shop in session.exec(select(Shop))}
    running = []
    for name, lease in leases.items():
        if name in shops and locks.is_alive(settings, lease):
            running.append(_describe_holder(store, shops[name], lease))
    status: dict[str, Any] = {"running": running, "jobs": None, "workers": 0, "set_aside": []}
    if has_queue(store):
        status["jobs"] = {str(state): n for state, n in shop_jobs.count_jobs(store).items()}
        status["workers"] = shop_jobs.count_workers(store, settings.lease_seconds)
        for job in shop_jobs.list_jobs(store, [JobState.SET_ASIDE]):
            status["set_aside"].append({"shop": job.shop, "job": job.id, "reason": job.reason})
    return status


def _describe_holder(store: Store, shop: Shop, lease: Lease) -> dict[str, Any]:
    run = latest_run(store, shop)
    is_run = run is not None and run.finished_at is None
    return {
        "shop": shop.name,
        "run": run.id if run is not None and is_run else None,
        "stage": str(run.stage) if run is not None and is_run else None,
        "host": lease.host,
        "process": lease.process_id,
        "since": lease.acquired_at,
    }
