"""`scout db copy`: the store in another database, and its page bodies in another folder."""

import json
from pathlib import Path

import pytest

from catalog.models import Page, PageState, Shop
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store
from tests.scout.conftest import Scout


@pytest.fixture
def pages(settings: Settings, store: Store, shop: Shop) -> list[str]:
    """Store pages with two bodies, one of them missing; returns the names of the bodies."""
    names = [BodyStore(settings.bodies).put(b"<title>Mug</title>"), "ff" * 20]
    with store.write() as session:
        for number, body in enumerate([*names, names[0], None]):
            session.add(
                Page(
                    shop_id=shop.id or 0,
                    url=f"{shop.url}{number}",
                    state=PageState.FETCHED,
                    body=body,
                )
            )
    return names


@pytest.mark.both_databases
def test_copy(
    scout: Scout, settings: Settings, shop: Shop, pages: list[str], tmp_path: Path
) -> None:
    """The copy is a store that the same commands read; the files stay, and it says where."""
    target = tmp_path / "copy.db"
    result = scout("db", "copy", settings.database, str(target))
    assert result.code == 0
    assert "5 rows copied" in result.out
    assert (
        f"page bodies, reports and caches are files: they stay in {settings.data_dir}" in result.out
    )
    listed = scout("--database-url", f"sqlite:///{target}", "shop", "list", "--json")
    assert json.loads(listed.out)["name"] == shop.name
    again = scout("db", "copy", settings.database, str(target))
    assert (again.code, "is not empty (table shop has rows)" in again.error) == (1, True)


def test_bodies(scout: Scout, settings: Settings, pages: list[str], tmp_path: Path) -> None:
    """Bodies are copied on request, each once, and those that are missing are counted."""
    place = tmp_path / "bodies"
    BodyStore(str(place)).put(b"there already")
    copied = scout(
        "db", "copy", settings.database, str(tmp_path / "a.db"), "--bodies", str(place), "--json"
    )
    assert json.loads(copied.out)["page_bodies"] == {
        "copied": 1,
        "already there": 0,
        "missing or damaged in the source": 1,
    }
    assert BodyStore(str(place)).get(pages[0]) == b"<title>Mug</title>"
    again = scout("db", "copy", settings.database, str(tmp_path / "b.db"), "--bodies", str(place))
    assert "page bodies: 0 copied, 1 already there, 1 missing or damaged in the source" in again.out


@pytest.mark.both_databases
def test_interrupted_bodies(
    scout: Scout, settings: Settings, pages: list[str], tmp_path: Path
) -> None:
    """A copy that ends among the bodies leaves the target empty: the same command completes it."""
    place, target = tmp_path / "bodies", tmp_path / "copy.db"
    # A file in place of the folder: no body can be written.
    place.write_text("")
    copy = ["db", "copy", settings.database, str(target), "--bodies", str(place)]
    assert "page bodies cannot be written" in scout(*copy).error
    place.unlink()
    completed = scout(*copy)
    assert completed.code == 0, completed.err
    assert "5 rows copied" in completed.out
    assert BodyStore(str(place)).get(pages[0]) == b"<title>Mug</title>"
    # A target with rows is refused before any body is copied.
    other = tmp_path / "other"
    refused = scout("db", "copy", settings.database, str(target), "--bodies", str(other))
    assert ("is not empty" in refused.error, other.exists()) == (True, False)
