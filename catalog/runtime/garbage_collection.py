"""Garbage collection of processes that work through many pages or rows."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Allocations between two garbage collections. Python's default costs about 2 % of parsing time.
GC_THRESHOLD = 20_000


def tune_gc() -> None:
    """Collect garbage rarely, and leave out all objects that exist by now.

    Pages need no collector: nothing in them refers to itself, so reference counts free them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)


@contextmanager
def importing() -> Iterator[None]:
    """Collect no garbage within the block, and leave out all objects that exist at its end.

    Imports make hardly any garbage, and looking for it takes a tenth of the time of a large one.
    Where all modules were loaded already, nothing is left out.
    """
    was_enabled, loaded = gc.isenabled(), len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if len(sys.modules) > loaded:
            gc.freeze()
        if was_enabled:
            gc.enable()


@contextmanager
def rare_gc() -> Iterator[None]:
    """Collect garbage rarely within the block, as `tune_gc` does for the rest of a process."""
    usual = gc.get_threshold()
    gc.set_threshold(GC_THRESHOLD)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
