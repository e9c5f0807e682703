"""Locks on files: held by one process at a time; a file that cannot be opened is one clear error."""

from pathlib import Path

import pytest

from catalog.errors import Busy, StoreError
from catalog.runtime.file_locks import lock_file


def test_held_once(tmp_path: Path) -> None:
    """A file that is locked is busy until it is released."""
    path = tmp_path / "locks" / "shop-1.lock"
    lock = lock_file(path, "busy")
    with pytest.raises(Busy, match="shop 1 is busy"):
        lock_file(path, "shop 1 is busy")
    lock.release()
    lock_file(path, "busy").release()


@pytest.mark.parametrize("is_folder_a_file", [True, False])
def test_file_that_cannot_be_opened(tmp_path: Path, is_folder_a_file: bool) -> None:
    """Neither a folder in the file's place nor a file in the folder's ends in a traceback."""
    path = tmp_path / "locks" / "shop-1.lock"
    if is_folder_a_file:
        path.parent.touch()
    else:
        path.mkdir(parents=True)
    with pytest.raises(StoreError, match=r"shop-1\.lock cannot be locked: "):
        lock_file(path, "busy")
