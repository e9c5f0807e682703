"""Checks of the machine: space and files in the folders that Scout writes to, and the time zone."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from uuid import uuid4

from tzlocal import get_localzone, get_localzone_name

from catalog.models import utc_now
from catalog.runtime.settings import Settings
from scout.doctor.check_result import CheckResult

MIN_FREE_SPACE = 500_000_000
"""Bytes free in a folder below which a crawl is likely to fill the disk."""

MIN_FREE_INODES = 20_000
"""Files that can still be made below which a crawl is likely to use up all: one for each page."""


def check_variables(_settings: Settings) -> Iterator[CheckResult]:
    """Check the environment for `SCOUT_*` variables that are no setting: typing errors mostly."""
    names = {f"SCOUT_{name.upper()}" for name in Settings.model_fields}
    for variable in sorted(os.environ):
        if not variable.startswith("SCOUT_") or variable.removesuffix("_FILE") in names:
            continue
        message = f"{variable} is no setting and has no effect: correct its name, or unset it"
        if nearest := get_close_matches(variable, names, 1):
            message = f"{variable} is no setting and has no effect: {nearest[0]} is one"
        yield CheckResult("variables", "wrong", message)


def check_data_folder(settings: Settings) -> Iterator[CheckResult]:
    """Check the data folder: written to, with space and files to spare."""
    folder = settings.data_dir.resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{folder} cannot be made: {error.strerror}; set 'data_dir' to another"
        yield CheckResult("data folder", "wrong", message)
        return
    yield from _check_folder(
        "data folder", folder, "free some ('scout db prune'), or set 'data_dir'"
    )


def check_temporary_folder(_settings: Settings) -> Iterator[CheckResult]:
    """Check the folder in which imports keep the rows of a feed until they are stored."""
    folder = Path(tempfile.gettempdir())
    yield from _check_folder("temporary folder", folder, "free some, or set TMPDIR to another")


def _check_folder(check: str, folder: Path, remedy: str) -> Iterator[CheckResult]:
    probe = folder / f".doctor-{uuid4().hex}"
    try:
        probe.write_bytes(b"")
        probe.unlink()
        free = shutil.disk_usage(folder).free
        inodes = os.statvfs(folder)
    except OSError as error:
        message = f"{folder} cannot be written to: {error.strerror}"
        yield CheckResult(check, "wrong", message)
        return
    found = f"{folder}, {free / 1e9:.1f} GB free"
    if free > MIN_FREE_SPACE:
        yield CheckResult(check, "ok", found)
    else:
        yield CheckResult(check, "wrong", f"{found}: {remedy}")
    # Some file systems have no fixed number of them.
    if inodes.f_files and inodes.f_favail < MIN_FREE_INODES:
        message = f"{folder} can hold only {inodes.f_favail} more files: {remedy}"
        yield CheckResult(f"files of the {check}", "wrong", message)


def check_time_zone(_settings: Settings) -> Iterator[CheckResult]:
    """Check the time zone, by which schedules and crawl windows go."""
    try:
        name, zone = get_localzone_name(), get_localzone()
    except (LookupError, ValueError) as error:
        message = f"unknown ({error}): set TZ, such as TZ=Europe/Berlin, or /etc/localtime"
        yield CheckResult("time zone", "wrong", message)
        return
    now = utc_now().astimezone(zone)
    yield CheckResult("time zone", "ok", f"{name or 'local'}: it is {now:%H:%M} there")
