"""Metrics of pending work: pages in the frontiers of all shops, and jobs of workers.

Jobs are read from the tables of Procrastinate, where the database has them. Table and column names
are those of its schema, version 3.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client.core import Metric
from sqlalchemy import inspect, text
from sqlmodel import Session

from catalog.models import PageState
from scout.metrics.gauges import Samples, make_gauge

JOB_TABLE = "procrastinate_jobs"

# States of pages that a crawl has not settled yet.
_OPEN_STATES = (PageState.PENDING, PageState.LEASED)

# Finished jobs are not counted: their number grows for ever.
_COUNT_JOBS = text(
    "SELECT queue_name, CAST(status AS text), count(*) FROM procrastinate_jobs "
    "WHERE status IN ('todo', 'doing', 'failed') GROUP BY queue_name, status"
)
_OLDEST_JOB = text(
    "SELECT min(extract(epoch FROM events.at)) FROM procrastinate_events AS events "
    "JOIN procrastinate_jobs AS jobs ON jobs.id = events.job_id "
    "WHERE jobs.status = 'todo' AND events.type IN ('deferred', 'deferred_for_retry')"
)
_LIVE_WORKERS = text(
    "SELECT count(*) FROM procrastinate_workers "
    "WHERE last_heartbeat > now() - interval '60 seconds'"
)


def frontier_metric(page_counts: Mapping[tuple[str, ...], float]) -> Metric:
    """Return the open pages of all shops by state, given the pages by (shop, state)."""
    samples: Samples = {(str(state),): 0 for state in _OPEN_STATES}
    for (_, state), count in page_counts.items():
        if (state,) in samples:
            samples[state,] += count
    return make_gauge(
        "scout_frontier_pages", "Pages of all shops that are to be fetched.", ("state",), samples
    )


def job_metrics(session: Session) -> Iterator[Metric]:
    """Yield the jobs of workers by queue and status, and the workers that are alive.

    Without a queue of jobs in the database the metrics have no samples.
    """
    jobs: Samples = {}
    oldest: Samples = {}
    workers: Samples = {}
    connection = session.connection()
    if inspect(connection).has_table(JOB_TABLE):
        for queue, status, count in connection.execute(_COUNT_JOBS):
            jobs[queue, status] = count
        workers[()] = connection.execute(_LIVE_WORKERS).scalar() or 0
        waiting_since: Any = connection.execute(_OLDEST_JOB).scalar()
        if waiting_since is not None:
            oldest[()] = float(waiting_since)
    yield make_gauge(
        "scout_jobs", "Jobs of workers that wait, run or have failed.", ("queue", "status"), jobs
    )
    description = "When the job that waits longest was enqueued."
    yield make_gauge("scout_jobs_waiting_since_timestamp_seconds", description, (), oldest)
    description = "Workers that have reported within the last minute."
    yield make_gauge("scout_workers", description, (), workers)
