"""Shared fixtures: functions run in several processes at once."""

import multiprocessing
from collections.abc import Callable
from typing import Any

import pytest

Forked = Callable[..., list[int | None]]


@pytest.fixture
def forked() -> Forked:
    """Run a function in several processes at once; gives how each ended (0, or minus the signal
    that killed it).

    The processes are forks, which start in no time; each has to open its own store.
    """

    def run(function: Callable[..., Any], *args: Any, processes: int = 1) -> list[int | None]:
        context = multiprocessing.get_context("fork")
        barrier = context.Barrier(processes)

        def together() -> None:
            barrier.wait()
            function(*args)

        started = [context.Process(target=together) for _ in range(processes)]
        for process in started:
            process.start()
        for process in started:
            process.join(60)
        return [process.exitcode for process in started]

    return run
