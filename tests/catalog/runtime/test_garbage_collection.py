"""Garbage collection of processes that import or read much."""

import gc

from catalog.runtime.garbage_collection import importing


def test_imports_are_not_searched_for_garbage() -> None:
    """Neither during the block, nor later what was made in it."""
    frozen = gc.get_freeze_count()
    try:
        with importing():
            assert not gc.isenabled()
            modules = [[]]
        assert gc.isenabled()
        assert gc.get_freeze_count() > frozen
        assert all(modules is not tracked for tracked in gc.get_objects())
    finally:
        gc.unfreeze()
