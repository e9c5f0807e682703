"""Cron expressions of five fields, read as crontab(5) reads them.

APScheduler's own `CronTrigger.from_crontab` does not: it counts weekdays from Monday (`0 6 * * 0` would mean Mondays),
and where day of month and day of week are both given it asks for both, while cron asks for either.
"""

from datetime import datetime

from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.combining import OrTrigger
from apscheduler.triggers.cron import CronTrigger

from catalog.errors import UsageError

DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
SHORT = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
}


def trigger(text: str) -> BaseTrigger:
    """When that expression fires, in local time. Raises UsageError.

    >>> str(trigger("0 6 * * 1-5"))
    "cron[month='*', day='*', day_of_week='mon,tue,wed,thu,fri', hour='6', minute='0']"
    """
    fields = SHORT.get(text.strip().lower(), text).split()
    if len(fields) != 5:
        raise _bad(text, "it has to have five fields: minute hour day-of-month month day-of-week")
    minute, hour, day, month, weekday = fields
    try:
        if day != "*" and weekday != "*":
            by_day = _cron(minute, hour, day, month, "*")
            return OrTrigger([by_day, _cron(minute, hour, "*", month, weekdays(weekday))])
        return _cron(minute, hour, day, month, weekdays(weekday))
    except ValueError as error:
        raise _bad(text, str(error)) from error


def next_time(text: str, after: datetime) -> datetime | None:
    """When the expression fires next after a moment. Raises UsageError."""
    found: datetime | None = trigger(text).get_next_fire_time(None, after)
    return found


def weekdays(field: str) -> str:
    """The weekday field by names, since numbers mean other days to APScheduler. Raises ValueError.

    >>> weekdays("0"), weekdays("1-5"), weekdays("sat,7"), weekdays("*/2"), weekdays("fri-mon")
    ('sun', 'mon,tue,wed,thu,fri', 'sun,sat', 'sun,tue,thu,sat', 'sun,mon,fri,sat')
    """
    if field == "*":
        return field
    chosen = {day for part in field.lower().split(",") for day in _days(part)}
    return ",".join(DAYS[day] for day in sorted(chosen))


def _days(part: str) -> list[int]:
    span, _, step = part.partition("/")
    first, _, last = span.partition("-")
    start, end = (0, 6) if span == "*" else (_day(first), _day(last or first))
    if step and not last and span != "*":
        end = 6
    if (step and not step.isdigit()) or step == "0":
        raise ValueError(f"{part!r} has no number of days after '/'")
    if end < start:
        end += 7
    return [day % 7 for day in range(start, end + 1, int(step or 1))]


def _day(text: str) -> int:
    if text in DAYS:
        return DAYS.index(text)
    if text.isdigit() and int(text) <= 7:
        return int(text)
    raise ValueError(f"{text!r} is no day of the week: 0 to 7 (0 and 7 are Sunday), or sun to sat")


def _cron(minute: str, hour: str, day: str, month: str, weekday: str) -> CronTrigger:
    return CronTrigger(minute=minute, hour=hour, day=day, month=month, day_of_week=weekday)


def _bad(text: str, why: str) -> UsageError:
    return UsageError(
        f"{text!r} is no cron expression: {' '.join(why.split())} (an example: '30 5 * * 1-5')"
    )
