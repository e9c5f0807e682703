"""The runs of a shop: the last finished one, which every figure is of, and the one under way.

A run is finished when it is done. Failed and abandoned runs have no figures, and those of a run
under way are not complete.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlmodel import Session, col, func, select

from catalog.models import Run, RunState

PRUNED = "pruned"
"""Key of a run's figures: set where its findings and matches are gone (`scout db prune`)."""


@dataclass(frozen=True)
class ShopRuns:
    """A shop's last finished run, and its newest run; None where there is none.

    The newest run is the finished one, one under way, or one that failed. Abandoned runs do not
    count.
    """

    finished: Run | None = None
    newest: Run | None = None

    @property
    def under_way(self) -> Run | None:
        """The newest run if it has not ended, else None."""
        if self.newest is None or self.newest.state != RunState.RUNNING:
            return None
        return self.newest

    @property
    def failed(self) -> Run | None:
        """The newest run if it failed, else None."""
        if self.newest is None or self.newest.state != RunState.FAILED:
            return None
        return self.newest


def is_pruned(run: Run) -> bool:
    """Return True if the findings and matches of a run were removed; its counts stay."""
    return PRUNED in run.figures


def read_shop_runs(session: Session, shop_id: int) -> ShopRuns:
    """Read the last finished run and the newest run of a shop."""
    runs = select(Run).where(Run.shop_id == shop_id, col(Run.state) != RunState.ABANDONED)
    newest = session.exec(runs.order_by(col(Run.id).desc()).limit(1)).first()
    if newest is None or newest.state == RunState.DONE:
        return ShopRuns(newest, newest)
    return ShopRuns(last_finished_run(session, shop_id), newest)


def last_finished_run(session: Session, shop_id: int, before: int | None = None) -> Run | None:
    """Return the shop's last finished run (`before` the run with that id), or None."""
    runs = select(Run).where(Run.shop_id == shop_id, Run.state == RunState.DONE)
    if before is not None:
        runs = runs.where(col(Run.id) < before)
    return session.exec(runs.order_by(col(Run.id).desc()).limit(1)).first()


def last_finished_run_ids(session: Session) -> Sequence[int]:
    """Return the ids of the last finished runs of all shops."""
    newest = select(func.max(Run.id)).where(Run.state == RunState.DONE)
    ids = session.exec(newest.group_by(col(Run.shop_id)))
    return [run_id for run_id in ids if run_id is not None]
