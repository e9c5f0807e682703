"""Fixtures of the tests of all packages: settings, a store, and the real data.

Property tests try the same cases on every machine; `pytest --hypothesis-profile explore` looks for
new ones.
"""

from pathlib import Path

import hypothesis
import pytest

from catalog.models import Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store

SHARED = Path(__file__).parents[2] / "shared"
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
    return Store.open(settings)


@pytest.fixture
def shop(store: Store) -> Shop:
    """A stored shop on loopback."""
    with store.write() as session:
        stored = Shop(name="demo", url="http://127.0.0.1:8000/", allow_private=True)
        session.add(stored)
    return stored


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the project.

    Tests that need it are skipped where it is absent.
    """
    if not (SHARED / "data").is_dir():
        pytest.skip("the real data (../shared/data) is not beside the project")
    return SHARED
