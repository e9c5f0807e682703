"""Worker processes that end with the process that started them, even where that one is killed.

A worker of a pool holds its own end of the queue it waits at, so it never learns from the queue
that its parent is gone. Each worker therefore also waits for its parent process, whose end the
operating system always reports.
"""

import gc
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import Any

# Allocations between two garbage collections. Python's default costs about 2 % of parsing time.
GC_THRESHOLD = 20_000


@contextmanager
def worker_pool(
    workers: int, prepare: Callable[..., None] | None = None, *args: Any
) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of fresh processes; each runs `prepare(*args)` and `tune_gc()` before its first
    task.
    """
    with ProcessPoolExecutor(workers, get_context("spawn"), _start, (prepare, args)) as pool:
        yield pool


def tune_gc() -> None:
    """Collect garbage rarely, and leave out all objects that exist by now.

    Pages need no collector: nothing in them refers to itself, so reference counts free them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)


def _start(prepare: Callable[..., None] | None, args: tuple[Any, ...]) -> None:
    threading.Thread(target=end_with_parent, daemon=True).start()
    if prepare is not None:
        prepare(*args)
    tune_gc()


def end_with_parent() -> None:
    """Wait for the end of the parent process, then end this one; runs in a thread of its own."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        # The main thread waits at its queue for ever: only this ends the process.
        os._exit(1)
