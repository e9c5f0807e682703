"""Equal records on disk: the same as in memory, over several calls, and after a call was killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.errors import ConfigError, UsageError
from matcher.dedupe.base import optional_imports
from matcher.dedupe.exact import disk_fingerprints
from matcher.dedupe.exact.disk_fingerprints import (
    NamedFingerprint,
    find_sorted_repeats,
    find_stored_repeats,
)
from matcher.dedupe.exact.exact_join import fingerprint

TEXTS = ["Red mug", "lamp", "red  mug", "LAMP", "red mug", "vase"]
PRINTS = [(f"a:{line}", fingerprint([text])) for line, text in enumerate(TEXTS, 1)]
REPEATS = [("a:3", "a:1"), ("a:4", "a:2"), ("a:5", "a:1")]


def test_store_persists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of earlier calls are found again; a repeated call finds the same."""
    pytest.importorskip("lmdb")
    monkeypatch.setattr(disk_fingerprints, "BATCH_SIZE", 2)
    store = tmp_path / "store"
    assert [*find_stored_repeats(PRINTS, store)] == REPEATS
    assert [*find_stored_repeats(PRINTS, store)] == REPEATS
    assert [*find_stored_repeats([("b:1", fingerprint(["vase"]))], store)] == [("b:1", "a:6")]


def test_killed_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a killed call nothing is lost, and no record is its own duplicate."""
    pytest.importorskip("lmdb")
    monkeypatch.setattr(disk_fingerprints, "BATCH_SIZE", 2)

    def interrupted() -> Iterator[NamedFingerprint]:
        yield from PRINTS[:3]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        [*find_stored_repeats(interrupted(), tmp_path)]
    assert [*find_stored_repeats(PRINTS, tmp_path)] == REPEATS


def test_store_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that is full is enlarged."""
    pytest.importorskip("lmdb")
    monkeypatch.setattr(disk_fingerprints, "INITIAL_MAP_SIZE", 1 << 16)
    prints = [(str(number), fingerprint([str(number // 2)])) for number in range(6000)]
    assert len([*find_stored_repeats(prints, tmp_path)]) == 3000


def test_external_sort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The external sort finds the same as the store, and leaves no files."""
    pytest.importorskip("duckdb")
    monkeypatch.setattr(disk_fingerprints, "BATCH_SIZE", 4)
    assert [*find_sorted_repeats(PRINTS, "100MB", tmp_path)] == REPEATS
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("memory", ["0MB", "1KB", "1MB"])
def test_too_little_memory_for_the_sort(tmp_path: Path, memory: str) -> None:
    """Where DuckDB runs out of memory, the error says which option to raise; no file is left."""
    pytest.importorskip("duckdb")
    error = f"--memory {memory} does not suffice to sort the fingerprints: allow more"
    with pytest.raises(UsageError, match=error):
        [*find_sorted_repeats(PRINTS, memory, tmp_path)]
    assert not [*tmp_path.iterdir()]


def test_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a library is missing, the error names the extra that installs it."""

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(optional_imports, "import_module", missing)
    with pytest.raises(ConfigError, match=r"scout-offer-gaps\[lmdb\]"):
        [*find_stored_repeats(PRINTS, tmp_path)]
    with pytest.raises(ConfigError, match=r"scout-offer-gaps\[duckdb\]"):
        [*find_sorted_repeats(PRINTS)]
