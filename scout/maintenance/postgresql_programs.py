"""pg_dump and pg_restore: the database's own tools, which copy a PostgreSQL database and restore it.

They get the password in their environment and never as an argument.
"""

import os
import shutil
import signal
import subprocess
from pathlib import Path

from sqlalchemy.engine import URL, make_url

from catalog.errors import StoreError
from catalog.runtime.process_server import end_with_parent
from catalog.runtime.served_process import safe_environment
from catalog.runtime.settings import Settings

# Where Debian installs PostgreSQL, a folder a version.
PROGRAMS = Path("/usr/lib/postgresql")
# Variables of libpq by the part of a URL that they take the place of.
_LIBPQ = {"host": "PGHOST", "port": "PGPORT", "username": "PGUSER", "password": "PGPASSWORD"}
_LIBPQ_OF_QUERY = {"host": "PGHOST", "port": "PGPORT", "sslmode": "PGSSLMODE"}


def run_program(settings: Settings, command: list[str]) -> None:
    """Run a program of PostgreSQL on the database of the settings. Raises StoreError.

    It ends with this process, even if that is killed: a dump that lived on would fill a folder that
    the next backup empties, and a restore would commit behind the back of the next one.
    """
    program = find_program(command[0])
    environment = safe_environment() | _libpq_variables(make_url(settings.database))
    parent = os.getpid()
    done = subprocess.run(
        [program, *command[1:]],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: end_with_parent(parent),
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [_describe_end(done.returncode)]
        raise StoreError(f"{command[0]} failed: {lines[0]}")


def _describe_end(code: int) -> str:
    """Describe the end of a program that has printed nothing.

    >>> _describe_end(3), _describe_end(-25)
    ('exit code 3', 'ended by SIGXFSZ')
    """
    if code >= 0:
        return f"exit code {code}"
    return f"ended by {signal.Signals(-code).name}"


def find_program(name: str) -> str:
    """Return the path of a program of PostgreSQL, the newest where several are installed."""
    if path := shutil.which(name):
        return path
    installed = PROGRAMS.glob(f"*/bin/{name}")
    newest = max(installed, key=lambda path: float(path.parts[-3]), default=None)
    if newest is None:
        raise StoreError(
            f"{name} is not installed: install PostgreSQL's programs "
            "(Debian, Ubuntu: apt install postgresql-client)"
        )
    return str(newest)


def _libpq_variables(url: URL) -> dict[str, str]:
    """Return the variables by which libpq finds a database, and its password."""
    variables = {"PGDATABASE": url.database or ""}
    for part, variable in _LIBPQ.items():
        value = getattr(url, part)
        if value is not None:
            variables[variable] = str(value)
    # A socket, a file of a certificate and the like stand in the query.
    for name, value in url.query.items():
        if name in _LIBPQ_OF_QUERY and isinstance(value, str):
            variables[_LIBPQ_OF_QUERY[name]] = value
    for name in ("PGPASSFILE", "PGSERVICEFILE"):
        if name in os.environ:
            variables[name] = os.environ[name]
    return variables
