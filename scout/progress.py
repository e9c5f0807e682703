"""Progress on standard error: bars on a terminal, a plain line every few seconds elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from catalog.progress import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

EVERY = 5.0


@contextmanager
def shown(stream: TextIO | None = None) -> Iterator[Progress]:
    """A Progress that shows itself until the block ends."""
    out = stream or sys.stderr
    if not out.isatty():
        lines = PlainProgress(out)
        yield lines
        lines.close()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(file=out)) as bars:
        yield RichProgress(bars)


class RichProgress:
    """A bar for each thing that is counted."""

    def __init__(self, bars: "Bars") -> None:
        self._bars, self._tasks = bars, dict[str, "TaskID"]()

    def __call__(self, what: str, done: int, total: int | None = None) -> None:
        if what not in self._tasks:
            self._tasks[what] = self._bars.add_task(what, total=None)
        self._bars.update(self._tasks[what], completed=done, total=total)


class PlainProgress:
    """A line for the first news of each thing that is counted, its last, and one every few seconds between."""

    def __init__(self, out: TextIO, every: float = EVERY) -> None:
        self._out, self._every = out, every
        self._said_at, self._what, self._held = 0.0, "", ""

    def __call__(self, what: str, done: int, total: int | None = None) -> None:
        line = f"{what}: {done}" if total is None else f"{what}: {done} of {total}"
        if what != self._what:
            self.close()
            self._what = what
        elif time.monotonic() - self._said_at < self._every:
            self._held = line
            return
        self._say(line)

    def close(self) -> None:
        """Say the last news that was held back."""
        if self._held:
            self._say(self._held)

    def _say(self, line: str) -> None:
        self._out.write(f"{line}\n")
        self._out.flush()
        self._said_at, self._held = time.monotonic(), ""
