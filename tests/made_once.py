"""Costly things of a test run, made once for all its processes (pytest-xdist's workers)."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def make_once(factory: pytest.TempPathFactory, name: str, fill: Callable[[Path], None]) -> Path:
    """Return a folder that `fill` has filled, in whichever process needed it first.

    Tests may only read it: one that changes its content works on a copy.
    """
    base = factory.getbasetemp()
    # Each worker has a folder of its own in that of the run.
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder, complete = base / name, base / f"{name}.complete"
    with FileLock(base / f"{name}.lock"):
        if not complete.exists():
            # What a failed attempt has left would spoil the next one.
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            fill(folder)
            complete.touch()
    return folder
