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

PURPOSES: Mapping[JobKind, str] = {
    JobKind.RUN: "a run",
    JobKind.LEARN: "its stage 'learn'",
    JobKind.IMPORT: "an import",
}
"""What a shop is in use for while it has a job, as its lease says it."""

QUEUED_KINDS = (JobKind.RUN, JobKind.LEARN)
"""Kinds that any worker can do; an import may read a file of the machine that was asked for it."""
