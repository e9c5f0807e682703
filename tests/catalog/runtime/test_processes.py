"""Worker processes end with their parent, also where it is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from catalog.runtime.processes import worker_pool

PARENT = """
import os, time
from catalog.runtime.processes import worker_pool
if __name__ == "__main__":
    with worker_pool(1) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        time.sleep(60)
"""


def is_alive(process: int) -> bool:
    """Whether a process runs, zombies not counted."""
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_a_worker_does_what_it_is_given() -> None:
    """A pool carries out tasks in another process."""
    with worker_pool(1) as pool:
        assert pool.submit(os.getpid).result() != os.getpid()


def test_a_worker_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    """After kill -9 of the parent no worker is left behind."""
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 20
    while is_alive(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(worker)
