"""Passwords come from variables and files, never from arguments, and commands keep their limits."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from catalog.errors import WorkerError
from catalog.models import Shop
from catalog.runtime.settings import Settings
from scout.commands import context
from tests.scout.conftest import Scout

FEED = "id,title,price,link\n1,Lamp,9.90,http://127.0.0.1:8000/lamp\n"


def test_a_source_may_stand_in_a_file(scout: Scout, shop: Shop, tmp_path: Path) -> None:
    """`@FILE` reads it; a file that is absent or empty is one line and wrong usage."""
    (tmp_path / "feed.csv").write_text(FEED)
    named = tmp_path / "source"
    named.write_text(f"{tmp_path / 'feed.csv'}\n")
    imported = scout("catalog", "import", shop.name, f"@{named}")
    assert "1 offers imported" in imported.out
    named.write_text("\n")
    for file in (named, tmp_path / "absent"):
        refused = scout("catalog", "import", shop.name, f"@{file}")
        assert refused.code == 2
        assert "name a file with a source" in refused.error


def test_a_password_in_an_argument_is_noted(scout: Scout, tmp_path: Path) -> None:
    """Everybody on the machine can read the arguments of a process."""
    url = f"sqlite:///{tmp_path}/a.db"
    assert "password" not in scout("--database-url", url, "shop", "list").err
    noted = scout("--database-url", "postgresql+nodriver://scout:hidden@db/scout", "shop", "list")
    assert "SCOUT_DATABASE_URL_FILE" in noted.err
    assert "hidden" not in noted.err


def test_an_import_keeps_its_limits(settings: Settings, shop: Shop, tmp_path: Path) -> None:
    """An import that needs more memory than a run may have ends with one line."""
    cells = ",".join(["x" * 10_000] * 300)
    (tmp_path / "feed.csv").write_text(f"{FEED}2,{cells}\n")
    command = ["catalog", "import", shop.name, str(tmp_path / "feed.csv")]
    # A process of its own: one that has run tests has memory to spare.
    ended = subprocess.run(
        [sys.executable, "-m", "scout", "--data-dir", str(settings.data_dir), *command],
        env=os.environ | {"SCOUT_RUN_MEMORY": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "'run_memory' allows (1 MB)" in ended.stderr


def test_reading_keeps_its_time(scout: Scout) -> None:
    """A command that reads pages for too long ends with an error."""
    invocation = context.Invocation()
    with (
        pytest.raises(WorkerError, match="longer than"),
        invocation.limited(seconds=1),
    ):
        compute_for_ever()


def compute_for_ever() -> None:
    """Take processor time until somebody ends it."""
    while True:
        pass
