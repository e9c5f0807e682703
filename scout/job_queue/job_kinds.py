"""Kinds of jobs on a shop, and the commands of `scout` that do them."""

from collections.abc import Mapping
from enum import StrEnum


class JobKind(StrEnum):
    """Kinds of jobs: the command of `scout` that does each."""

    RUN = "run"
    LEARN = "learn"
    IMPORT = "import"


COMMANDS: Mapping[JobKind, tuple[str, ...]] = {
    JobKind.RUN: ("run",),
    JobKind.LEARN: ("learn",),
    JobKind.IMPORT: ("catalog", "import"),
}


def stage_purpose(stage: str) -> str:
    """Return the purpose of a lease for one stage of a shop."""
    return f"its stage {stage!r}"


PURPOSES: Mapping[JobKind, str] = {
    JobKind.RUN: "a run",
    JobKind.LEARN: stage_purpose("learn"),
    JobKind.IMPORT: "an import",
}
"""The purpose of the lease that each job holds on its shop."""

QUEUED_KINDS = (JobKind.RUN, JobKind.LEARN)
"""Kinds that any worker can do; an import may read a file of the machine that was asked for it."""
