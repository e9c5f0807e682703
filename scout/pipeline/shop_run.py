"""One run of one shop: crawl, learn, parse, match and report, resumed where a killed run stopped.

Each stage resumes or repeats its own work without doubling anything. So this module only calls the
stage that the run's row names as due (`scout.pipeline.run_records`). A stage also takes over the
result of an earlier run where all that it depends on is the same (`catalog.storage.fingerprints`).
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from catalog.errors import UnknownShop
from catalog.models import Run, Shop, Stage
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.runtime.telemetry.log_context import log_fields
from catalog.runtime.telemetry.tracing import span
from catalog.storage.leases import lease_table
from catalog.storage.leases.held_lease import HeldLease
from catalog.storage.store import Store
from scout.job_queue.job_kinds import PURPOSES, JobKind
from scout.pipeline import locks
from scout.pipeline.run_records import (
    StageFunction,
    open_stage,
    record_stage,
    resume_or_start,
    shop_key,
)
from scout.pipeline.run_summary import RunSummary, summarize_run


def run_shop(
    settings: Settings,
    store: Store,
    shop: Shop,
    *,
    fresh: bool = False,
    full: bool = False,
    progress: Progress = no_progress,
) -> RunSummary:
    """Run a shop to its report; resume an unfinished run unless a `fresh` one is requested.

    A `full` run fetches, learns, reads and matches everything, also what has not changed. A shop
    without known offers is read by general rules. Raises Busy while the shop is in use already, on
    this or any other machine, UnknownShop if it has been removed, LeaseLost if another process
    has taken it over, and the errors of the stages: the run then stays unfinished with the reason
    stored. A crawl without any page fails it.
    """
    purpose = PURPOSES[JobKind.RUN]
    with lock_shop(settings, store, shop, purpose, on_end=end_this_process) as lease:
        held_store = lease.store
        run_id = resume_or_start(held_store, shop, fresh=fresh, full=full)
        with span("run", shop=shop.name, run=run_id), log_fields(run=run_id):
            _repair_bodies(settings, held_store, shop, run_id)
            functions = _stage_functions(settings, held_store, shop, full, lease.watch(progress))
            while (stage := open_stage(held_store, run_id)) is not None:
                record_stage(held_store, run_id, stage, functions[stage])
            return summarize_run(held_store, shop, run_id)


@contextmanager
def lock_shop(
    settings: Settings,
    store: Store,
    shop: Shop,
    purpose: str,
    on_end: Callable[[], None] | None = None,
) -> Iterator[HeldLease]:
    """Hold the lease of a shop for the block, on whichever machine; gives it.

    The `purpose` ("a run") is named to those that are refused. Raises Busy, and UnknownShop where
    the shop has been removed since it was loaded.

    Write through the `store` of the lease while it is held. `on_end` is called if somebody asks
    this process to end. Log lines of the block name the shop.
    """
    name = lease_table.shop_lease(shop_key(shop))
    held = locks.hold_lease(settings, store, name, f"shop {shop.name!r}", on_end, purpose)
    with held as lease, log_fields(shop=shop.name):
        with store.read() as session:
            if session.get(Shop, shop.id) is None:
                raise UnknownShop(shop.name)
        yield lease


def end_this_process() -> None:
    """End this process as SIGTERM does: its work can be resumed."""
    os.kill(os.getpid(), signal.SIGTERM)


def _repair_bodies(settings: Settings, store: Store, shop: Shop, run_id: int) -> None:
    """Return to the crawl if page bodies were lost.

    A power cut may lose files that were written just before it.
    """
    from catalog.storage.bodies import BodyStore
    from crawler.store.body_repair import repair_bodies

    if open_stage(store, run_id) in (None, Stage.CRAWL):
        return
    lost = repair_bodies(store, shop_key(shop), BodyStore(settings.bodies))
    if not lost:
        return
    with store.write() as session:
        session.get_one(Run, run_id).stage = Stage.CRAWL


def _stage_functions(
    settings: Settings, store: Store, shop: Shop, full: bool, progress: Progress
) -> dict[Stage, StageFunction]:
    def run(stage: Stage, run_id: int) -> Any:
        function = _stage_function(stage)
        options = {} if stage is Stage.REPORT else {"anew": full}
        return function(settings, store, shop, run_id, progress=progress, **options)

    return {stage: partial(run, stage) for stage in Stage}


def _stage_function(stage: Stage) -> Callable[..., Any]:
    """Import a stage when it is due: together the packages take seconds to load."""
    if stage is Stage.CRAWL:
        from crawler.crawl import crawl_shop

        return crawl_shop
    if stage is Stage.LEARN:
        from rules_generator.learn_job import learn_shop

        return learn_shop
    if stage is Stage.PARSE:
        from parser.parse_job import parse_shop

        return parse_shop
    if stage is Stage.MATCH:
        from matcher.match_job import match_shop

        return match_shop
    from reports.write.report_files import report_shop

    return report_shop
