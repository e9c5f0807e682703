"""Jobs of a worker in the queue: it ends and hands back only those that are still its own.

Where a worker stands still and sends no heartbeat, another one takes over its jobs. When the first
goes on, Procrastinate would store the end of its attempt (3.10 looks at the job's state, not at its
worker), and queue a job once more that the other worker is running.
"""

import logging
from datetime import datetime

from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager

log = logging.getLogger("scout.workers")

# A worker that is lost is deleted after a time, and its jobs then have none.
_IS_OWNED = """
SELECT count(*) AS owned FROM procrastinate_jobs
WHERE id = %(job_id)s AND status = 'doing'
  AND (worker_id IS NULL OR worker_id = %(worker_id)s::bigint)
"""


class OwnedJobs(JobManager):
    """Procrastinate's functions for jobs, without effect on a job that another worker has."""

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """Store the end of a job, unless another worker has taken it over."""
        if await self._is_owned(job):
            await super().finish_job(job, status, delete_job)

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """Hand a job back to the queue, unless another worker has taken it over."""
        if await self._is_owned(job):
            await super().retry_job(job, retry_at, priority, queue, lock)

    async def _is_owned(self, job: Job) -> bool:
        row = await self.connector.execute_query_one_async(
            _IS_OWNED, job_id=job.id, worker_id=job.worker_id
        )
        if row["owned"]:
            return True
        log.warning(
            "a job was taken over by another worker: its end here is not stored",
            extra={"job": job.id, "lock": job.lock},
        )
        return False
