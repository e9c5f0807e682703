"""Files that appear when they are complete."""

from pathlib import Path

import pytest

from catalog.errors import ScoutError
from catalog.runtime.complete_file import complete_file


def _write_half(path: Path) -> None:
    with complete_file(path) as file:
        file.write("half")
        raise ZeroDivisionError


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    """A block that fails changes nothing and leaves no temporary file."""
    path = tmp_path / "pairs.csv"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError):
        _write_half(path)
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("folder", ["absent", "file"])
def test_a_file_that_cannot_be_made(tmp_path: Path, folder: str) -> None:
    """The error names the file, also where its folder is a file."""
    (tmp_path / "file").write_text("")
    path = tmp_path / folder / "pairs.csv"
    with pytest.raises(ScoutError, match="cannot be written"), complete_file(path):
        pass
