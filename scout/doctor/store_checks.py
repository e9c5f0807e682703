"""Checks of the store: database, schema, page bodies, runs; and of the clock, beside the database's."""

import sqlite3
import time
from collections.abc import Iterator

from sqlalchemy import Connection, make_url, text
from sqlmodel import func, select

from catalog.errors import ScoutError
from catalog.models import Run, RunState, Shop, utc_now
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.leases import lease_table
from catalog.storage.leases.fence import describe_holder
from catalog.storage.store import Store, newest_revision
from scout.doctor.check_result import CheckResult
from scout.pipeline import locks

MIN_POSTGRESQL = 13
"""Oldest PostgreSQL supported."""

MIN_SQLITE = (3, 35)
"""Oldest SQLite supported: the first with RETURNING."""

MAX_SKEW = 5.0
"""Seconds between the clocks of this machine and of the database: leases last a minute or more."""


def check_database(settings: Settings) -> Iterator[CheckResult]:
    """Check that the database is reached, its version, its schema and its clock."""
    try:
        store = Store.open(settings)
    except (ScoutError, ImportError) as error:
        yield CheckResult("database", "wrong", str(error))
        return
    url = make_url(settings.database).render_as_string(hide_password=True)
    yield CheckResult("database", "ok", url)
    yield CheckResult("migrations", "ok", f"schema {newest_revision()}, the newest")
    with store.engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            yield _check_sqlite()
            return
        yield _check_postgresql(connection)
        yield _check_clock(connection)


def _check_sqlite() -> CheckResult:
    installed = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info >= MIN_SQLITE:
        return CheckResult("database version", "ok", f"SQLite {installed}")
    oldest = ".".join(map(str, MIN_SQLITE))
    message = f"SQLite {installed}: Scout needs {oldest}; install a newer Python"
    return CheckResult("database version", "wrong", message)


def _check_postgresql(connection: Connection) -> CheckResult:
    number = int(str(connection.execute(text("SHOW server_version_num")).scalar()))
    found = f"PostgreSQL {number // 10_000}.{number % 10_000}"
    if number // 10_000 >= MIN_POSTGRESQL:
        return CheckResult("database version", "ok", found)
    message = f"{found}: Scout needs {MIN_POSTGRESQL} or newer; upgrade the server"
    return CheckResult("database version", "wrong", message)


def _check_clock(connection: Connection) -> CheckResult:
    before = time.time()
    of_database = connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar()
    # The time of the answer lies between the two readings of this clock.
    here = (before + time.time()) / 2
    skew = float(of_database or 0) - here
    if abs(skew) <= MAX_SKEW:
        return CheckResult("clock", "ok", f"{skew:+.1f} s from the database's")
    message = (
        f"{skew:+.0f} s from the database's: leases and schedules go wrong; set both clocks by NTP"
    )
    return CheckResult("clock", "wrong", message)


def check_bodies(settings: Settings) -> Iterator[CheckResult]:
    """Check that page bodies can be written and read."""
    probe = b"scout doctor was here"
    try:
        bodies = BodyStore(settings.bodies)
        is_intact = bodies.get(bodies.put(probe)) == probe
    except (ScoutError, OSError, ValueError, ImportError) as error:
        yield CheckResult("page bodies", "wrong", f"{settings.bodies}: {error}")
        return
    yield CheckResult("page bodies", "ok" if is_intact else "wrong", settings.bodies)


def check_runs(settings: Settings) -> Iterator[CheckResult]:
    """Check for runs that are unfinished, or lie in the future."""
    try:
        store = Store.open(settings)
        with store.read() as session:
            leases = lease_table.read_held(session, lease_table.SHOP_PREFIX)
            query = select(Shop, Run).where(Run.state == RunState.RUNNING, Run.shop_id == Shop.id)
            unfinished = list(session.exec(query))
            newest = session.exec(select(func.max(Run.started_at))).one()
    except (ScoutError, ImportError):
        # The check of the database has reported it already.
        return
    if newest is not None and newest > utc_now():
        message = f"the newest run began at {newest:%Y-%m-%d %H:%M} UTC, which is yet to come: "
        yield CheckResult("clock", "wrong", message + "set the clock of this machine by NTP")
    for shop, run in unfinished:
        label = f"run {run.id} of {shop.name} ({run.stage})"
        lease = leases.get(lease_table.shop_lease(run.shop_id))
        if lease is not None and locks.is_alive(settings, lease):
            yield CheckResult("runs", "ok", f"{label} is under way, {describe_holder(lease)}")
        else:
            message = f"{label} is unfinished: 'scout run {shop.name}' resumes it"
            yield CheckResult("runs", "note", message)
    if not unfinished:
        yield CheckResult("runs", "ok", f"none unfinished, {len(leases)} shops in use")
