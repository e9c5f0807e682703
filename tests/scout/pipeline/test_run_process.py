"""`scout run SHOP` runs in a forked process, and behaves as if it were the command itself."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlmodel import select

from catalog.models import Page, PageState, Run, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from tests.catalog.runtime.test_worker_pool import is_alive
from tests.crawler.server import Loopback, page, serve

PAGES = 300


@pytest.fixture
def slow_shop(store: Store) -> Iterator[Loopback]:
    """A shop that takes a minute to crawl."""
    with serve() as server:
        server.routes["/"] = page(*(f"/p/{number}" for number in range(PAGES)))
        server.fallback = page(title="A page")
        server.delay = 0.5
        with store.write() as session:
            session.add(Shop(name="slow", url=server.url, allow_private=True))
        yield server


def _start(settings: Settings, *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "scout", "--data-dir", str(settings.data_dir), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _wait_for_crawl(store: Store, process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 60
    fetched = select(Page.id).where(Page.state == PageState.FETCHED)
    while time.monotonic() < deadline:
        with store.read() as session:
            if session.exec(fetched).first() is not None:
                return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_command_and_all_its_processes(
    settings: Settings,
    store: Store,
    slow_shop: Loopback,
    number: int,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ctrl-C and SIGTERM end the run with their exit codes; it stays unfinished, to go on.

    None of its processes was started with a secret in its arguments or its environment.
    """
    monkeypatch.setenv("SCOUT_SMTP_PASSWORD", "hidden")
    process = _start(settings, "run", "slow")
    _wait_for_crawl(store, process)
    children = _descendants(process.pid)
    for child in children:
        for file in ("cmdline", "environ"):
            assert b"hidden" not in Path(f"/proc/{child}/{file}").read_bytes()
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == code
    assert errors.count("interrupted: the same command resumes") == (number == signal.SIGINT)
    assert "Traceback" not in errors
    assert len(children) >= 3
    assert not any(is_alive(child) for child in children)
    with store.read() as session:
        assert session.exec(select(Run.state)).one() == "running"


def test_errors_and_codes_are_those_of_the_run(settings: Settings, store: Store) -> None:
    """An error is one line on standard error, and the exit code that of any failed command."""
    process = _start(settings, "run", "nowhere", "--json")
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert errors.startswith("error: ")
    assert errors.count("\n") == 1


def _descendants(pid: int) -> list[int]:
    children = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            children += [int(child), *_descendants(int(child))]
    return children
