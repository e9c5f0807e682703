"""Fixtures of the tests of all packages: settings, a store, the built wheel, and the real data.

Stores are in SQLite. Tests marked `both_databases` run on PostgreSQL as well, where it is installed,
those marked `postgresql_only` there alone. `SCOUT_TEST_DATABASE=postgresql pytest ...` runs all tests
of `ON_POSTGRESQL` that use a store on PostgreSQL; those marked `sqlite_only` are skipped.

Property tests try the same cases on every machine; `pytest --hypothesis-profile explore` looks for
new ones.
"""

import os
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
from tests.catalog.storage import postgresql
from tests.compiled_statements import share_compiled_statements
from tests.empty_store import open_empty_store
from tests.made_once import make_once

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
# Files and folders of the source tree that no wheel is built from.
NO_SOURCES = ("*.egg-info", ".*", "build", "dist", "var", "tests", "__pycache__")
hypothesis.settings.register_profile("same", derandomize=True, deadline=None)
hypothesis.settings.register_profile("explore", max_examples=2000, deadline=None)
hypothesis.settings.load_profile("same")


DATABASES = ("sqlite", "postgresql")
DATABASE_FIXTURES = ("database", "module_database")
# Folders, below that of the tests, whose stores can be on PostgreSQL.
ON_POSTGRESQL = ("catalog", "crawler", "parser", "reports", "scout")
IS_SWITCHED = os.environ.get("SCOUT_TEST_DATABASE") == "postgresql"


def pytest_configure(config: pytest.Config) -> None:
    """Share a PostgreSQL server among the processes of this run, and compiled SQL among stores."""
    share_compiled_statements()
    shared = ExitStack()
    shared.enter_context(postgresql.shared_folder())
    config.add_cleanup(shared.close)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that use no PostgreSQL, where all others run on it."""
    if not IS_SWITCHED:
        return
    chosen, left_out = [], []
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        databases = {parameters.get(name) for name in DATABASE_FIXTURES}
        (chosen if "postgresql" in databases else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = chosen


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that uses a store on the databases that are meant."""
    fixtures = [name for name in DATABASE_FIXTURES if name in metafunc.fixturenames]
    if not fixtures:
        return
    markers = {marker.name for marker in metafunc.definition.iter_markers()}
    folder = metafunc.definition.path.relative_to(ROOT / "tests").parts[0]
    databases = ["sqlite"]
    if "postgresql_only" in markers or (IS_SWITCHED and folder in ON_POSTGRESQL):
        databases = ["postgresql"]
    elif "both_databases" in markers and "sqlite_only" not in markers:
        databases = list(DATABASES)
    if databases != ["sqlite"]:
        metafunc.parametrize(fixtures[0], databases, indirect=True)


@pytest.fixture
def database(request: pytest.FixtureRequest) -> str:
    """Name the database of this test's store: sqlite or postgresql."""
    name: str = getattr(request, "param", "sqlite")
    if name == "postgresql" and request.node.get_closest_marker("sqlite_only"):
        pytest.skip("this test is about SQLite")
    return name


@pytest.fixture(scope="module")
def module_database(request: pytest.FixtureRequest) -> Iterator[str]:
    """Give the URL of the database of a module's store; "" is SQLite in the data folder."""
    if getattr(request, "param", "sqlite") == "sqlite":
        yield ""
        return
    with postgresql.fresh_database() as url:
        yield url


@pytest.fixture
def settings(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    database: str,
) -> Iterator[Settings]:
    """Settings whose data is in a folder and a database of this test alone.

    Where a test uses no `store`, the database has no tables.
    """
    for name in ("SCOUT_DATABASE_URL", "SCOUT_DATA_DIR", "SCOUT_BODIES_URL", "SCOUT_LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    if database == "sqlite":
        yield Settings.load(data_dir=tmp_path / "var")
        return
    has_schema = "store" in request.fixturenames
    make = postgresql.fresh_database if has_schema else postgresql.empty_database
    with make() as url:
        # For settings that the test loads itself, and for processes that it starts.
        monkeypatch.setenv("SCOUT_DATABASE_URL", url)
        yield Settings.load(data_dir=tmp_path / "var", database_url=url)


@pytest.fixture
def store(settings: Settings, database: str) -> Iterator[Store]:
    """An empty store."""
    if database == "sqlite":
        yield open_empty_store(settings)
        return
    opened = Store.open(settings)
    yield opened
    opened.engine.dispose()


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
