"""Fences: every write of a lease's holder checks in its transaction that the lease is still held.

A process that was stopped or cut off for longer than its lease lasts does not know that another one
has taken its place (M. Kleppmann, "How to do distributed locking", 2016). So a lease has a token
that grows with each holder, and a write with an earlier token is refused.

On PostgreSQL the check locks the lease's row in a mode (`FOR KEY SHARE`) that holds off the next
holder until the transaction ends, but not the renewals of the lease. It also gives the session a
name: the next holder ends the sessions of a lost one, whose transactions would stay open as long as
their machine is stopped. On SQLite a transaction that writes excludes all others already.
"""

import time
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import text
from sqlmodel import Session, col, select, update

from catalog.errors import LeaseLost
from catalog.models import Lease, utc_now

_CHECKS = {
    "postgresql": text(
        "SELECT token, set_config('application_name', :label, true) FROM lease "
        "WHERE name = :name FOR KEY SHARE"
    ),
    "sqlite": text("SELECT token, :label FROM lease WHERE name = :name"),
}
# Share of a lease's duration after which a transaction on SQLite renews the lease itself.
_LONG_TRANSACTION = 0.1


@dataclass(frozen=True)
class Fence:
    """The name of a lease, its holder's token, and the seconds for which a renewal holds.

    `subject` names the shop, or the like, in messages: "shop 'demo'".
    """

    name: str
    token: int
    seconds: float
    subject: str

    @property
    def label(self) -> str:
        """The name of the database sessions that write by this token (`application_name`)."""
        return f"scout {self.name} {self.token}"

    def check(self, session: Session) -> None:
        """Raise LeaseLost unless the lease is held by this token.

        It stays held until the session's transaction ends.
        """
        dialect = session.get_bind().dialect.name
        values = {"name": self.name, "label": self.label}
        row = session.connection().execute(_CHECKS[dialect], values).first()
        if row is None or row.token != self.token:
            raise LeaseLost(self._lost_message(session))

    def renew_after(self, session: Session, begun: float) -> None:
        """Renew the lease at the end of a long transaction; `begun` is its `time.monotonic()`.

        On SQLite nothing else can renew it meanwhile.
        """
        is_long = time.monotonic() - begun > self.seconds * _LONG_TRANSACTION
        if not is_long or session.get_bind().dialect.name != "sqlite":
            return
        now = utc_now()
        lease = update(Lease).where(col(Lease.name) == self.name)
        session.exec(lease.values(renewed_at=now, expires_at=now + timedelta(seconds=self.seconds)))

    def _lost_message(self, session: Session) -> str:
        holder = session.exec(select(Lease).where(Lease.name == self.name)).first()
        taken = f"taken over {describe_holder(holder)}" if holder is not None else "removed"
        return (
            f"{self.subject} was {taken}: this run was stopped or cut off for more than "
            f"{self.seconds:g} seconds and has lost its lease; nothing was stored since then"
        )


def describe_holder(lease: Lease) -> str:
    """Describe the holder of a lease for a message: its process, machine and start."""
    start = f"{lease.acquired_at:%Y-%m-%d %H:%M:%S} UTC" if lease.acquired_at else "a while"
    end = ", which has ended" if lease.expires_at is None else ""
    return f"by process {lease.process_id} on {lease.host} since {start}{end}"
