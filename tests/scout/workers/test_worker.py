"""A worker does the jobs of the queue: failures, poison jobs, a stop, a lost worker, busy shops."""

import os
import signal
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from sqlmodel import select

from catalog.models import AttemptOutcome, JobAttempt, utc_now
from catalog.runtime.settings import Settings
from catalog.storage.leases import lease_table
from catalog.storage.store import Store
from scout.job_queue import queue_schema, shop_jobs
from scout.job_queue.job_kinds import QUEUED_KINDS
from scout.job_queue.shop_jobs import JobState
from scout.pipeline import shop_run
from scout.pipeline.run_pool import RunResult, run_log_path
from scout.schedule.timetable import Timetable, schedule_shop
from scout.workers import job_runner
from tests.scout.programs import replace_runs

worker_module = pytest.importorskip(
    "scout.workers.worker", reason="pip install 'scout-offer-gaps[workers]'"
)


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_runner, "FIRST_PAUSE", 0.05)
    monkeypatch.setattr(job_runner, "END_WAIT", 0.2)


def _work(settings: Settings, store: Store, **options: object) -> None:
    """Serve the queue in this process until it is empty, or a signal comes."""
    chosen = worker_module.WorkerOptions(QUEUED_KINDS, **{"drains": True, **options})
    worker_module.Worker(settings, store, ["--flag"], chosen).run()


def _attempts(store: Store) -> list[tuple[AttemptOutcome | None, str | None]]:
    with store.read() as session:
        attempts = session.exec(select(JobAttempt).order_by(JobAttempt.id))
        return [(attempt.outcome, attempt.reason) for attempt in attempts]


def _signal_when(condition: Callable[[], bool], *numbers: int) -> threading.Thread:
    """Send signals to this process, once a condition holds, a moment apart."""

    def send() -> None:
        deadline = time.monotonic() + 20
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.02)
        for number in numbers:
            os.kill(os.getpid(), number)
            time.sleep(0.3)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


def test_jobs(
    queue_settings: Settings, queue_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs are done in the order of their priority, each by its command; the timetable queues."""
    started = replace_runs(monkeypatch, "print('done')")
    timetable = Timetable(queue_settings, queue_store, [])
    schedule_shop(queue_store, queue_store.shop("b"), "@daily")
    assert timetable.run(queue_store.shop("b").id or 0, "b") == 0
    shop_jobs.enqueue(queue_store, queue_store.shop("c"), QUEUED_KINDS[1])
    shop_jobs.enqueue(queue_store, queue_store.shop("a"), options=["--fresh"], priority=10)
    _work(queue_settings, queue_store)
    assert started == [
        ["--flag", "run", "--fresh", "--", "a"],
        ["--flag", "run", "--", "b"],
        ["--flag", "learn", "--", "c"],
    ]
    assert {job.state for job in shop_jobs.list_jobs(queue_store)} == {JobState.DONE}
    assert [outcome for outcome, _ in _attempts(queue_store)] == [AttemptOutcome.DONE] * 3


def test_poison(
    queue_settings: Settings, queue_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that fails is tried again after a pause, and set aside with its reason in the end."""
    started = replace_runs(monkeypatch, "print('error: the shop bites'); raise SystemExit(1)")
    shop_jobs.enqueue(queue_store, queue_store.shop("a"), options=["--fresh"])
    deadline = time.monotonic() + 20
    while len(started) < 2 and time.monotonic() < deadline:
        _work(queue_settings, queue_store)
    (job,) = shop_jobs.list_jobs(queue_store)
    assert (job.state, job.reason, job.attempts) == (JobState.SET_ASIDE, "the shop bites", 2)
    # The second attempt resumes the first one instead of deleting what it has done.
    assert [arguments[1:] for arguments in started] == [
        ["run", "--fresh", "--", "a"],
        ["run", "--", "a"],
    ]


def test_disk_of_the_worker(
    queue_settings: Settings, queue_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a worker cannot write, the job is handed back: that is no failure of the shop."""
    replace_runs(monkeypatch, "print('done')")
    shop = queue_store.shop("a")
    shop_jobs.enqueue(queue_store, shop)
    # A folder in its place stands for a disk on which the log cannot be written.
    log = run_log_path(queue_settings, shop.id or 0)
    log.mkdir()
    _work(queue_settings, queue_store)
    log.rmdir()
    deadline = time.monotonic() + 20
    while len(_attempts(queue_store)) < 2 and time.monotonic() < deadline:
        _work(queue_settings, queue_store)
    (handed_back, reason), (done, _) = _attempts(queue_store)
    assert (handed_back, done) == (AttemptOutcome.HANDED_BACK, AttemptOutcome.DONE)
    assert "the run could not be started" in (reason or "")


@pytest.mark.parametrize(
    ("grace", "signals", "seconds"),
    [(0.2, [signal.SIGTERM], 3.0), (60.0, [signal.SIGTERM, signal.SIGTERM], 3.0)],
)
def test_stop(
    queue_settings: Settings,
    queue_store: Store,
    monkeypatch: pytest.MonkeyPatch,
    grace: float,
    signals: list[int],
    seconds: float,
) -> None:
    """A run that does not end within the grace period, or until a second signal, is handed back."""
    started = replace_runs(monkeypatch, "import time; time.sleep(60)")
    shop_jobs.enqueue(queue_store, queue_store.shop("a"))
    shop_jobs.enqueue(queue_store, queue_store.shop("b"))
    sender = _signal_when(lambda: bool(_attempts(queue_store)) and bool(started), *signals)
    began = time.monotonic()
    _work(queue_settings, queue_store, grace=grace, drains=False)
    assert time.monotonic() - began < seconds + 5
    sender.join()
    assert len(started) == 1
    assert _attempts(queue_store) == [(AttemptOutcome.HANDED_BACK, "its worker was stopped")]
    assert shop_jobs.count_jobs(queue_store)[JobState.WAITING] == 2


def test_run_under_way_finishes(
    queue_settings: Settings, queue_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first signal a run that ends within the grace period is done, and none begins."""
    started = replace_runs(monkeypatch, "import time; time.sleep(0.6)")
    shop_jobs.enqueue(queue_store, queue_store.shop("a"))
    shop_jobs.enqueue(queue_store, queue_store.shop("b"))
    sender = _signal_when(lambda: bool(started), signal.SIGTERM)
    _work(queue_settings, queue_store, grace=30.0, drains=False)
    sender.join()
    states = {job.shop: job.state for job in shop_jobs.list_jobs(queue_store)}
    assert states == {"a": JobState.DONE, "b": JobState.WAITING}


def test_busy_shop(
    queue_settings: Settings, queue_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shop that another machine runs waits for it, which is no failure."""
    started = replace_runs(monkeypatch, "print('done')")
    shop = queue_store.shop("a")
    shop_jobs.enqueue(queue_store, shop)
    elsewhere = queue_settings.model_copy(update={"data_dir": queue_settings.data_dir / "other"})
    with shop_run.lock_shop(elsewhere, queue_store, shop, "a run"):
        _work(queue_settings, queue_store)
        (job,) = shop_jobs.list_jobs(queue_store)
        assert (job.state, job.attempts, started) == (JobState.WAITING, 0, [])
        assert job.not_before is not None
    assert job.not_before < utc_now() + timedelta(seconds=queue_settings.lease_seconds + 1)
    time.sleep(queue_settings.lease_seconds)
    _work(queue_settings, queue_store)
    assert shop_jobs.list_jobs(queue_store)[0].state == JobState.DONE


def test_lost_worker(
    queue_settings: Settings, queue_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job whose worker sends no heartbeat is queued again, and set aside if workers die of it."""
    started = replace_runs(monkeypatch, "print('done')")
    job_id = shop_jobs.enqueue(queue_store, queue_store.shop("a"))

    def lose(attempts: int) -> None:
        with queue_store.write() as session:
            connection = queue_schema.driver_connection(session)
            connection.execute("INSERT INTO procrastinate_workers VALUES (DEFAULT, '2020-01-01')")
            connection.execute(
                "UPDATE procrastinate_jobs SET status = 'doing', "
                "worker_id = (SELECT max(id) FROM procrastinate_workers)"
            )
            for _ in range(attempts):
                session.add(JobAttempt(job_id=job_id, shop_id=1, kind="run", worker="lost:1"))

    lose(1)
    sender = _signal_when(lambda: bool(started), signal.SIGTERM)
    _work(queue_settings, queue_store, drains=False)
    sender.join()
    assert [outcome for outcome, _ in _attempts(queue_store)] == [
        AttemptOutcome.WORKER_LOST,
        AttemptOutcome.DONE,
    ]
    lose(2)
    is_set_aside = lambda: shop_jobs.list_jobs(queue_store)[0].state == JobState.SET_ASIDE  # noqa: E731
    sender = _signal_when(is_set_aside, signal.SIGTERM)
    _work(queue_settings, queue_store, drains=False)
    sender.join()
    (job,) = shop_jobs.list_jobs(queue_store)
    assert (job.state, job.reason) == (
        JobState.SET_ASIDE,
        "its worker has ended, or cannot be reached",
    )
    assert len(started) == 1


def test_taken_over_job(
    queue_settings: Settings,
    queue_store: Store,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A worker that stood still, and lost its job to another one, does not change it afterwards."""
    # The run ends once its job is taken over, on a busy machine too.
    taken_over = tmp_path / "taken-over"
    started = replace_runs(
        monkeypatch,
        "import pathlib, time\n"
        f"while not pathlib.Path({str(taken_over)!r}).exists(): time.sleep(0.05)\n"
        "raise SystemExit(1)",
    )
    shop_jobs.enqueue(queue_store, queue_store.shop("a"))

    def take_over() -> bool:
        if not started:
            return False
        with queue_store.write() as session:
            queue_schema.driver_connection(session).execute(
                "WITH other AS (INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id) "
                "UPDATE procrastinate_jobs SET worker_id = (SELECT id FROM other)"
            )
        taken_over.touch()
        return True

    sender = _signal_when(take_over, signal.SIGTERM)
    _work(queue_settings, queue_store, drains=False)
    sender.join()
    (job,) = shop_jobs.list_jobs(queue_store)
    assert job.state == JobState.RUNNING


def test_ended_by_request(
    queue_settings: Settings, queue_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that somebody has ended is not tried again; one over its memory has failed."""
    shop = queue_store.shop("a")
    name = shop_jobs.shop_lock(shop)
    runner = job_runner.JobRunner(queue_settings, queue_store, [])
    ended = RunResult(128 + signal.SIGTERM)
    assert runner._judge(shop, ended)[0] == AttemptOutcome.HANDED_BACK
    excess = RunResult(128 + signal.SIGTERM, "the run used 5000 MB", over_memory=True)
    assert runner._judge(shop, excess) == (AttemptOutcome.FAILED, "the run used 5000 MB")
    with shop_run.lock_shop(queue_settings, queue_store, shop, "a run"):
        assert lease_table.request_end(queue_store, name)
    assert runner._judge(shop, ended)[0] == AttemptOutcome.ENDED
    lease_table.clear_end_request(queue_store, name)
    assert runner._judge(shop, ended)[0] == AttemptOutcome.HANDED_BACK


def test_lost_connections(
    queue_settings: Settings, queue_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker whose connections are cut, as by a restart of the database, goes on by itself."""
    started = replace_runs(monkeypatch, "print('done')")
    monkeypatch.setattr(worker_module, "RECONNECT_PAUSE", 0.2)

    def cut_and_enqueue() -> bool:
        if shop_jobs.count_workers(queue_store, 60) and not shop_jobs.list_jobs(queue_store):
            with queue_store.write() as session:
                queue_schema.driver_connection(session).execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE pid <> pg_backend_pid() AND datname = current_database()"
                )
            shop_jobs.enqueue(queue_store, queue_store.shop("a"))
        jobs = shop_jobs.list_jobs(queue_store)
        return bool(jobs) and jobs[0].state == JobState.DONE

    sender = _signal_when(cut_and_enqueue, signal.SIGTERM)
    _work(queue_settings, queue_store, drains=False)
    sender.join()
    assert len(started) == 1
    assert shop_jobs.list_jobs(queue_store)[0].state == JobState.DONE
