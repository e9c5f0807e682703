"""Clocks of machines that can jump: a preloaded library adds seconds to the time of day.

A time namespace would not do: it shifts the monotonic clock and not the time of day. Neither would
libfaketime 0.9.10, under which `time.sleep` of Python fails. Nothing in Scout knows of this clock.
"""

import shutil
import struct
import subprocess
from pathlib import Path

FOLDER = Path(__file__).parent / "clock"
SHIFT = struct.Struct("@q")


def missing_compiler() -> str | None:
    """Return why clocks cannot jump here; None where they can."""
    return None if shutil.which("cc") else "no C compiler for the shifted clock (cc)"


def build_clock(folder: Path) -> Path | None:
    """Compile the library into a folder; returns None where there is no compiler."""
    if missing_compiler():
        return None
    library = folder / "shifted_clock.so"
    source = FOLDER / "shifted_clock.c"
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True, timeout=60)
    return library


class Clock:
    """The clock of one machine, `shift` seconds from the true time."""

    def __init__(self, library: Path | None, file: Path) -> None:
        self._library, self._file = library, file
        self.jump(0)

    def jump(self, shift: int) -> None:
        """Set the difference to the true time, in seconds."""
        # Written in place: processes have mapped the file.
        with self._file.open("r+b" if self._file.exists() else "wb") as stream:
            stream.write(SHIFT.pack(shift))

    def variables(self) -> dict[str, str]:
        """Return the environment variables by which a machine's processes use this clock."""
        if self._library is None:
            return {}
        return {
            "PYTHONPATH": str(FOLDER),
            "PYTHON_SHIFTED_CLOCK": str(self._library),
            "PYTHON_SHIFTED_CLOCK_FILE": str(self._file),
        }
