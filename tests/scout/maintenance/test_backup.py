"""A backup made while Scout runs holds the whole store, and can be restored on both databases."""

import errno
import json
import os
import time
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlmodel import select

from catalog.errors import Busy, StorageFull, StoreError, UsageError
from catalog.models import Page, PageState, Shop
from catalog.runtime.file_locks import lock_file
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.leases import lease_table
from catalog.storage.store import Store
from scout.maintenance import backup, postgresql_programs, restore
from scout.maintenance.backup import LOCK, MANIFEST, back_up_store, remove_older_backups
from scout.maintenance.restore import restore_store
from scout.metrics.queue_metrics import job_metrics
from tests.catalog.storage.postgresql import empty_database, fresh_database
from tests.scout.conftest import Scout

# The tables of a queue of jobs, as far as metrics read them.
QUEUE = """
CREATE TABLE procrastinate_jobs (id bigserial PRIMARY KEY, queue_name text, status text);
CREATE TABLE procrastinate_events (job_id bigint, type text, at timestamptz);
CREATE TABLE procrastinate_workers (last_heartbeat timestamptz);
INSERT INTO procrastinate_jobs (queue_name, status)
VALUES ('runs', 'todo'), ('runs', 'todo'), ('runs', 'doing'), ('runs', 'succeeded');
INSERT INTO procrastinate_events VALUES (1, 'deferred', now() - interval '1 hour'), (2, 'deferred', now());
INSERT INTO procrastinate_workers VALUES (now()), (now() - interval '1 hour');
"""


def fill(settings: Settings) -> tuple[Store, str]:
    """Store a shop with a page and its body; return the store and the name of the body."""
    store = Store.open(settings)
    body = BodyStore(settings.bodies).put(b"<p>Lamp")
    BodyStore(settings.bodies).put(b"of no page")
    with store.write() as session:
        shop = Shop(name="demo", url="http://127.0.0.1:8000/")
        session.add(shop)
        session.flush()
        session.add(Page(shop_id=shop.id, url="p", state=PageState.FETCHED, body=body))
        session.add(Page(shop_id=shop.id, url="q", state=PageState.PENDING))
    lease_table.acquire(store, "shop-1", "shop 'demo'", 90, "a file")
    return store, body


def check(settings: Settings, body: str) -> None:
    """Check that a store is the one that `fill` made."""
    store = Store.open(settings)
    with store.read() as session:
        urls = session.exec(select(Page.url).order_by(Page.url)).all()
    # A run that went on while the backup was made goes on elsewhere.
    assert lease_table.find_lease(store, "shop-1") is None
    store.engine.dispose()
    assert (store.shop("demo").name, list(urls)) == ("demo", ["p", "q"])
    assert BodyStore(settings.bodies).get(body) == b"<p>Lamp"


@pytest.mark.sqlite_only
def test_sqlite(settings: Settings, tmp_path: Path) -> None:
    """The database is copied while another process writes; only bodies of pages are copied."""
    store, body = fill(settings)
    with store.write() as session:
        session.add(Shop(name="uncommitted", url="http://127.0.0.1:9/"))
        session.flush()
        made = back_up_store(settings, store, tmp_path / "backup")
    assert (made.dialect, made.shops, made.bodies) == ("sqlite", 1, 1)
    restored = settings.model_copy(update={"data_dir": tmp_path / "restored"})
    restore_store(restored, tmp_path / "backup")
    check(restored, body)
    with pytest.raises(UsageError, match="exists"):
        restore_store(restored, tmp_path / "backup")


def test_postgresql(tmp_path: Path) -> None:
    """By pg_dump and pg_restore; a database that is not empty is refused."""
    with fresh_database() as url:
        settings = Settings.load(data_dir=tmp_path / "var", database_url=url)
        store, body = fill(settings)
        made = back_up_store(settings, store, tmp_path / "backup")
        store.engine.dispose()
    assert (made.dialect, made.shops, made.bodies) == ("postgresql", 1, 1)
    with empty_database() as url:
        restored = Settings.load(data_dir=tmp_path / "restored", database_url=url)
        dump = tmp_path / "backup" / "scout.dump"
        contents = dump.read_bytes()
        dump.write_bytes(contents[:-100])
        with pytest.raises(UsageError, match="is damaged: it has"):
            restore_store(restored, tmp_path / "backup")
        dump.write_bytes(contents)
        restore_store(restored, tmp_path / "backup")
        check(restored, body)
        with pytest.raises(UsageError, match="not empty"):
            restore_store(restored, tmp_path / "backup")


@pytest.mark.postgresql_only
def test_jobs_of_workers_are_counted(store: Store) -> None:
    """Those that wait, run or have failed, and how long the oldest has waited."""
    with store.engine.begin() as connection:
        connection.execute(text(QUEUE))
    with store.read() as session:
        samples = {
            (sample.name, *sample.labels.values()): sample.value
            for metric in job_metrics(session)
            for sample in metric.samples
        }
    waiting_since = samples.pop(("scout_jobs_waiting_since_timestamp_seconds",))
    assert waiting_since == pytest.approx(time.time() - 3600, abs=60)
    assert samples == {
        ("scout_jobs", "runs", "todo"): 2,
        ("scout_jobs", "runs", "doing"): 1,
        ("scout_workers",): 1,
    }


def test_the_password_is_no_argument(
    settings: Settings, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program of PostgreSQL gets it in its environment, and only what it needs beside it."""
    program = tmp_path / "pg_dump"
    program.write_text('#!/bin/sh\necho "$0 $*" > "$0.args"\nenv > "$0.env"\nexit 3\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of another")
    url = "postgresql+psycopg://me:hidden@db.example:5433/scout"
    remote = settings.model_copy(update={"database_url": url})
    with pytest.raises(StoreError, match="pg_dump failed: exit code 3"):
        postgresql_programs.run_program(remote, ["pg_dump", "--format=custom"])
    assert "hidden" not in (tmp_path / "pg_dump.args").read_text()
    variables = (tmp_path / "pg_dump.env").read_text()
    for line in ("PGPASSWORD=hidden", "PGHOST=db.example", "PGPORT=5433", "PGDATABASE=scout"):
        assert line in variables
    assert "of another" not in variables


def test_commands(scout: Scout, settings: Settings, tmp_path: Path) -> None:
    """What is not a complete backup, or not an empty folder, is one line."""
    fill(settings)[0].engine.dispose()
    folder = tmp_path / "backup"
    assert "shops: 1" in scout("db", "backup", str(folder), "--without-bodies").out
    assert json.loads((folder / "manifest.json").read_text())["note"] == "page bodies are left out"
    assert "is not empty" in scout("db", "backup", str(folder)).error
    (folder / "manifest.json").unlink()
    assert "no complete backup" in scout("db", "restore", str(folder)).error


@pytest.mark.postgresql_only
def test_a_missing_program(
    settings: Settings, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without pg_dump the command says so, and leaves no folder behind."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(postgresql_programs, "PROGRAMS", tmp_path / "none")
    with pytest.raises(StoreError, match="pg_dump is not installed"):
        back_up_store(settings, store, tmp_path / "backup")
    assert not (tmp_path / "backup").exists()


def test_a_full_disk_leaves_nothing(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup that fails leaves its folder empty, so that the next one may take its place."""
    store = Store.open(settings)

    def fail(*arguments: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    folder = tmp_path / "backup"
    with monkeypatch.context() as patch:
        patch.setattr(backup, "_copy_bodies", fail)
        with pytest.raises(StorageFull, match="backup cannot be written: No space left"):
            backup.back_up_store(settings, store, folder)
    assert list(folder.iterdir()) == []
    assert backup.back_up_store(settings, store, folder).dialect == "sqlite"


def test_a_killed_backup_is_made_again(settings: Settings, tmp_path: Path) -> None:
    """Its folder holds half a copy and an unlocked lock file; one that is being made stays."""
    store, _ = fill(settings)
    folder = tmp_path / "backup"
    leave_half_a_backup(folder)
    assert back_up_store(settings, store, folder).bodies == 1
    assert not (folder / LOCK).exists()
    running = tmp_path / "running"
    leave_half_a_backup(running)
    lock = lock_file(running / LOCK, "held")
    with pytest.raises(Busy, match="another backup is made into"):
        back_up_store(settings, store, running)
    leave_half_a_backup(tmp_path / "killed")
    assert remove_older_backups(folder, keep=1) == [tmp_path / "killed"]
    lock.release()
    assert (running / "scout.db").exists()


@pytest.mark.sqlite_only
@pytest.mark.parametrize("bytes_left", [0, 5_000, -1])
def test_a_damaged_copy_is_not_restored(
    bytes_left: int, settings: Settings, tmp_path: Path
) -> None:
    """Neither one that was cut off nor one whose pages are not those that were written."""
    store, _ = fill(settings)
    back_up_store(settings, store, tmp_path / "backup")
    copy = tmp_path / "backup" / "scout.db"
    contents = bytearray(copy.read_bytes())
    if bytes_left < 0:
        contents[4_096:8_192] = b"\xff" * 4_096
    else:
        del contents[bytes_left:]
    copy.write_bytes(contents)
    restored = settings.model_copy(update={"data_dir": tmp_path / "restored"})
    with pytest.raises(UsageError, match="is damaged"):
        restore_store(restored, tmp_path / "backup")
    assert not list((tmp_path / "restored").glob("scout.db*"))


@pytest.mark.sqlite_only
def test_a_killed_restore_is_run_again(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database comes last, so that half a restore is none."""
    store, body = fill(settings)
    back_up_store(settings, store, tmp_path / "backup")
    restored = settings.model_copy(update={"data_dir": tmp_path / "restored"})

    def kill(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(restore, "_restore_sqlite", kill)
        with pytest.raises(KeyboardInterrupt):
            restore_store(restored, tmp_path / "backup")
    assert BodyStore(restored.bodies).get(body) == b"<p>Lamp"
    restore_store(restored, tmp_path / "backup")
    check(restored, body)


def test_older_backups_are_removed(scout: Scout, settings: Settings, tmp_path: Path) -> None:
    """The newest stay, and so does whatever is no complete backup of this kind of database."""
    fill(settings)
    folder = tmp_path / "backups"
    for day in range(1, 5):
        assert scout("db", "backup", str(folder / f"2026-11-0{day}")).code == 0
        set_manifest(folder / f"2026-11-0{day}", made_at=f"2026-11-0{day}T02:30:00+00:00")
    (folder / "of another kind").mkdir()
    manifest = (folder / "2026-11-01" / MANIFEST).read_text()
    (folder / "of another kind" / MANIFEST).write_text(manifest)
    set_manifest(folder / "of another kind", dialect="oracle")
    (folder / "notes").mkdir()
    (folder / "broken").mkdir()
    (folder / "broken" / MANIFEST).write_text("{")
    result = scout("db", "backup", str(folder / "new"), "--keep", "2", "--json")
    assert [Path(path).name for path in json.loads(result.out)["removed"]] == [
        "2026-11-03",
        "2026-11-02",
        "2026-11-01",
    ]
    left = {path.name for path in folder.iterdir()}
    assert left == {"new", "2026-11-04", "of another kind", "notes", "broken"}
    assert remove_older_backups(folder / "new", keep=2) == []


def test_a_new_backup_stays(scout: Scout, settings: Settings, tmp_path: Path) -> None:
    """A link to it counts for no backup, and neither does it matter that its clock is behind."""
    fill(settings)
    (tmp_path / "latest").symlink_to(tmp_path / "new", target_is_directory=True)
    for name in ("old", "new"):
        assert scout("db", "backup", str(tmp_path / name)).code == 0
    set_manifest(tmp_path / "new", made_at="1970-01-01T00:00:00+00:00")
    assert remove_older_backups(tmp_path / "latest", keep=1) == [(tmp_path / "old").resolve()]
    assert (tmp_path / "latest" / MANIFEST).exists()


def leave_half_a_backup(folder: Path) -> None:
    """Leave what a killed backup leaves."""
    folder.mkdir()
    (folder / "scout.db").write_bytes(b"half")
    (folder / "scout.db-journal").write_bytes(b"half")
    (folder / LOCK).touch()


def set_manifest(folder: Path, **values: str) -> None:
    """Change the manifest of a backup."""
    path = folder / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | values))
