"""A PostgreSQL of the tests' own: one cluster a session, on a socket in a temporary folder, and no
port at all.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

SOMEBODY = ("postgres", "nobody")
QUICK = "-F -c listen_addresses='' -c full_page_writes=off -c synchronous_commit=off"


def binaries() -> Path:
    """Where PostgreSQL's programs are; skips the test where they are not."""
    pytest.importorskip(
        "psycopg", reason="psycopg is not installed: pip install 'scout-offer-gaps[postgresql]'"
    )
    result = shutil.which("initdb")
    places = [Path(result).parent] if result else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    places = [
        place for place in places if (place / "initdb").exists() and (place / "pg_ctl").exists()
    ]
    if not places:
        pytest.skip("PostgreSQL is not installed (Debian, Ubuntu: apt install postgresql)")
    return places[-1]


@contextmanager
def cluster() -> Iterator[str]:
    """A running cluster; gives the URL of its databases, with a place for the name."""
    programs = binaries()
    folder = Path(tempfile.mkdtemp(prefix="scout-pg-", dir="/tmp"))
    user = _user(folder)

    def run(program: str, *words: str) -> None:
        command = [str(programs / program), "-D", str(folder / "data"), *words]
        subprocess.run(
            command, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL, timeout=120
        )

    try:
        run("initdb", "-A", "trust", "-U", "scout", "-E", "UTF8", "--locale=C", "--no-sync")
        run(
            "pg_ctl",
            "-w",
            "-t",
            "60",
            "-l",
            str(folder / "log"),
            "-o",
            f"{QUICK} -k {folder}",
            "start",
        )
        try:
            yield f"postgresql+psycopg://scout@/{{}}?host={folder}"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _user(folder: Path) -> str | None:
    """PostgreSQL does not run as root: somebody else who is there has to own it then."""
    if os.geteuid():
        return None
    for name in SOMEBODY:
        with suppress(LookupError):
            shutil.chown(folder, name)
            return name
    pytest.skip("PostgreSQL does not run as root, and there is no other user")
