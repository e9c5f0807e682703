"""PostgreSQL servers of the tests: each in a temporary folder, on a socket there, without a port.

All tests of a run share one server, whichever of the run's processes needs it first. It ends with
the run, also where a signal ends that. A database of its own for a test is a copy of one with the
schema.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from filelock import FileLock
from sqlalchemy import Engine, create_engine, inspect, text
from sqlalchemy.engine import make_url
from sqlmodel import SQLModel

from catalog.runtime.settings import Settings
from catalog.storage.store import newest_revision, upgrade_schema

# Users that may own a server where the tests run as root.
UNPRIVILEGED_USERS = ("postgres", "nobody")
# Environment variable by which the processes of a test run find the folder of their server.
FOLDER_VARIABLE = "SCOUT_TEST_SERVER"
# Options of a server whose data is of no worth: nothing is forced onto the disk or cleaned up.
_QUICK = (
    "-F -c full_page_writes=off -c synchronous_commit=off -c autovacuum=off -c wal_level=minimal"
    " -c max_wal_senders=0 -c checkpoint_timeout=1h"
)
# Name of the database with the schema and without rows.
_TEMPLATE = "scout_template"
_END_OTHER_CONNECTIONS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
# A shell program that stops the server of the folder $1 and deletes the folder, once its input ends.
_WATCHER = """
while read -r _; do :; done
file=$1/data/postmaster.pid
if [ -e "$file" ]; then kill -QUIT "$(head -n 1 "$file")"; fi
for _ in $(seq 50); do [ -e "$file" ] && sleep 0.1; done
rm -rf "$1" "$1.lock"
"""
_RESTART_SEQUENCES = "SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'"
# URLs of databases with the schema and without rows that no test of this process uses.
_free_databases: list[str] = []


def binaries() -> Path:
    """Return the folder of PostgreSQL's programs; skips the test where they are not installed."""
    pytest.importorskip(
        "psycopg", reason="psycopg is not installed: pip install 'scout-offer-gaps[postgresql]'"
    )
    initdb = shutil.which("initdb")
    places = [Path(initdb).parent] if initdb else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    places = [
        place for place in places if (place / "initdb").exists() and (place / "pg_ctl").exists()
    ]
    if not places:
        pytest.skip("PostgreSQL is not installed (Debian, Ubuntu: apt install postgresql)")
    return places[-1]


@contextmanager
def cluster(*, is_durable: bool = False) -> Iterator[str]:
    """Run a server for the block; gives the URL of its databases, with `{}` for the name.

    A durable server forces each transaction onto the disk, as PostgreSQL does by default.
    """
    folder = make_folder()
    try:
        yield start_server(folder, is_durable=is_durable)
    finally:
        stop_server(folder)


def make_folder() -> Path:
    """Make a folder for a server."""
    # A socket's path is short.
    return Path(tempfile.mkdtemp(prefix="scout-pg-", dir="/tmp"))


def start_server(folder: Path, *, is_durable: bool = False) -> str:
    """Make a cluster in the folder and start its server; returns the URL of its databases."""
    _run(folder, "initdb", "-A", "trust", "-U", "scout", "-E", "UTF8", "--locale=C", "--no-sync")
    options = f"-c listen_addresses='' -k {folder} {'' if is_durable else _QUICK}"
    _run(folder, "pg_ctl", *_start_words(folder), "-o", options, "start")
    return f"postgresql+psycopg://scout@/{{}}?host={folder}"


def restart_server(folder: Path) -> None:
    """Restart a server at once, as after a crash: it recovers from its write-ahead log.

    One that is down is started, with the options that it had.
    """
    with suppress(subprocess.CalledProcessError):
        _run(folder, "pg_ctl", "-m", "immediate", "stop")
    options = shlex.split((folder / "data" / "postmaster.opts").read_text())[1:]
    # `pg_ctl` adds the folder of the data itself.
    words = shlex.join(options[2:] if options[:1] == ["-D"] else options)
    _run(folder, "pg_ctl", *_start_words(folder), "-o", words, "start")


def _start_words(folder: Path) -> list[str]:
    return ["-w", "-t", "60", "-l", str(folder / "log")]


def stop_server(folder: Path) -> None:
    """Stop the server of a folder, if it runs, and delete the folder."""
    if (folder / "data" / "postmaster.pid").exists():
        _run(folder, "pg_ctl", "-m", "immediate", "stop")
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def shared_folder() -> Iterator[None]:
    """Choose the folder of this run's server, and stop the server at the end of the block.

    The server also stops when the process ends within the block, even when it is killed. Does
    nothing where a process above has chosen the folder.
    """
    if FOLDER_VARIABLE in os.environ:
        yield
        return
    # Not below pytest's folder: a socket's path is short, and the server's user may not enter it.
    folder = Path(tempfile.gettempdir()) / f"scout-pg-{uuid.uuid4().hex[:12]}"
    os.environ[FOLDER_VARIABLE] = str(folder)
    # In a session of its own, which gets no signal of the terminal.
    watcher = subprocess.Popen(
        ["sh", "-c", _WATCHER, "sh", str(folder)], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield
    finally:
        watcher.communicate()


def shared_server() -> str:
    """Return the URL of the databases of the run's server, which is started if need be."""
    folder = Path(os.environ[FOLDER_VARIABLE])
    url_file = folder / "url"
    binaries()
    with FileLock(f"{folder}.lock"):
        if not url_file.exists():
            # What a failed attempt has left would spoil the next one.
            stop_server(folder)
            folder.mkdir()
            url = start_server(folder)
            with _engine_of(url.format("postgres")) as engine:
                _execute(engine, f"CREATE DATABASE {_TEMPLATE}")
            upgrade_schema(Settings.load(data_dir=folder, database_url=url.format(_TEMPLATE)))
            url_file.write_text(url, encoding="utf-8")
    return url_file.read_text(encoding="utf-8")


@contextmanager
def fresh_database() -> Iterator[str]:
    """Give the URL of a database on the run's server that has the schema and no rows.

    It is used again: deleting the rows takes a hundredth of the time that making it takes.
    """
    url = _free_databases.pop() if _free_databases else _make_database(_TEMPLATE)
    yield url
    with _engine_of(url) as engine:
        if _delete_rows(engine):
            _free_databases.append(url)
            return
    _drop_database(url)


@contextmanager
def empty_database(options: str = "") -> Iterator[str]:
    """Give the URL of a database on the run's server without any table, made with some options."""
    url = _make_database(f"template0 {options}")
    yield url
    _drop_database(url)


def _make_database(template: str) -> str:
    server = shared_server()
    name = f"scout_{uuid.uuid4().hex[:12]}"
    with _engine_of(server.format("postgres")) as engine:
        _execute(engine, f"CREATE DATABASE {name} TEMPLATE {template}")
    return server.format(name)


def _drop_database(url: str) -> None:
    name = make_url(url).database
    with _engine_of(shared_server().format("postgres")) as engine:
        _execute(engine, f"DROP DATABASE {name} WITH (FORCE)")


def _delete_rows(engine: Engine) -> bool:
    """Delete all rows and count ids from 1 again; False where the schema is another one now."""
    _execute(engine, _END_OTHER_CONNECTIONS)
    tables = {table.name for table in SQLModel.metadata.sorted_tables}
    if set(inspect(engine).get_table_names()) != tables | {"alembic_version"}:
        return False
    with engine.connect() as connection:
        revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if revision != newest_revision():
        return False
    deletions = [f'DELETE FROM "{table.name}"' for table in SQLModel.metadata.sorted_tables[::-1]]
    _execute(engine, "; ".join([*deletions, _RESTART_SEQUENCES]))
    return True


@contextmanager
def _engine_of(url: str) -> Iterator[Engine]:
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        yield engine
    finally:
        engine.dispose()


def _execute(engine: Engine, statement: str) -> None:
    with engine.connect() as connection:
        connection.exec_driver_sql(statement)


def _run(folder: Path, program: str, *words: str) -> None:
    command = [str(binaries() / program), "-D", str(folder / "data"), *words]
    subprocess.run(
        command,
        check=True,
        user=_owner(folder),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        timeout=120,
    )


def _owner(folder: Path) -> str | None:
    """Give the folder to a user that may run a server: PostgreSQL does not run as root."""
    if os.geteuid():
        return None
    for name in UNPRIVILEGED_USERS:
        with suppress(LookupError):
            shutil.chown(folder, name)
            return name
    pytest.skip("PostgreSQL does not run as root, and there is no other user")
