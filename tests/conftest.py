"""Fixtures of the tests of all packages: settings, a store, the built wheel, and the real data.

Property tests try the same cases on every machine; `pytest --hypothesis-profile explore` looks for
new ones.
"""

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import hypothesis
import pytest

from catalog.errors import ConfigError
from catalog.models import Shop
from catalog.runtime.settings import Settings
from catalog.runtime.spark.session import SparkJobs, open_spark
from catalog.storage.store import Store
from tests.empty_store import open_empty_store
from tests.made_once import make_once

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
# Files and folders of the source tree that no wheel is built from.
NO_SOURCES = ("*.egg-info", ".*", "build", "dist", "var", "tests", "__pycache__")
hypothesis.settings.register_profile("same", derandomize=True, deadline=None)
hypothesis.settings.register_profile("explore", max_examples=2000, deadline=None)
hypothesis.settings.load_profile("same")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings whose data is below a folder of this test alone."""
    for name in ("SCOUT_DATABASE_URL", "SCOUT_DATA_DIR", "SCOUT_BODIES_URL", "SCOUT_LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    return Settings.load(data_dir=tmp_path / "var")


@pytest.fixture
def store(settings: Settings) -> Store:
    """An empty store."""
    return open_empty_store(settings)


@pytest.fixture
def shop(store: Store) -> Shop:
    """A stored shop on loopback."""
    with store.write() as session:
        stored = Shop(name="demo", url="http://127.0.0.1:8000/", allow_private=True)
        session.add(stored)
    return stored


@pytest.fixture(scope="session")
def spark_jobs() -> Iterator[SparkJobs]:
    """A Spark session on one core. Tests that need it are skipped without pyspark or Java."""
    jobs = ExitStack()
    try:
        # Optimising costs more than it saves on a few rows.
        options = {
            "spark.driver.memory": "512m",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.adaptive.enabled": "false",
        }
        session = jobs.enter_context(open_spark("local[1]", settings=options))
    except ConfigError as error:
        pytest.skip(str(error))
    with jobs:
        yield session


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the project.

    Tests that need it are skipped where it is absent.
    """
    if not (SHARED / "data").is_dir():
        pytest.skip("the real data (../shared/data) is not beside the project")
    return SHARED


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the source tree."""
    folder = make_once(tmp_path_factory, "wheel", _build_wheel)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def fresh_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment: the wheel, and the dependencies of this environment."""

    def install(folder: Path) -> None:
        command = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
        subprocess.run(command, check=True, timeout=120)
        (site_packages,) = folder.glob("lib/python*/site-packages")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site_packages)
        # Only the folders are added: `.pth` files inside them, such as an editable Scout, have no
        # effect.
        dependencies = [
            path for path in sys.path if path.endswith(("site-packages", "dist-packages"))
        ]
        (site_packages / "dependencies.pth").write_text("\n".join(dependencies), encoding="utf-8")

    return make_once(tmp_path_factory, "fresh", install) / "bin" / "python"


def _build_wheel(folder: Path) -> None:
    source = folder / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*NO_SOURCES))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    flags = ["--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
    subprocess.run([*pip, *flags, str(source)], check=True, timeout=240)
