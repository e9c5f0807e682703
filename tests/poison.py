"""Poison pages: started processes die of a page that holds one of a few words."""

import os
from pathlib import Path

import pytest

# Ends the process that decodes a page with one of these words, and counts its deaths.
POISON = """
import os, resource, signal
from pathlib import Path
import catalog.page_encoding as page_encoding

detect, folder = page_encoding.detect_encoding, Path(__file__).parent

def exhaust_memory():
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 10_000_000,) * 2)
    bytearray(1_000_000_000)

def fail():
    raise LookupError("no such codec")

ACTS = {
    b"poison-segfault": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    b"poison-kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    b"poison-exit": lambda: os._exit(7),
    b"poison-memory": exhaust_memory,
    b"poison-error": fail,
}

def detect_encoding(body, *rest, **named):
    for word, act in ACTS.items():
        if word in body:
            with (folder / word.decode()).open("a") as log:
                log.write("x")
            act()
    if b"poison-once" in body and not (folder / "poison-once").exists():
        (folder / "poison-once").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return detect(body, *rest, **named)

page_encoding.detect_encoding = detect_encoding
"""


def poison_processes(folder: Path, patched: pytest.MonkeyPatch) -> None:
    """Make all processes that are started from now on die of poison pages."""
    (folder / "sitecustomize.py").write_text(POISON)
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    patched.setenv("PYTHONPATH", path)


def count_deaths(folder: Path, name: str) -> int:
    """Count the processes that have died of a poison."""
    return len((folder / f"poison-{name}").read_text())
