"""Progress on standard error: bars on a terminal, a plain line every few seconds elsewhere, or JSON lines on wish.

A step says how many of how many are done; how fast that goes and how long it will take is reckoned here, from the last
half minute. What is still to do may grow as a crawl finds more, so the time left is the least that it will take.
"""

import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from catalog.runtime.progress import Progress
from scout.terminal.output import as_json

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

EVERY = 5.0
WINDOW = 30.0
SOON = 2.0


@contextmanager
def shown(stream: TextIO | None = None, as_json: bool = False) -> Iterator[Progress]:
    """A Progress that shows itself until the block ends."""
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
        TextColumn("{task.fields[more]}"),
    )
    with Bars(*columns, console=Console(file=out)) as bars:
        yield RichProgress(bars)


@dataclass(frozen=True)
class News:
    """One thing that is counted, as it stands; `rate` is a second's, `left` are seconds."""

    what: str
    done: int
    total: int | None = None
    also: dict[str, int] = field(default_factory=dict)
    rate: float | None = None
    left: float | None = None

    def details(self) -> str:
        """All but the count itself.

        >>> News("pages", 8, 20, {"errors": 1}, 2.0, 6.0).details()
        '1 errors, 2.0/s, 6 s left'
        """
        said = [f"{number} {name}" for name, number in self.also.items()]
        said += [f"{self.rate:.1f}/s"] if self.rate is not None else []
        return ", ".join([*said, f"{duration(self.left)} left"] if self.left is not None else said)

    def line(self) -> str:
        """As a line of text.

        >>> News("pages", 8, 20).line(), News("offers", 3, None, {"errors": 0}).line()
        ('pages: 8 of 20', 'offers: 3, 0 errors')
        """
        count = f"{self.what}: {self.done}" + ("" if self.total is None else f" of {self.total}")
        return ", ".join(part for part in (count, self.details()) if part)

    def as_json(self) -> str:
        """As one JSON object."""
        said = {
            "done": self.done,
            "total": self.total,
            **self.also,
            "rate": self.rate,
            "seconds_left": self.left,
        }
        known: dict[str, object] = {
            name: value for name, value in said.items() if value is not None
        }
        return as_json("progress", more={"what": self.what, **known})


class Pace:
    """How fast something is counted."""

    def __init__(self) -> None:
        self._seen: dict[str, deque[tuple[float, int]]] = {}

    def news(self, what: str, done: int, total: int | None, also: dict[str, int]) -> News:
        """The news with its rate and time left, as soon as they can be told."""
        moment, seen = time.monotonic(), self._seen.setdefault(what, deque())
        seen.append((moment, done))
        while moment - seen[0][0] > WINDOW:
            seen.popleft()
        since, before = seen[0]
        if moment - since < SOON or done <= before:
            return News(what, done, total, also)
        rate = (done - before) / (moment - since)
        left = None if total is None else round(max(total - done, 0) / rate, 1)
        return News(what, done, total, also, round(rate, 2), left)


def duration(seconds: float) -> str:
    """A time span in words.

    >>> duration(42), duration(90), duration(5400)
    ('42 s', '2 min', '1.5 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


class RichProgress:
    """A bar for each thing that is counted."""

    def __init__(self, bars: "Bars") -> None:
        self._bars, self._tasks, self._pace = bars, dict[str, "TaskID"](), Pace()

    def __call__(self, what: str, done: int, total: int | None = None, **also: int) -> None:
        if what not in self._tasks:
            self._tasks[what] = self._bars.add_task(what, total=None, more="")
        more = self._pace.news(what, done, total, also).details()
        self._bars.update(self._tasks[what], completed=done, total=total, more=more)


class PlainProgress:
    """A line for the first news of each thing that is counted, its last, and one every few seconds between."""

    def __init__(self, out: TextIO, every: float = EVERY, as_json: bool = False) -> None:
        self._out, self._every, self._as_json = out, every, as_json
        self._said_at, self._what, self._pace = 0.0, "", Pace()
        self._held: News | None = None

    def __call__(self, what: str, done: int, total: int | None = None, **also: int) -> None:
        news = self._pace.news(what, done, total, also)
        if what != self._what:
            self.close()
            self._what = what
        elif time.monotonic() - self._said_at < self._every:
            self._held = news
            return
        self._say(news)

    def close(self) -> None:
        """Say the last news that was held back."""
        if self._held:
            self._say(self._held)

    def _say(self, news: News) -> None:
        self._out.write(f"{news.as_json() if self._as_json else news.line()}\n")
        self._out.flush()
        self._said_at, self._held = time.monotonic(), None
