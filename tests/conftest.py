"""What the tests of all rooms share: settings and a store in a fresh folder, and the real data where it is there.

Property tests try the same cases on every machine; `pytest --hypothesis-profile explore` looks for new ones.
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
    """Settings that keep everything below a folder of this test's own."""
    for name in ("SCOUT_DATABASE_URL", "SCOUT_DATA_DIR", "SCOUT_BODIES_URL"):
        monkeypatch.delenv(name, raising=False)
    return Settings.load(data_dir=tmp_path / "var")


@pytest.fixture
def store(settings: Settings) -> Store:
    """An empty store."""
    return Store.open(settings)


@pytest.fixture
def shop(store: Store) -> Shop:
    """A shop on loopback, stored."""
    with store.write() as session:
        made = Shop(name="demo", url="http://127.0.0.1:8000/", allow_private=True)
        session.add(made)
    return made


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the project; tests that need it are skipped where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip("the real data (../shared/data) is not beside the project")
    return SHARED
