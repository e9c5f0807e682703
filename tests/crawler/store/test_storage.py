"""A disk that is full stops a crawl in one clear line, and costs no page."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.errors import StorageFull
from catalog.storage.bodies import BodyStore
from tests.crawler.conftest import Bench
from tests.crawler.server import page

FULL = f"""
import fsspec.implementations.local as local
pipe, left = local.LocalFileSystem.pipe_file, [3]
def pipe_file(self, path, value, **words):
    left[0] -= 1
    if left[0] < 0:
        raise OSError({errno.ENOSPC}, "No space left on device")
    return pipe(self, path, value, **words)
local.LocalFileSystem.pipe_file = pipe_file
"""


def test_disk_full(
    make_bench: Callable[..., Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages that could not be stored stay open.

    Once there is space again, every page is fetched and has its body.
    """
    made = make_bench()
    made.server.routes["/"] = page(*(f"/p/{number}" for number in range(10)))
    made.server.routes |= {f"/p/{number}": page(title=f"Product {number}") for number in range(10)}
    (tmp_path / "sitecustomize.py").write_text(FULL)
    with monkeypatch.context() as patched:
        patched.setenv(
            "PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        )
        with pytest.raises(StorageFull, match="run the same command again"):
            made.crawl()
    stored = [row for row in made.pages().values() if row.state == "fetched"]
    assert len(stored) <= 3
    assert made.crawl().pages == {"fetched": 11}
    bodies = BodyStore(made.settings.bodies)
    assert all(bodies.get(row.body or "") for row in made.pages().values())
