"""Worker processes that end with the process that started them, even where that one is killed.

A pool's worker holds its own end of the queue it waits at, so it never learns from the queue that nobody is left to
send work. Each worker therefore also waits for its parent, which the operating system reports whatever its end was.
"""

import gc
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import Any

SELDOM = 20_000


@contextmanager
def worker_pool(
    workers: int, prepare: Callable[..., None] | None = None, *given: Any
) -> Iterator[ProcessPoolExecutor]:
    """A pool of fresh processes, each of which has run `prepare(*given)`, and settled, before its first task."""
    with ProcessPoolExecutor(workers, get_context("spawn"), _start, (prepare, given)) as pool:
        yield pool


def _start(prepare: Callable[..., None] | None, given: tuple[Any, ...]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if prepare is not None:
        prepare(*given)
    settle()


def settle() -> None:
    """Look for garbage seldom, and never through what is there by now, which stays to the end.

    What a page leaves behind is freed without that: nothing of it holds on to itself. To look for garbage as often as
    Python does by itself takes a fiftieth of the reading.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(SELDOM)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
