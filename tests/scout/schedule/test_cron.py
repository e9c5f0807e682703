"""Cron expressions: weekdays, nicknames, refusals, and changes of the clock."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.errors import UsageError
from scout.schedule.cron import CronExpression

BERLIN = ZoneInfo("Europe/Berlin")
MONDAY = datetime(2026, 11, 16, tzinfo=BERLIN)
SET_FORWARD = datetime(
    2026, 3, 28, 12, tzinfo=BERLIN
)  # the clock goes from 2 to 3 in the next night
SET_BACK = datetime(
    2026, 10, 24, 12, tzinfo=BERLIN
)  # the clock goes from 3 back to 2 in the next night


def _times(text: str, start: datetime, span: timedelta) -> list[datetime]:
    """Return the times of an expression within a span of real time."""
    expression, moment, times = CronExpression(text, BERLIN), start, []
    end = start.astimezone(UTC) + span
    while (moment := expression.next_time(moment)) and moment.astimezone(UTC) <= end:
        times.append(moment)
    return times


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("0 12 * * 0", ["Sun"]),
        ("0 12 * * 7", ["Sun"]),
        ("0 12 * * 1-5", ["Mon", "Tue", "Wed", "Thu", "Fri"]),
        ("0 12 * * sat,0", ["Sat", "Sun"]),
        ("0 12 * * */3", ["Wed", "Sat", "Sun"]),
        ("0 12 18 * 5", ["Wed", "Fri"]),
        ("@daily", ["Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Mon"]),
    ],
)
def test_weekdays(text: str, days: list[str]) -> None:
    """Weekdays are counted from Sunday; day of month and day of week are alternatives."""
    times = _times(text, MONDAY, timedelta(days=7))
    assert [moment.strftime("%a") for moment in times] == days


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("@hourly", "2026-11-16 01:00"),
        ("@daily", "2026-11-17 00:00"),
        ("@midnight", "2026-11-17 00:00"),
        ("@weekly", "2026-11-22 00:00"),
        ("@monthly", "2026-12-01 00:00"),
        ("@yearly", "2027-01-01 00:00"),
        ("@annually", "2027-01-01 00:00"),
        (" @Daily ", "2026-11-17 00:00"),
    ],
)
def test_nicknames(text: str, first: str) -> None:
    """The nicknames of crontab(5) stand for five fields, in upper or lower case."""
    moment = CronExpression(text, BERLIN).next_time(MONDAY)
    assert moment is not None
    assert moment.strftime("%Y-%m-%d %H:%M") == first


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("soon", "it has to have five fields: minute hour day-of-month month day-of-week"),
        ("", "it has to have five fields"),
        ("@reboot", "it has to have five fields"),
        ("0 0 5 * * *", "it has to have five fields"),
        ("60 5 * * *", "the minute has to be 0 to 59"),
        ("0 24 * * *", "the hour has to be 0 to 23"),
        ("*/0 5 * * *", "the minute has to be 0 to 59"),
        ("0 5 30 2 *", "the day-of-month has to be 1 to 31, in one of the months given"),
        ("0 5 * 13 *", "the month has to be 1 to 12, or jan to dec"),
        ("0 5 * * 9", "the day-of-week has to be 0 to 7 (0 and 7 are Sunday), or sun to sat"),
        ("0 5 * * fri-mon", "the day-of-week has to be"),
        (f"{'9' * 5000} 5 * * *", "a number is too long"),
    ],
)
def test_refusals(text: str, reason: str) -> None:
    """An invalid expression is refused with one line that has the reason and an example."""
    with pytest.raises(UsageError) as refusal:
        CronExpression(text)
    message = str(refusal.value)
    assert message.startswith(f"{text!r} is no cron expression: {reason}")
    assert message.endswith("(an example: '30 5 * * 1-5')")
    assert "\n" not in message


@given(st.text(alphabet="0123456789*/-, monsunfriL#@", max_size=30))
def test_any_text(text: str) -> None:
    """Any text is either a cron expression or a UsageError."""
    with suppress(UsageError):
        moment = CronExpression(text, BERLIN).next_time(MONDAY)
        assert moment is None or moment > MONDAY


@pytest.mark.parametrize("text", ["0 2 * * *", "30 2 * * *", "15,45 2 * * *", "@daily"])
@pytest.mark.parametrize("eve", [SET_BACK, SET_FORWARD])
def test_nightly_plans_run_on_every_night(text: str, eve: datetime) -> None:
    """A nightly plan has its usual number of times while the clock is changed, or they merge."""
    usual = len(_times(text, MONDAY, timedelta(days=1)))
    changed = _times(text, eve, timedelta(days=1))
    assert len(changed) == (1 if eve is SET_FORWARD else usual)


def test_hour_set_back() -> None:
    """A plan in the hour that is set back runs at its first occurrence, not at the second."""
    first, second = _times("30 2 * * *", SET_BACK, timedelta(days=2))
    assert first.isoformat() == "2026-10-25T02:30:00+02:00"
    assert second.isoformat() == "2026-10-26T02:30:00+01:00"


def test_asked_within_the_repeated_hour() -> None:
    """In the second occurrence of the hour, the next time is in the next night."""
    expression = CronExpression("30 2 * * *", BERLIN)
    repeated = datetime(2026, 10, 25, 2, 10, tzinfo=BERLIN, fold=1)
    moment = expression.next_time(repeated)
    assert moment is not None
    assert moment.isoformat() == "2026-10-26T02:30:00+01:00"


def test_hour_set_forward() -> None:
    """A plan at a skipped time runs at the first minute after it."""
    first, second = _times("30 2 * * *", SET_FORWARD, timedelta(days=2))
    assert first.isoformat() == "2026-03-29T03:00:00+02:00"
    assert second.isoformat() == "2026-03-30T02:30:00+02:00"


@pytest.mark.parametrize("eve", [SET_BACK, SET_FORWARD])
def test_hourly_plans_follow_real_time(eve: datetime) -> None:
    """An hourly plan runs every 60 minutes, also while the clock is changed."""
    times = [moment.astimezone(UTC) for moment in _times("@hourly", eve, timedelta(days=1))]
    assert {later - earlier for earlier, later in pairwise(times)} == {timedelta(hours=1)}
    assert len(times) == 24


@pytest.mark.parametrize("eve", [SET_BACK, SET_FORWARD])
def test_trigger(eve: datetime) -> None:
    """As a trigger of APScheduler a nightly plan fires once in the night of a clock change."""
    trigger, fired = CronExpression("30 2 * * *", BERLIN), []
    previous, clock = None, eve.astimezone(UTC)
    due = trigger.get_next_fire_time(previous, clock)
    # The scheduler's loop, a minute at a time.
    while clock < eve.astimezone(UTC) + timedelta(days=1):
        clock += timedelta(minutes=1)
        if due <= clock:
            fired.append(due)
            previous, due = due, trigger.get_next_fire_time(due, clock)
    assert len(fired) == 1
    assert due > fired[0]
    assert due.utcoffset() == timedelta(0)
