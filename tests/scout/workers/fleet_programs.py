"""Programs of a fleet in processes of their own: a worker, and the run of a shop.

Run by hand: `python -m tests.scout.workers.fleet_programs PROGRAM DATA_DIR DATABASE LEASE STEPS`,
where PROGRAM is worker, poisoned (a worker that is killed by each of its runs) or run. The run
holds the shop's lease and adds a page a step, instead of a crawl that would take seconds to import.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from socket import socket

from catalog.errors import ScoutError
from catalog.models import Page
from catalog.runtime.served_process import ServedProcess
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.pipeline import run_pool, shop_run

STEP = 0.1
"""Seconds of a step."""


def run_shop(settings: Settings, steps: int) -> int:
    """Run shop `a`: add a page a step, named by the token of the lease. Returns an exit code."""
    store = Store.open(settings)
    shop = store.shop("a")
    try:
        with shop_run.lock_shop(settings, store, shop, "a run") as lease:
            assert lease.store.fence is not None
            for step in range(steps):
                with lease.store.write() as session:
                    url = f"http://a.example/{lease.store.fence.token}/{step}"
                    session.add(Page(shop_id=shop.id or 0, url=url))
                time.sleep(STEP)
    except ScoutError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def run_served(channel: socket, fds: Sequence[int], settings: Settings, steps: int) -> None:
    """Run shop `a` in a process that a worker has started."""
    sys.exit(run_shop(settings, steps))


def kill_worker(channel: socket, fds: Sequence[int], worker: int) -> None:
    """Kill the worker that has started this process."""
    os.kill(worker, signal.SIGKILL)


def main(program: str, data_dir: str, database: str, lease: str, steps: str) -> int:
    """Run a program of the fleet; returns its exit code."""
    settings = Settings.load(
        data_dir=Path(data_dir), database_url=database, lease_seconds=float(lease)
    )
    if program == "run":
        return run_shop(settings, int(steps))
    from scout.job_queue.job_kinds import QUEUED_KINDS
    from scout.workers.worker import Worker, WorkerOptions

    # Functions of the module `__main__` cannot be sent to other processes.
    from tests.scout.workers import fleet_programs

    def start(arguments: Sequence[str], out: int) -> ServedProcess:
        if program == "poisoned":
            return ServedProcess(fleet_programs.kill_worker, (os.getpid(),), leads_group=True)
        return ServedProcess(fleet_programs.run_served, (settings, int(steps)), leads_group=True)

    run_pool.start_run = start
    Worker(settings, Store.open(settings), [], WorkerOptions(QUEUED_KINDS)).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
