"""Work that is done again and again, and a clock that is set meanwhile."""

import threading

import pytest

from scout.schedule import repetition
from scout.schedule.repetition import CLOCK_CHANGE, ClockWatch, Repetition


def test_errors_do_not_end_a_repetition(caplog: pytest.LogCaptureFixture) -> None:
    """A call that fails is logged, and the next one follows; after `stop` there are none."""
    calls: list[int] = []
    has_repeated = threading.Event()

    def work() -> None:
        calls.append(len(calls))
        if len(calls) == 1:
            raise ValueError("no answer")
        has_repeated.set()

    repeated = Repetition("refresh", work, 0.001, 0)
    repeated.start()
    assert has_repeated.wait(10)
    repeated.stop()
    count = len(calls)
    assert "repeated work has failed" in caplog.text
    assert len(calls) == count


def test_a_repetition_may_be_stopped_before_it_starts() -> None:
    """As where the start of a server fails half-way."""
    Repetition("refresh", lambda: None, 1, 0).stop()


@pytest.mark.parametrize(
    ("moved", "expected"), [(0, 0), (CLOCK_CHANGE / 2, 0), (7_200, 7_200), (-7_200, -7_200)]
)
def test_a_clock_that_is_set_is_noticed_once(
    moved: float, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small corrections are not: clocks are corrected all the time."""
    offset = repetition._clock_offset()
    watch = ClockWatch()
    monkeypatch.setattr(repetition, "_clock_offset", lambda: offset + moved)
    assert watch.change() == pytest.approx(expected, abs=1)
    assert watch.change() == 0
