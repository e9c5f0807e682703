"""The doctor finds faults of an installation, and none in a sound one."""

import json
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text

from catalog.models import Run, Shop, utc_now
from catalog.runtime.settings import Settings
from catalog.runtime.spark.java import find_java
from catalog.storage.store import Store
from scout.doctor import checks, installation, machine
from scout.doctor.checks import run_checks
from scout.doctor.installation import PACKAGES
from scout.doctor.store_checks import check_bodies, check_runs
from scout.pipeline import locks, shop_run
from tests.scout.conftest import Scout

# The function of each check that fails in these tests: all together start a browser.
FUNCTIONS = {
    "package names": installation.check_package_names,
    "versions": installation.check_versions,
    "data folder": machine.check_data_folder,
    "variables": machine.check_variables,
    "temporary folder": machine.check_temporary_folder,
    "page bodies": check_bodies,
    "clock": check_runs,
}


@pytest.fixture(autouse=True)
def _without_variables_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SCOUT_TEST_SERVER", "SCOUT_TEST_DATABASE"):
        monkeypatch.delenv(name, raising=False)


def _wrong(settings: Settings, check: str) -> list[str]:
    return [
        result.message
        for result in FUNCTIONS[check](settings)
        if result.check == check and result.state == "wrong"
    ]


def test_all_well(scout: Scout) -> None:
    """A sound installation has no fault, and the exit code is 0."""
    result = scout("doctor", "--json")
    assert [row for row in json.loads(result.out) if row["state"] == "wrong"] == []
    assert (result.code, scout("db", "doctor").code) == (0, 0)


def test_all_checks() -> None:
    """The checks that these tests call one by one are among those of the doctor."""
    assert set(FUNCTIONS.values()) <= set(checks.CHECKS)


def test_all_packages() -> None:
    """Every top-level package of the project is checked."""
    root = Path(__file__).parents[2]
    packages = {path.parent.name for path in root.glob("*/__init__.py")} - {"tests", "benchmarks"}
    assert packages == set(PACKAGES)


def test_foreign_distribution(
    scout: Scout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed distribution with a package of Scout's name is reported, with exit code 1."""
    _package(tmp_path / "crawler")
    info = tmp_path / "web_crawler-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: web-crawler\nVersion: 1.0\n", encoding="utf-8"
    )
    (info / "RECORD").write_text(
        "crawler/__init__.py,,\nweb_crawler-1.0.dist-info/METADATA,,\n", encoding="utf-8"
    )
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setattr(checks, "CHECKS", (installation.check_package_names,))
    result = scout("doctor")
    assert (
        result.code,
        "distribution 'web-crawler' also owns the package 'crawler'" in result.out,
    ) == (1, True)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("kind", ["package", "module"])
def test_stray(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bool, kind: str
) -> None:
    """A package or module of Scout's name on the import path is reported, first or not."""
    if kind == "package":
        _package(tmp_path / "matcher")
    else:
        (tmp_path / "matcher.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(
        sys, "path", [str(tmp_path), *sys.path] if first else [*sys.path, str(tmp_path)]
    )
    assert any(
        f"'matcher' that is not Scout's is in {tmp_path}" in line
        for line in _wrong(settings, "package names")
    )


def test_mere_folder(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of Scout's name without a module is no fault."""
    (tmp_path / "reports").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert _wrong(settings, "package names") == []


def test_versions(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dependency that is absent or outside its range is reported with its requirement."""
    monkeypatch.setattr(
        "scout.doctor.installation.requires", lambda name: ["typer>=99", "not-there>=1", "idna>=1"]
    )
    old, absent = _wrong(settings, "versions")
    assert "typer>=99 is needed" in old
    assert "not-there is not installed" in absent


def test_database(settings: Settings, store: Store) -> None:
    """A database with another schema is a fault; the other checks still run."""
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    results = {result.check: result for result in run_checks(settings)}
    assert results["database"].state == "wrong"
    assert "newer Scout" in results["database"].message
    assert "page bodies" in results


def test_password_hidden(settings: Settings) -> None:
    """A database's password is never printed, also when the database cannot be reached."""
    hidden = settings.model_copy(
        update={"database_url": "postgresql://me:secret@127.0.0.1:1/scout"}
    )
    assert "secret" not in str(run_checks(hidden))


def test_folders(settings: Settings, tmp_path: Path) -> None:
    """A data folder or a body store that cannot be written to is a fault."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    broken = settings.model_copy(
        update={"data_dir": tmp_path / "file" / "var", "database_url": "sqlite://"}
    )
    assert _wrong(broken, "data folder")
    assert _wrong(settings.model_copy(update={"bodies_url": "no-such-protocol://x"}), "page bodies")


def test_runs(settings: Settings, store: Store, shop: Shop) -> None:
    """An unfinished run is noted with the command to resume it.

    A run under way is ok; a lock file left over is free.
    """
    with store.write() as session:
        session.add(Run(shop_id=shop.id))
    assert "'scout run demo' resumes it" in str([*check_runs(settings)])
    with shop_run.lock_shop(settings, store, shop, "a run"):
        assert "is under way" in str([*check_runs(settings)])
    assert not locks.is_locked(locks.lock_folder(settings) / "shop-1.lock")


def test_space_and_files(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk without space, or without room for another file, is a fault with its remedy."""
    monkeypatch.setattr(machine, "MIN_FREE_SPACE", 10**18)
    monkeypatch.setattr(machine, "MIN_FREE_INODES", 10**18)
    assert "'scout db prune'" in _wrong(settings, "data folder")[0]
    assert "set TMPDIR" in _wrong(settings, "temporary folder")[0]


def test_clock_behind(settings: Settings, store: Store, shop: Shop) -> None:
    """A run that began in the future shows that the clock is wrong."""
    with store.write() as session:
        session.add(Run(shop_id=shop.id, started_at=utc_now() + timedelta(days=2)))
    assert "NTP" in _wrong(settings, "clock")[0]


def test_programs(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Java and a browser that are absent are noted; one that is set and does not start is a fault."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(installation, "find_java", partial(find_java, folders=()))
    notes = {result.check: result for result in run_checks(settings)}
    assert notes["Java"].state == notes["Chromium"].state == "note"
    assert "apt install openjdk-17-jre-headless" in notes["Java"].message
    (tmp_path / "bin").mkdir()
    java, browser = tmp_path / "bin" / "java", tmp_path / "bin" / "chromium"
    java.write_text("#!/bin/sh\n")
    (tmp_path / "release").write_text('JAVA_VERSION="11.0.2"\n')
    browser.write_text("#!/bin/sh\nexit 1\n")
    java.chmod(0o755)
    browser.chmod(0o755)
    notes = {result.check: result for result in run_checks(settings)}
    assert "Java 11 in" in notes["Java"].message
    assert "does not start" in notes["Chromium"].message
    for name, program, state in (
        ("no-sandbox", '[ "$1" = --version ]', "wrong"),
        ("renders", "echo Chromium 1", "ok"),
    ):
        browser = tmp_path / "bin" / name
        browser.write_text(f"#!/bin/sh\n{program}\n")
        browser.chmod(0o755)
        of_browser = settings.model_copy(update={"browser": name})
        (checked,) = installation.check_browser(of_browser)
        assert checked.state == state


def _package(folder: Path) -> None:
    folder.mkdir()
    (folder / "__init__.py").write_text("", encoding="utf-8")


def test_a_variable_that_is_no_setting(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt variable is told with the setting that it is like."""
    for name in ("SCOUT_CONTACT", "SCOUT_DATABASE_URL_FILE"):
        monkeypatch.setenv(name, "x")
    assert not [line for line in _wrong(settings, "variables") if "CONTACT" in line]
    monkeypatch.setenv("SCOUT_CONCURENCY", "3")
    assert any("SCOUT_CONCURRENCY is one" in line for line in _wrong(settings, "variables"))
