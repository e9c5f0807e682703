"""Garbage collection of processes that work through many pages or rows."""

import gc

# Allocations between two garbage collections. Python's default costs about 2 % of parsing time.
GC_THRESHOLD = 20_000


def tune_gc() -> None:
    """Collect garbage rarely, and leave out all objects that exist by now.

    Pages need no collector: nothing in them refers to itself, so reference counts free them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
