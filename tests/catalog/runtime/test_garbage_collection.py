"""Garbage collection of processes that import or read much."""

import gc
import importlib
import sys

from catalog.runtime.garbage_collection import importing


def test_imports_are_not_searched_for_garbage() -> None:
    """Neither within the block, nor are its modules later; a repeated block leaves nothing out."""
    importlib.import_module("colorsys")
    frozen = gc.get_freeze_count()
    try:
        with importing():
            importlib.import_module("colorsys")
        assert gc.get_freeze_count() == frozen
        del sys.modules["colorsys"]
        with importing():
            assert not gc.isenabled()
            importlib.import_module("colorsys")
        assert gc.isenabled()
        assert gc.get_freeze_count() > frozen
    finally:
        gc.unfreeze()
