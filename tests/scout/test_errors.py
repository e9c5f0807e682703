"""Errors as users see them: an exit code, and one line with the fault, its place and a remedy."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from catalog.errors import BlockedShop
from catalog.models import Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.demo.demo_run import demo_settings
from tests.reports.conftest import StoreBuilder
from tests.scout.conftest import FakeStages, Scout

CSV = "id,title,link,price\n1,Mug,http://127.0.0.1:8000/p/1,5.00 EUR\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "nobody"),
        ("crawl", "nobody"),
        ("offers", "nobody"),
        ("report", "nobody"),
        ("rules", "show", "nobody"),
        ("shop", "remove", "nobody"),
        ("catalog", "show", "nobody"),
        ("catalog", "import", "nobody", "feed.csv"),
        ("schedule", "add", "nobody", "--cron", "0 5 * * *"),
        ("decide", "nobody", "http://127.0.0.1/", "accept"),
    ],
)
def test_unknown_shop(scout: Scout, arguments: tuple[str, ...]) -> None:
    """An unknown shop is an error of one line that mentions the list of shops."""
    result = scout(*arguments)
    assert result.code == 1
    assert (
        result.error
        == "no shop is called 'nobody': 'scout shop list' shows all, 'scout shop add' adds one"
    )
    assert result.out == ""


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("nonsense",), "No such command 'nonsense'"),
        (("shop", "add"), "Missing argument"),
        (("offers", "demo", "--perhaps"), "No such option"),
        (("report", "demo", "--format", "pdf"), "choose from html,csv,xlsx,json"),
        (("catalog", "import", "demo", "x.csv", "--map", "ean"), "has to be FIELD=COLUMN"),
        (("rules", "lock", "demo", "colour"), "'colour' is no attribute"),
        (("schedule", "add", "demo", "--cron", "soon"), "it has to have five fields"),
        (("schedule", "add", "demo", "--cron", "0 5 * * 9"), "the day-of-week has to be 0 to 7"),
        (("schedule", "add", "demo", "--cron", "0 5 30 2 *"), "the day-of-month has to be 1 to 31"),
        (("report", "demo", "--run", "99"), "has no run 99"),
        (("report", "demo", "--run", "9" * 23), "has no run 999"),
        (
            ("shop", "set", "demo", "--max-pages", "9" * 23),
            "should be less than or equal to 1000000000",
        ),
        (("shop", "set", "demo", "--delay", "1e400"), "should be less than or equal to 3600"),
        (
            ("catalog", "show", "demo", "--limit", "9" * 23),
            "should be less than or equal to 1000000000",
        ),
        (("report", "demo", "--run", "-" + "9" * 23), "has no run -999"),
        (("rules", "show", "demo", "--version", "9" * 23), "has no rules of version 999"),
        (("evaluate", "extraction", "data", "--threshold", "2"), "numbers from 0 to 1"),
        (("evaluate", "extraction", "data", "--threshold", "nan"), "numbers from 0 to 1"),
    ],
)
def test_wrong_usage(scout: Scout, shop: Shop, arguments: tuple[str, ...], line: str) -> None:
    """Wrong usage ends with exit code 2, one line on standard error, nothing on standard output."""
    result = scout(*arguments)
    assert (result.code, result.out) == (2, "")
    assert line in result.error


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "demo", "--run", "99999999999"),
        ("offers", "demo", "--since", "99999999999"),
        ("rules", "show", "demo", "--version", "99999999999"),
    ],
)
def test_numbers_that_nothing_can_have(
    scout: Scout, store: Store, shop: Shop, arguments: tuple[str, ...]
) -> None:
    """Are those of no run and no version, on either database."""
    StoreBuilder(store, shop).run()
    assert "99999999999" in scout(*arguments).error


def test_no_known_offers(scout: Scout, shop: Shop) -> None:
    """A run without known offers or readable pages fails with the command to import offers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crawler.crawl.crawl_shop", lambda *_, **__: None)
        result = scout("run", "demo")
    assert result.code == 1
    assert "the catalog has no offer of 'demo'" in result.error
    assert "scout catalog import demo" in result.error


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("nowhere.csv", None, "nowhere.csv"),
        ("broken.xml", "<rss><channel><item>", "broken.xml"),
        ("broken.jsonl", "{not json\n", "broken.jsonl"),
        ("empty.csv", "", "empty.csv"),
        ("fields.csv", "id,colour\n1,red\n", "fields.csv"),
    ],
)
def test_bad_feeds(
    scout: Scout, shop: Shop, tmp_path: Path, name: str, content: str | None, line: str
) -> None:
    """An unreadable feed, or one that lacks a field, is reported in one line; known offers stay."""
    good = tmp_path / "good.csv"
    good.write_text(CSV, encoding="utf-8")
    assert scout("catalog", "import", "demo", str(good)).code == 0
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    result = scout("catalog", "import", "demo", str(tmp_path / name))
    assert result.code == 1
    assert line in result.error
    assert "1 of 1 known offers" in scout("catalog", "show", "demo").out


def test_import_tells(scout: Scout, shop: Shop, tmp_path: Path) -> None:
    """An import prints the numbers of offers and rejected rows.

    Rejected rows are stored with line and reason.
    """
    feed = tmp_path / "feed.csv"
    feed.write_text(CSV + "2,,,\n", encoding="utf-8")
    result = scout("catalog", "import", "demo", str(feed))
    assert "2 rows read, 1 offers imported, 1 rows rejected" in result.out
    row = json.loads(scout("catalog", "show", "demo", "--bad", "--json").out)
    assert (row["line"], bool(row["reason"])) == (3, True)


def test_blocked(scout: Scout, known_shop: Shop, fake_stages: FakeStages) -> None:
    """A shop with captchas only is an error of one line, and the run fails with that reason."""
    fake_stages.fail["crawl"] = BlockedShop(
        "demo answers with captchas only: slow down, or ask the shop to let Scout in"
    )
    result = scout("run", "demo")
    assert (result.code, "captchas only" in result.error) == (1, True)
    shown = json.loads(scout("shop", "show", "demo", "--json").out)
    assert (shown["state"], "captchas only" in shown["reason"]) == ("failed", True)


def test_newer_database(scout: Scout, store: Store) -> None:
    """A database of a newer Scout is refused."""
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for arguments in (("shop", "list"), ("db", "upgrade")):
        result = scout(*arguments)
        assert result.code == 1
        assert "written by a newer Scout" in result.error


def test_foreign_database(scout: Scout, tmp_path: Path) -> None:
    """A file that is no database is reported as such."""
    path = tmp_path / "notes.txt"
    path.write_text("not a database, only notes " * 100, encoding="utf-8")
    result = scout("--database-url", f"sqlite:///{path}", "shop", "list")
    assert (result.code, "is not a database" in result.error) == (1, True)


@pytest.mark.sqlite_only
def test_full_disk(scout: Scout, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that cannot grow is reported as no space left."""
    with store.engine.connect() as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
    monkeypatch.setattr("catalog.storage.store._configure_sqlite", lambda raw, _: _cap(raw, pages))
    long = "http://127.0.0.1/" + "x" * 200_000
    result = scout("shop", "add", "big", "--url", long, "--allow-private")
    assert (result.code, "no space left" in result.error) == (1, True)


def _cap(raw: object, pages: int) -> None:
    raw.isolation_level = None
    raw.execute(f"PRAGMA max_page_count={pages}")


@pytest.mark.parametrize(
    ("variable", "value", "line"),
    [
        ("SCOUT_WORKERS", "many", "setting 'workers'"),
        ("SCOUT_LOG_FORMAT", "xml", "setting 'log_format'"),
        ("SCOUT_DATABASE_URL", "nonsense", "setting 'database_url'"),
        ("SCOUT_CONFIDENCE", '{"price": 2}', "setting 'confidence.price'"),
        ("SCOUT_CONFIDENCE", '{"price": NaN}', "setting 'confidence.price'"),
    ],
)
def test_bad_settings(
    scout: Scout, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, line: str
) -> None:
    """An invalid setting is reported by its name."""
    monkeypatch.setenv(variable, value)
    result = scout("shop", "list")
    assert (result.code, line in result.error) == (1, True)


def test_bad_toml(scout: Scout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scout.toml that is not TOML is reported."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scout.toml").write_text("workers = [", encoding="utf-8")
    result = scout("shop", "list")
    assert (result.code, "scout.toml cannot be read" in result.error) == (1, True)


@pytest.mark.sqlite_only
def test_unwritable_data_folder(scout: Scout, tmp_path: Path) -> None:
    """A data folder that cannot be made is reported."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = scout("--data-dir", str(tmp_path / "file" / "var"), "shop", "list")
    assert (result.code, "setting 'data_dir'" in result.error) == (1, True)


def test_taken_port(scout: Scout) -> None:
    """A taken port is reported before anything is served."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = scout("serve", "--port", str(taken.getsockname()[1]))
    assert (result.code, "choose others with --host, --port" in result.error) == (1, True)


def test_taken_demo_port(scout: Scout, settings: Settings) -> None:
    """A kept demo whose port is taken by another process is reported with a remedy."""
    kept = demo_settings(settings, keep=True)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with Store.open(kept).write() as session:
            session.add(Shop(name="demo", url=f"http://127.0.0.1:{port}/", allow_private=True))
        result = scout("demo", "--keep")
    assert (result.code, f"cannot be served on port {port}" in result.error) == (1, True)


def _shell(
    settings: Settings, *arguments: str, **options: object
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scout", "--data-dir", str(settings.data_dir), *arguments]
    return subprocess.run(command, text=True, capture_output=True, check=False, **options)


def test_unexpected(settings: Settings, tmp_path: Path) -> None:
    """An unexpected error is one line too; with -v it is a traceback."""
    broken = "import scout.overview as o, sys, scout.cli as c\no.describe_shops = lambda store: 1 / 0\nsys.exit(c.main())"
    for flags in ([], ["-v"]):
        command = [
            sys.executable,
            "-c",
            broken,
            *flags,
            "--data-dir",
            str(tmp_path),
            "shop",
            "list",
        ]
        result = subprocess.run(command, text=True, capture_output=True, check=False)
        assert result.returncode == 1
        assert ("Traceback" in result.stderr) == bool(flags)
    assert len(result.stderr.splitlines()) > 1


def test_nobody_reads(settings: Settings, store: Store) -> None:
    """A reader that closes the pipe early, as `head` does, causes no failure."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "scout", "--data-dir", str(settings.data_dir), "db", "upgrade"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
