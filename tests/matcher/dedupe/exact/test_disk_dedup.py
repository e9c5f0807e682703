"""Equal records told on disk: the same as in memory, over several calls, and after a call that was killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.errors import ConfigError
from matcher.dedupe.base import optional as libraries
from matcher.dedupe.exact import disk_dedup as module
from matcher.dedupe.exact.disk_dedup import Printed, seen, sorted_out
from matcher.dedupe.exact.exact import fingerprint

TEXTS = ["Red mug", "lamp", "red  mug", "LAMP", "red mug", "vase"]
PRINTS = [(f"a:{line}", fingerprint([text])) for line, text in enumerate(TEXTS, 1)]
REPEATS = [("a:3", "a:1"), ("a:4", "a:2"), ("a:5", "a:1")]


def test_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an earlier call has seen is known; the same call again finds the same."""
    pytest.importorskip("lmdb")
    monkeypatch.setattr(module, "BATCH", 2)
    assert [*seen(PRINTS, tmp_path / "store")] == REPEATS
    assert [*seen(PRINTS, tmp_path / "store")] == REPEATS
    assert [*seen([("b:1", fingerprint(["vase"]))], tmp_path / "store")] == [("b:1", "a:6")]


def test_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that ended midway goes on: nothing is lost, nothing is its own duplicate."""
    pytest.importorskip("lmdb")
    monkeypatch.setattr(module, "BATCH", 2)

    def broken() -> Iterator[Printed]:
        yield from PRINTS[:3]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        [*seen(broken(), tmp_path)]
    assert [*seen(PRINTS, tmp_path)] == REPEATS


def test_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that is full becomes larger."""
    pytest.importorskip("lmdb")
    monkeypatch.setattr(module, "FIRST_SIZE", 1 << 16)
    many = [(str(number), fingerprint([str(number // 2)])) for number in range(6000)]
    assert len([*seen(many, tmp_path)]) == 3000


def test_sorted_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The external sort finds the same as the store."""
    pytest.importorskip("duckdb")
    monkeypatch.setattr(module, "BATCH", 4)
    assert [*sorted_out(PRINTS, "100MB", tmp_path)] == REPEATS
    assert not [*tmp_path.iterdir()]


def test_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a library is missing, the error says which extra to install."""

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(libraries, "import_module", missing)
    with pytest.raises(ConfigError, match=r"scout-offer-gaps\[lmdb\]"):
        [*seen(PRINTS, tmp_path)]
    with pytest.raises(ConfigError, match=r"scout-offer-gaps\[duckdb\]"):
        [*sorted_out(PRINTS)]
