"""Progress on standard error: bars on a terminal, plain lines elsewhere, or JSON lines.

A step reports its counts; speed and time left are estimated here, over the last half minute. A
crawl finds more pages as it goes and its total grows, so the time left is a lower bound.
"""

import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from catalog.runtime.progress import Progress
from scout.terminal.output import json_log_line

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

LINE_INTERVAL = 5.0
"""Seconds between two plain lines: a log of an hour's crawl stays below a thousand lines."""

RATE_WINDOW = 30.0
"""Seconds over which the speed is averaged: shorter windows jump with every slow page."""

RATE_DELAY = 2.0
"""Seconds of observations needed before a speed is given."""


@contextmanager
def show_progress(stream: TextIO | None = None, as_json: bool = False) -> Iterator[Progress]:
    """Give a Progress that displays itself on a stream until the block ends.

    Standard error by default.
    """
    out = stream or sys.stderr
    if as_json or not out.isatty():
        lines = PlainProgress(out, as_json=as_json)
        yield lines
        lines.close()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.progress import Progress as Bars

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[details]}"),
    )
    with Bars(*columns, console=Console(file=out)) as bars:
        yield RichProgress(bars)


@dataclass(frozen=True)
class ProgressUpdate:
    """The state of one counter; `rate` is per second, `left` in seconds; None if unknown."""

    counter: str
    done: int
    total: int | None = None
    also: dict[str, int] = field(default_factory=dict)
    rate: float | None = None
    left: float | None = None

    def details(self) -> str:
        """Format all but the count itself.

        >>> ProgressUpdate("pages", 8, 20, {"errors": 1}, 2.0, 6.0).details()
        '1 errors, 2.0/s, 6 s left'
        """
        parts = [f"{number} {name}" for name, number in self.also.items()]
        if self.rate is not None:
            parts.append(f"{self.rate:.1f}/s")
        if self.left is not None:
            parts.append(f"{format_duration(self.left)} left")
        return ", ".join(parts)

    def line(self) -> str:
        """Format the update as a line of text.

        >>> ProgressUpdate("pages", 8, 20).line()
        'pages: 8 of 20'
        >>> ProgressUpdate("offers", 3, None, {"errors": 0}).line()
        'offers: 3, 0 errors'
        """
        count = f"{self.counter}: {self.done}"
        if self.total is not None:
            count += f" of {self.total}"
        details = self.details()
        return f"{count}, {details}" if details else count

    def as_json(self) -> str:
        """Format the update as one JSON object, in the form of a log line."""
        figures: dict[str, object] = {
            "done": self.done,
            "total": self.total,
            **self.also,
            "rate": self.rate,
            "seconds_left": self.left,
        }
        fields: dict[str, object] = {"what": self.counter}
        fields |= {name: value for name, value in figures.items() if value is not None}
        return json_log_line("progress", fields=fields)


class RateEstimator:
    """Estimates the speed of each counter from its recent observations."""

    def __init__(self) -> None:
        self._observations: dict[str, deque[tuple[float, int]]] = {}

    def estimate(
        self, counter: str, done: int, total: int | None, also: dict[str, int]
    ) -> ProgressUpdate:
        """Record a count; return it with rate and time left as soon as they can be estimated."""
        now, observations = time.monotonic(), self._observations.setdefault(counter, deque())
        observations.append((now, done))
        while now - observations[0][0] > RATE_WINDOW:
            observations.popleft()
        since, done_before = observations[0]
        # Two observations close together, or without any progress, say nothing about the speed.
        if now - since < RATE_DELAY or done <= done_before:
            return ProgressUpdate(counter, done, total, also)
        rate = (done - done_before) / (now - since)
        left = None if total is None else round(max(total - done, 0) / rate, 1)
        return ProgressUpdate(counter, done, total, also, round(rate, 2), left)


def format_duration(seconds: float) -> str:
    """Format a time span in the unit that suits its length.

    >>> format_duration(42), format_duration(90), format_duration(5400)
    ('42 s', '2 min', '1.5 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class RichProgress:
    """A progress bar per counter."""

    def __init__(self, bars: "Bars") -> None:
        self._bars, self._tasks = bars, dict[str, "TaskID"]()
        self._estimator = RateEstimator()

    def __call__(self, label: str, done: int, total: int | None = None, **also: int) -> None:
        if label not in self._tasks:
            self._tasks[label] = self._bars.add_task(label, total=None, details="")
        details = self._estimator.estimate(label, done, total, also).details()
        self._bars.update(self._tasks[label], completed=done, total=total, details=details)


class PlainProgress:
    """Writes the first and last update of each counter, and one every `interval` seconds."""

    def __init__(self, out: TextIO, interval: float = LINE_INTERVAL, as_json: bool = False) -> None:
        self._out, self._interval, self._as_json = out, interval, as_json
        self._written_at, self._counter = 0.0, ""
        self._estimator = RateEstimator()
        self._pending: ProgressUpdate | None = None

    def __call__(self, label: str, done: int, total: int | None = None, **also: int) -> None:
        update = self._estimator.estimate(label, done, total, also)
        if label != self._counter:
            self.close()
            self._counter = label
        elif time.monotonic() - self._written_at < self._interval:
            self._pending = update
            return
        self._write(update)

    def close(self) -> None:
        """Write the last update if it was held back."""
        if self._pending:
            self._write(self._pending)

    def _write(self, update: ProgressUpdate) -> None:
        self._out.write(f"{update.as_json() if self._as_json else update.line()}\n")
        self._out.flush()
        self._written_at, self._pending = time.monotonic(), None
