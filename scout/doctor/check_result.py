"""The result of one check of the doctor."""

from dataclasses import dataclass
from typing import Literal

CheckState = Literal["ok", "note", "wrong"]


@dataclass(frozen=True)
class CheckResult:
    """The result of one check: `wrong` has to be repaired, `note` is good to know.

    The message of both says what to do.
    """

    check: str
    state: CheckState
    message: str

    def as_json(self) -> dict[str, str]:
        """Convert to the object that `scout doctor --json` prints."""
        return {"check": self.check, "state": self.state, "found": self.message}
