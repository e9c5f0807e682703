"""The doctor finds what is wrong, and nothing where all is well."""

import json
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from catalog.models import Run, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.doctor import NAMES, examine
from scout.pipeline import locks, pipeline
from tests.scout.conftest import Scout


def _wrong(settings: Settings, check: str) -> list[str]:
    return [one.found for one in examine(settings) if one.check == check and one.state == "wrong"]


def test_all_well(scout: Scout) -> None:
    """Nothing is wrong with a sound installation, and the exit code says so."""
    said = scout("doctor", "--json")
    assert [one for one in json.loads(said.out) if one["state"] == "wrong"] == []
    assert (said.code, scout("db", "doctor").code) == (0, 0)


def test_names_all_rooms() -> None:
    """Every top-level package of the project is looked after."""
    root = Path(__file__).parents[2]
    rooms = {path.parent.name for path in root.glob("*/__init__.py")} - {"tests", "benchmarks"}
    assert rooms == set(NAMES)


def test_foreign_distribution(
    scout: Scout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed distribution that owns one of our names is found and named, with exit code 1."""
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
    said = scout("doctor")
    assert (
        said.code,
        "distribution 'web-crawler' also owns the package 'crawler'" in said.out,
    ) == (1, True)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("kind", ["package", "module"])
def test_stray(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bool, kind: str
) -> None:
    """A package or module of our name that merely lies on the import path is found, before ours or behind it."""
    if kind == "package":
        _package(tmp_path / "matcher")
    else:
        (tmp_path / "matcher.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(
        sys, "path", [str(tmp_path), *sys.path] if first else [*sys.path, str(tmp_path)]
    )
    assert any(
        f"'matcher' that is not Scout's lies in {tmp_path}" in line
        for line in _wrong(settings, "package names")
    )


def test_mere_folder(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of our name without a module in it does no harm."""
    (tmp_path / "reports").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert _wrong(settings, "package names") == []


def test_versions(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package outside its range, and one that is not there, are named with what to install."""
    monkeypatch.setattr(
        "scout.doctor.requires", lambda name: ["typer>=99", "not-there>=1", "idna>=1"]
    )
    old, absent = _wrong(settings, "versions")
    assert "typer>=99 is needed" in old
    assert "not-there is not installed" in absent


def test_database(settings: Settings, store: Store) -> None:
    """A database of another schema is wrong; the other checks go on."""
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert "newer Scout" in _wrong(settings, "database")[0]
    assert "page bodies" in {one.check for one in examine(settings)}


def test_password_hidden(settings: Settings) -> None:
    """A database's password is not printed, not even where the database cannot be reached."""
    hidden = settings.model_copy(
        update={"database_url": "postgresql://me:secret@127.0.0.1:1/scout"}
    )
    assert "secret" not in str(examine(hidden))


def test_folders(settings: Settings, tmp_path: Path) -> None:
    """A data folder and a store of bodies that cannot be written to are wrong."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    broken = settings.model_copy(
        update={"data_dir": tmp_path / "file" / "var", "database_url": "sqlite://"}
    )
    assert _wrong(broken, "data folder")
    assert _wrong(settings.model_copy(update={"bodies_url": "no-such-protocol://x"}), "page bodies")


def test_runs(settings: Settings, store: Store, shop: Shop) -> None:
    """An unfinished run is noted with what to do, one that is under way is no matter, and a lock left over is free."""
    with store.write() as session:
        session.add(Run(shop_id=shop.id))
    assert "'scout run demo' goes on with it" in str(examine(settings))
    with pipeline.only_one(settings, shop):
        assert "is under way" in str(examine(settings))
    assert not locks.is_held(locks.folder(settings) / "shop-1.lock")


def _package(folder: Path) -> None:
    folder.mkdir()
    (folder / "__init__.py").write_text("", encoding="utf-8")
