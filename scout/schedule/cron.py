"""Cron expressions in local time, evaluated by cronsim as Debian's cron does (crontab(5)).

Around a change of the clock a plan for a fixed time runs once: in the hour that is set back at its
first occurrence, and for a time that is skipped at the first minute after it. Plans with `*` as
minute or hour follow real time.
"""

from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from apscheduler.triggers.base import BaseTrigger
from cronsim import CronSim, CronSimError
from tzlocal import get_localzone

from catalog.errors import UsageError

if TYPE_CHECKING:
    from catalog.models import Schedule

NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
"""Expressions with a name in crontab(5); cronsim knows fields only."""

FIELDS = {
    "minute": "0 to 59",
    "hour": "0 to 23",
    "day-of-month": "1 to 31, in one of the months given",
    "month": "1 to 12, or jan to dec",
    "day-of-week": "0 to 7 (0 and 7 are Sunday), or sun to sat",
}
"""The five fields, in order, with their values. cronsim would take a sixth, for seconds."""


class CronExpression(BaseTrigger):  # type: ignore[misc]
    """A valid cron expression, usable as a trigger of APScheduler.

    `text` is the expression as given.

    APScheduler's own `CronTrigger.from_crontab` counts weekdays from Monday, requires both where
    day of month and day of week are given, and runs a plan twice in an hour that is set back.
    """

    def __init__(self, text: str, zone: tzinfo | None = None) -> None:
        """Check the expression; `zone` is the local time zone unless given. Raises UsageError."""
        self.text = text
        self.zone = get_localzone() if zone is None else zone
        self._fields = NICKNAMES.get(text.strip().lower(), text)
        if len(self._fields.split()) != len(FIELDS):
            raise _invalid(text, f"it has to have five fields: {' '.join(FIELDS)}")
        try:
            CronSim(self._fields, datetime.now(self.zone))
        except CronSimError as error:
            # cronsim names the field only: "Bad day-of-week".
            field = str(error).removeprefix("Bad ")
            values = FIELDS.get(field, "valid")
            raise _invalid(text, f"the {field} has to be {values}") from error
        except ValueError as error:
            # A number of more than 4300 digits, Python's limit for int().
            raise _invalid(text, "a number is too long") from error

    @property
    def has_fixed_time(self) -> bool:
        """Return True for a plan at times of day, False for one that follows real time."""
        minute, hour, *_ = self._fields.split()
        return not (minute.startswith("*") or hour.startswith("*"))

    def next_time(self, after: datetime) -> datetime | None:
        """Return the first time after a moment, in `zone`; None if none within 50 years."""
        # cronsim computes in wall-clock time: asked in the repeated hour, it may name a time of the
        # hour before. Times are compared in UTC, because datetimes of one zone compare by the
        # clock.
        for moment in CronSim(self._fields, after.astimezone(self.zone)):
            if moment.astimezone(UTC) > after:
                return moment
        return None

    def get_next_fire_time(
        self, previous_fire_time: datetime | None, now: datetime
    ) -> datetime | None:
        """Return the next time for APScheduler.

        It is in UTC, so that it compares correctly while the clock is set back.
        """
        moment = self.next_time(previous_fire_time or now)
        return None if moment is None else moment.astimezone(UTC)


def next_time(text: str, after: datetime) -> datetime | None:
    """Return when an expression fires next in local time; None for never. Raises UsageError.

    >>> next_time("@yearly", datetime(2026, 5, 1, 12, tzinfo=UTC)).strftime("%d %B %Y, %H:%M")
    '01 January 2027, 00:00'
    """
    return CronExpression(text).next_time(after)


def next_times(text: str, after: datetime, count: int) -> list[datetime]:
    """Return the next times of an expression in local time, at most `count`. Raises UsageError.

    >>> [moment.day for moment in next_times("0 3 * * 1", datetime(2026, 5, 1, tzinfo=UTC), 2)]
    [4, 11]
    """
    expression = CronExpression(text)
    times: list[datetime] = []
    moment = expression.next_time(after)
    while moment is not None and len(times) < count:
        times.append(moment)
        moment = expression.next_time(moment.astimezone(UTC))
    return times


def planned_times(schedule: "Schedule", after: datetime, count: int) -> list[datetime]:
    """Return the next times of a stored plan, at most `count`; none while it is paused.

    An expression of an earlier version that cannot be used any more never runs.
    """
    if schedule.is_paused:
        return []
    try:
        return next_times(schedule.cron, after, count)
    except UsageError:
        return []


def _invalid(text: str, reason: str) -> UsageError:
    return UsageError(f"{text!r} is no cron expression: {reason} (an example: '30 5 * * 1-5')")
