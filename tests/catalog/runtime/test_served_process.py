"""Served processes: they start clean, report how they ended, and never outlive their requester."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from socket import socket

import pytest

from catalog.runtime import process_server
from catalog.runtime.served_process import ServedProcess, safe_environment
from catalog.storage.bodies import share_credentials
from tests.catalog.runtime.test_worker_pool import is_alive

PARENT = """
import sys, time
from catalog.runtime.served_process import ServedProcess
from tests.catalog.runtime.test_served_process import start_another
process = ServedProcess(start_another)
print(process.pid, process.channel.makefile().readline(), flush=True)
time.sleep(60)
"""


def describe(channel: socket, fds: Sequence[int]) -> None:
    """Send what the process sees of itself."""
    seen = {
        "flag": sys.flags.safe_path,
        "environment": Path("/proc/self/environ").read_text().split("\0"),
        "variables": list(os.environ),
        "folder": str(Path.cwd()),
        "path": sys.path,
        "command": Path("/proc/self/cmdline").read_text(),
        "group": os.getpgrp(),
        "shadowed": json.__file__,
    }
    channel.sendall(json.dumps(seen).encode())


def end(channel: socket, fds: Sequence[int], how: int) -> None:
    """End with an exit code, or by a signal if it is negative."""
    if how < 0:
        os.kill(os.getpid(), -how)
    sys.exit(how)


def write(channel: socket, fds: Sequence[int], text: str) -> None:
    """Write a text to the descriptor that was passed."""
    os.write(fds[0], text.encode())


def start_another(channel: socket, fds: Sequence[int]) -> None:
    """Start another process, send its id, and wait."""
    another = ServedProcess(wait)
    channel.sendall(f"{another.pid}\n".encode())
    wait(channel, fds)


def wait(channel: socket, fds: Sequence[int]) -> None:
    """Wait for ever, as a process that never looks at its channel."""
    while True:
        time.sleep(1)


def read_all(process: ServedProcess) -> dict[str, object]:
    """Return the object that a process sends before it ends."""
    with process.channel.makefile() as received:
        seen: dict[str, object] = json.loads(received.read())
    process.join()
    process.close()
    return seen


def test_a_process_sees_no_secret_and_imports_nothing_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It starts with `-P`, in the requester's folder, without variables that may hold secrets."""
    for name in ("json.py", "pickle.py", "catalog.py"):
        (tmp_path / name).write_text("raise SystemExit('imported from the working folder')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCOUT_DATABASE_URL", "postgresql://scout:secret@db/scout")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    seen = read_all(ServedProcess(describe))
    assert seen["flag"] is True
    assert seen["folder"] == str(tmp_path)
    assert str(tmp_path) not in str(seen["path"])
    assert "secret" not in f"{seen['environment']} {seen['variables']} {seen['command']}"
    assert set(safe_environment()) >= {"PATH", "PYTHONPATH"}


def test_credentials_of_a_remote_page_store_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only for bodies on another machine, and never in the environment that others can read."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setattr(process_server, "shared_variables", {})
    share_credentials("var/bodies")
    assert "AWS_SECRET_ACCESS_KEY" not in str(read_all(ServedProcess(describe))["variables"])
    share_credentials("s3://bucket/bodies")
    seen = read_all(ServedProcess(describe))
    assert "AWS_SECRET_ACCESS_KEY" in str(seen["variables"])
    assert "secret" not in str(seen["environment"])


@pytest.mark.parametrize("how", [0, 3, -signal.SIGSEGV, -signal.SIGKILL])
def test_the_end_is_reported(how: int) -> None:
    """An exit code is that of the process, a signal is its negative number."""
    process = ServedProcess(end, (how,))
    process.join(20)
    assert (process.exitcode, process.is_alive()) == (how, False)
    process.kill()
    process.close()


def test_descriptors_are_passed(tmp_path: Path) -> None:
    """A process can write to a file that the requester has opened."""
    with (tmp_path / "out").open("wb") as file:
        process = ServedProcess(write, ("hello",), fds=[file.fileno()])
        process.join()
        process.close()
    assert (tmp_path / "out").read_text() == "hello"


def test_processes_belong_to_the_group_of_their_requester() -> None:
    """A signal to the group of a command reaches all its processes; a leader has its own group."""
    assert read_all(ServedProcess(describe))["group"] == os.getpgrp()
    leader = ServedProcess(describe, leads_group=True)
    assert read_all(leader)["group"] == leader.pid


def test_a_dropped_process_is_killed() -> None:
    """A process whose requester lets go of it does not stay."""
    process = ServedProcess(wait)
    process.close()
    _wait_for_end(process.pid)


@pytest.mark.parametrize("victim", ["requester", "child"])
def test_no_process_is_left_after_a_kill(tmp_path: Path, victim: str) -> None:
    """Kill -9 of a command, or of one of its processes, ends all that these have started."""
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        child, grandchild = map(int, parent.stdout.readline().split())
        os.kill(parent.pid if victim == "requester" else child, signal.SIGKILL)
        _wait_for_end(grandchild)
        _wait_for_end(child)
        parent.kill()


def _wait_for_end(process: int) -> None:
    deadline = time.monotonic() + 20
    while is_alive(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(process)
