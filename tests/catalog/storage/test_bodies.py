"""Page bodies: kept once, whole, and under their content's name."""

import errno
import os
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.errors import ConfigError, StorageFull, StoreError
from catalog.storage.bodies import BodyStore, share_credentials
from tests.catalog.conftest import Forked


def files(folder: Path) -> list[Path]:
    """All files below a folder."""
    return [path for path in folder.rglob("*") if path.is_file()]


@given(st.binary(max_size=2000))
def test_stored_bodies_are_read_back(tmp_path_factory: pytest.TempPathFactory, body: bytes) -> None:
    """Any bytes come back as they were."""
    bodies = BodyStore(str(tmp_path_factory.getbasetemp() / "any"))
    assert bodies.get(bodies.put(body)) == body


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("s3://", "names no bucket"),
        ("gs:///", "names no bucket"),
        ("carrier-pigeon://loft/pages", "cannot be used"),
    ],
)
def test_places_that_cannot_be_used(url: str, message: str) -> None:
    """They are one clear line, before any process that would store bodies is started."""
    with pytest.raises(ConfigError, match=message):
        share_credentials(url)


def test_the_same_body_is_stored_once(tmp_path: Path) -> None:
    """Pages with one body share one file, which is compressed."""
    bodies = BodyStore(str(tmp_path))
    names = {bodies.put(b"<p>page</p>" * 1000) for _ in range(3)}
    assert len(names) == 1
    assert [path.stat().st_size < 1000 for path in files(tmp_path)] == [True]


def test_other_file_systems() -> None:
    """Any fsspec file system serves."""
    bodies = BodyStore("memory://test-bodies")
    assert bodies.get(bodies.put(b"page")) == b"page"


def test_missing_and_damaged_bodies(tmp_path: Path) -> None:
    """A body that is gone, cut short or overgrown is a clear error."""
    bodies = BodyStore(str(tmp_path))
    with pytest.raises(StoreError, match="is missing or damaged: crawl the shop again"):
        bodies.get("00" * 20)
    name = bodies.put(b"page" * 1000)
    with pytest.raises(StoreError, match="is larger than 100 bytes"):
        bodies.get(name, limit=100)
    (path,) = files(tmp_path)
    for damaged in (path.read_bytes()[:-5], b"", b"no zstandard"):
        path.write_bytes(damaged)
        with pytest.raises(StoreError, match="missing or damaged"):
            bodies.get(name)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is told as such, leaves no half body under a body's name, and the next try
    succeeds.
    """
    bodies = BodyStore(str(tmp_path))
    with monkeypatch.context() as full:

        def write(*args: object, **more: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        full.setattr(bodies._files, "pipe_file", write)
        with pytest.raises(
            StorageFull, match=r"no space left for page bodies in .*: free some and run"
        ):
            bodies.put(b"page")
    assert files(tmp_path) == []
    assert bodies.get(bodies.put(b"page")) == b"page"


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that may not be written to is named."""
    bodies = BodyStore(str(tmp_path))

    def write(*args: object, **more: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(bodies._files, "pipe_file", write)
    with pytest.raises(StoreError, match="cannot be written to"):
        bodies.put(b"page")


def put_and_die(folder: str) -> None:
    """Be killed when a body is written but does not have its name yet."""
    bodies = BodyStore(folder)
    bodies._files.mv = lambda *args, **more: os.kill(os.getpid(), signal.SIGKILL)
    bodies.put(b"page")


def test_killed_before_the_body_is_whole(tmp_path: Path, forked: Forked) -> None:
    """Killed while a body is written, nothing stands under its name; written again, it is whole."""
    assert forked(put_and_die, str(tmp_path)) == [-signal.SIGKILL]
    assert [path.suffix for path in files(tmp_path)] == [".part"]
    bodies = BodyStore(str(tmp_path))
    assert bodies.get(bodies.put(b"page")) == b"page"


@pytest.mark.parametrize("place", ["folder", "memory"])
def test_bodies_are_listed_and_removed(tmp_path: Path, place: str) -> None:
    """On this machine and elsewhere; one that was stored again in the meantime stays."""
    store = BodyStore(str(tmp_path) if place == "folder" else f"memory://{tmp_path.name}")
    assert store.folders() == []
    names = {store.put(word) for word in (b"one", b"two", b"three")}
    listed = [body for folder in store.folders() for body in store.list_folder(folder)]
    assert {body.name for body in listed} == names
    first = listed[0]
    assert store.find(first.name) == first
    assert not store.remove(first, first.modified - 10)
    assert store.remove(first, first.modified + 10)
    assert not store.remove(first, first.modified + 10)
    assert store.find(first.name) is None
    assert not store.holds(first.name)
