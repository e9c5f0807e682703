"""Machines with data folders of their own share a database: each shop is run by one at a time."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlmodel import select

from catalog.models import AttemptOutcome, JobAttempt, Page
from catalog.runtime.settings import Settings
from catalog.storage.leases import lease_table
from catalog.storage.store import Store
from scout.job_queue import shop_jobs
from scout.job_queue.shop_jobs import JobState

ROOT = Path(__file__).parents[3]
LEASE = 1.5
"""Seconds of a lease."""


class Fleet:
    """Processes of programs with one database; `start` gives each a data folder by its machine."""

    def __init__(self, folder: Path, database: str) -> None:
        self._folder, self._database = folder, database
        self._started: list[subprocess.Popen[str]] = []

    def start(self, program: str, machine: str, steps: int) -> subprocess.Popen[str]:
        """Start a program."""
        arguments = [program, str(self._folder / machine), self._database, str(LEASE), str(steps)]
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.scout.workers.fleet_programs", *arguments],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def stop(self) -> None:
        """End all that still runs."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture
def fleet(queue_settings: Settings, tmp_path: Path) -> Iterator[Fleet]:
    """A fleet on PostgreSQL."""
    started = Fleet(tmp_path, queue_settings.database)
    yield started
    started.stop()


def _tokens(store: Store) -> list[int]:
    """Return the tokens under which pages were written, in their order."""
    with store.read() as session:
        urls = session.exec(select(Page.url).order_by(Page.id)).all()
    return [int(url.split("/")[3]) for url in urls]


def _wait(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_killed_worker(queue_store: Store, fleet: Fleet) -> None:
    """A worker is killed with -9 amid a shop: another one takes the shop over, and finishes it."""
    shop = queue_store.shop("a")
    shop_jobs.enqueue(queue_store, shop)
    first = fleet.start("worker", "first", 300)
    _wait(lambda: len(_tokens(queue_store)) > 3)
    second = fleet.start("worker", "second", 5)
    os.kill(first.pid, signal.SIGKILL)
    killed = time.monotonic()
    _wait(lambda: shop_jobs.list_jobs(queue_store)[0].state == JobState.DONE)
    # A lease and half a minute, in which the second worker starts, too: with the default lease of 90
    # seconds less than two minutes.
    assert time.monotonic() - killed < LEASE + 30
    tokens = _tokens(queue_store)
    assert (sorted(tokens), set(tokens), tokens.count(2)) == (tokens, {1, 2}, 5)
    with queue_store.read() as session:
        attempts = session.exec(select(JobAttempt).order_by(JobAttempt.id)).all()
    assert [attempt.outcome for attempt in attempts] == [
        AttemptOutcome.WORKER_LOST,
        AttemptOutcome.DONE,
    ]
    second.terminate()
    assert second.wait(20) == 0


def test_job_that_kills_its_workers(
    queue_store: Store, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that kills each worker is set aside with its reason after `job_attempts` workers."""
    monkeypatch.setenv("SCOUT_JOB_ATTEMPTS", "2")
    shop_jobs.enqueue(queue_store, queue_store.shop("a"))
    for machine in ("first", "second"):
        assert fleet.start("poisoned", machine, 0).wait(30) == -signal.SIGKILL
    third = fleet.start("poisoned", "third", 0)
    _wait(lambda: shop_jobs.list_jobs(queue_store)[0].state == JobState.SET_ASIDE)
    (job,) = shop_jobs.list_jobs(queue_store)
    assert (job.reason, job.attempts) == ("its worker has ended, or cannot be reached", 2)
    third.terminate()
    assert third.wait(20) == 0


def test_stopped_run(queue_store: Store, fleet: Fleet) -> None:
    """Two runs of a shop on two machines: the second is refused with the holder of the lease.

    When the first is stopped for too long, another takes over. The first one notices when it goes
    on: it ends with one clear line, and writes nothing more.
    """
    first = fleet.start("run", "first", 600)
    _wait(lambda: len(_tokens(queue_store)) > 3)
    second = fleet.start("run", "second", 5)
    _, refusal = second.communicate(timeout=30)
    assert second.returncode == 1
    assert f"'a' is in use already by process {first.pid} on " in refusal
    os.kill(first.pid, signal.SIGSTOP)
    _wait(lambda: lease_table.find_lease(queue_store, "shop-1") is None)
    third = fleet.start("run", "second", 5)
    assert third.wait(30) == 0
    written = _tokens(queue_store)
    os.kill(first.pid, signal.SIGCONT)
    _, error = first.communicate(timeout=30)
    assert first.returncode == 1
    assert error.startswith("error: shop 'a' was taken over by ")
    assert len(error.splitlines()) == 1
    assert _tokens(queue_store) == written
    assert written[-6:] == [1] + [2] * 5
