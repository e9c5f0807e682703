"""Files that appear when they are complete, so that nobody reads half of one."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from catalog.errors import ScoutError


@contextmanager
def complete_file(path: Path) -> Iterator[IO[str]]:
    """Open a text file that takes its name only if the block ends without error.

    Line ends are written as given. Raises ScoutError.
    """
    temporary = path.with_name(path.name + ".part")
    try:
        with temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            yield file
        temporary.replace(path)
    except OSError as error:
        raise ScoutError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        # A failed removal must not hide the first error.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
