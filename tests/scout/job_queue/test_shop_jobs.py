"""The queue: a shop has one open job, jobs are listed with their reasons, cancelled and retried."""

import json
import threading
from importlib.metadata import version

import pytest
from sqlmodel import select

from catalog.errors import Busy, ConfigError, UsageError
from catalog.models import AttemptOutcome, QueueSchema, Role, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.job_queue import job_attempts, queue_schema, shop_jobs
from scout.job_queue.job_kinds import JobKind
from scout.job_queue.shop_jobs import JobState
from tests.scout.conftest import Scout, web_client


def test_enqueue(queue_store: Store) -> None:
    """A shop is queued once, by whoever asks first; jobs stand in the order of their priority."""
    shop = queue_store.shop("a")
    added: list[int] = []

    def add() -> None:
        try:
            added.append(shop_jobs.enqueue(queue_store, shop, options=["--full"]))
        except Busy:
            return

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(added) == 1
    with pytest.raises(Busy, match=r"shop 'a' has job \d+ already, which is waiting"):
        shop_jobs.enqueue(queue_store, shop)
    shop_jobs.enqueue(queue_store, queue_store.shop("b"), JobKind.LEARN, priority=10)
    jobs = shop_jobs.list_jobs(queue_store)
    assert [(job.shop, job.kind, job.state, job.priority) for job in jobs] == [
        ("b", "learn", JobState.WAITING, 10),
        ("a", "run", JobState.WAITING, 0),
    ]
    assert shop_jobs.count_jobs(queue_store)[JobState.WAITING] == 2


def test_cancel(queue_store: Store) -> None:
    """A job that waits is cancelled, and the shop can be queued again."""
    shop = queue_store.shop("a")
    assert not shop_jobs.cancel_waiting(queue_store, shop)
    shop_jobs.enqueue(queue_store, shop)
    assert shop_jobs.cancel_waiting(queue_store, shop)
    newest = shop_jobs.newest_job(queue_store, shop)
    assert newest is not None
    assert newest.state == JobState.CANCELLED
    shop_jobs.enqueue(queue_store, shop)


def test_cancel_lost(queue_settings: Settings, queue_store: Store, scout: Scout) -> None:
    """A job under way is cancelled if its worker reports no more; that of a live worker is not."""
    shop = queue_store.shop("a")
    job_id = shop_jobs.enqueue(queue_store, shop)
    job_attempts.begin_attempt(queue_store, job_id, shop.id or 0, JobKind.RUN, "m:1")
    with queue_store.write() as session:
        queue_schema.driver_connection(session).execute(
            "WITH worker AS (INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id) "
            "UPDATE procrastinate_jobs SET status = 'doing', worker_id = (SELECT id FROM worker)"
        )
    call = ["--database-url", queue_settings.database, "worker", "cancel", "a"]
    assert "neither queued nor run" in scout(*call).error
    with queue_store.write() as session:
        queue_schema.driver_connection(session).execute(
            "UPDATE procrastinate_workers SET last_heartbeat = '2020-01-01'"
        )
    assert "its worker was lost" in scout(*call).out
    assert shop_jobs.count_jobs(queue_store)[JobState.CANCELLED] == 1
    newest = shop_jobs.newest_job(queue_store, shop)
    assert newest is not None
    assert newest.reason == "its worker has ended, or cannot be reached"


def test_set_aside(queue_settings: Settings, queue_store: Store, scout: Scout) -> None:
    """A job that was set aside is shown with its reason, and queued again on request."""
    shop = queue_store.shop("a")
    with pytest.raises(UsageError, match="no job that was set aside"):
        shop_jobs.retry_set_aside(queue_store, shop)
    job_id = shop_jobs.enqueue(queue_store, shop, priority=7)
    attempt = job_attempts.begin_attempt(queue_store, job_id, shop.id or 0, JobKind.RUN, "m:1")
    reason = "no page could be read"
    job_attempts.end_attempt(queue_store, attempt, AttemptOutcome.FAILED, reason)
    with queue_store.write() as session:
        queue_schema.driver_connection(session).execute(
            "UPDATE procrastinate_jobs SET status = 'failed'"
        )
    call = ["--database-url", queue_settings.database]
    (row,) = map(json.loads, scout(*call, "worker", "jobs", "--json").out.splitlines())
    assert (row["shop"], row["state"], row["reason"]) == ("a", "set aside", reason)
    assert (row["attempts"], row["worker"]) == (1, "m:1")
    assert f"set aside: a: {reason}" in scout(*call, "status").out
    assert scout(*call, "worker", "retry", "a").code == 0
    (job,) = shop_jobs.list_jobs(queue_store)
    assert (job.state, job.priority, job.attempts) == (JobState.WAITING, 7, 0)
    assert "no longer queued" in scout(*call, "worker", "cancel", "a").out


def test_command(queue_settings: Settings, queue_store: Store, scout: Scout) -> None:
    """Shops are queued by name; one that is queued already is named, and is no error."""
    call = ["--database-url", queue_settings.database, "worker"]
    assert "2 of 2 shops queued" in scout(*call, "enqueue", "a", "b", "--priority", "3").out
    again = scout(*call, "enqueue", "b", "c")
    assert (again.code, "'b' has job" in again.out, "1 of 2" in again.out) == (0, True, True)
    assert scout(*call, "enqueue").code == 2
    assert scout(*call, "--jobs", "bake").code == 2
    assert "'brewing' is not a valid" in scout(*call, "jobs", "--state", "brewing").error


def test_schema(queue_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables are made once; scripts of a newer Procrastinate run, an older one is refused."""
    queue_schema.require_queue(queue_store)
    assert queue_schema.has_queue(queue_store)
    monkeypatch.setattr(queue_schema, "_installed_version", lambda: "9.9.9")
    queue_schema.require_queue(queue_store)
    with queue_store.read() as session:
        assert session.exec(select(QueueSchema.version)).all() == ["9.9.9"]
    monkeypatch.setattr(queue_schema, "_installed_version", lambda: "3.10.0")
    with pytest.raises(ConfigError, match=r"of Procrastinate 9\.9"):
        queue_schema.require_queue(queue_store)


def test_copied_store(queue_settings: Settings) -> None:
    """A store that was copied without its queue gets a new one, without the former attempts."""
    store = Store.open(queue_settings)
    with store.write() as session:
        shop = Shop(name="a", url="http://127.0.0.1/")
        session.add_all([shop, QueueSchema(version=version("procrastinate"))])
    job_attempts.begin_attempt(store, 1, shop.id or 0, JobKind.RUN, "m:1")
    assert not queue_schema.has_queue(store)
    job_id = shop_jobs.enqueue(store, shop)
    with store.read() as session:
        assert job_attempts.read_attempts(session, job_id) == []
    store.engine.dispose()


def test_open_attempt(store: Store, shop: Shop) -> None:
    """An attempt whose end was not stored ends with the next one, and is no failure."""
    for _ in range(2):
        job_attempts.begin_attempt(store, 1, shop.id or 0, JobKind.RUN, "m:1")
    with store.read() as session:
        former, latter = job_attempts.read_attempts(session, 1)
        assert (former.outcome, latter.outcome) == (AttemptOutcome.HANDED_BACK, None)
        assert job_attempts.count_failures(session, 1) == 0


@pytest.mark.sqlite_only
def test_sqlite(store: Store, shop: Shop, scout: Scout) -> None:
    """On SQLite there is no queue: one clear line; the status has the shops alone."""
    assert not queue_schema.has_queue(store)
    refused = scout("worker")
    assert refused.code == 1
    assert "workers need a PostgreSQL database" in refused.error
    assert json.loads(scout("status", "--json").out)["jobs"] is None


def test_control_room(queue_settings: Settings, queue_store: Store) -> None:
    """Run now queues a job, which is shown until it ends, and stop takes it out of the queue."""
    client = web_client(queue_settings, queue_store, Role.EDITOR)
    assert client.post("/api/v1/shops/a/runs", json={}).status_code == 202
    assert client.post("/api/v1/shops/a/runs", json={}).status_code == 409
    (job,) = shop_jobs.list_jobs(queue_store)
    assert (job.shop, job.priority) == ("a", shop_jobs.REQUESTED_PRIORITY)
    assert client.get("/api/v1/shops/a/job").json()["state"] == "waiting"
    assert client.get("/api/v1/work").json()["jobs"]["waiting"] == 1
    assert "Queue: 1 jobs wait" in client.get("/runs").text
    assert "Stop the run" in client.get("/shops/a/runs").text
    assert client.post("/api/v1/shops/a/stop").status_code == 204
    assert client.get("/api/v1/shops/a/job").json()["state"] == "done"
    assert client.post("/api/v1/shops/a/stop").status_code == 409
