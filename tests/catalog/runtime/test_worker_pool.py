"""A pool of processes carries out calls, sees no secret, keeps its limits, and ends with its owner."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from catalog.errors import RuleError, WorkerError
from catalog.runtime.limits.process_limits import ProcessLimits
from catalog.runtime.worker_pool import worker_pool

PARENT = """
import os, time
from catalog.runtime.worker_pool import worker_pool
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


_prefix: list[str] = []


def use_prefix(prefix: str) -> None:
    """Set the state of a process before its first call."""
    _prefix[:] = [prefix]


def join(left: str, right: str) -> str:
    """Join two texts behind the prefix of the process."""
    return _prefix[0] + left + right


def fail(message: str) -> None:
    """Raise one of our own errors."""
    raise RuleError(message)


def allocate(megabytes: int) -> int:
    """Use memory that is written to."""
    return len(bytearray(megabytes * 1_000_000))


def describe() -> tuple[bool, str]:
    """Return the flag `-P` and the variables of this process."""
    return sys.flags.safe_path, Path("/proc/self/environ").read_text() + str(dict(os.environ))


def test_calls_are_carried_out_in_prepared_processes() -> None:
    """Results come in the order of their arguments, from other processes."""
    with worker_pool(2, use_prefix, "#") as pool:
        assert list(pool.map(join, "abc", "xyz")) == ["#ax", "#by", "#cz"]
        assert pool.submit(os.getpid).result() != os.getpid()
        with pytest.raises(RuleError, match="no rule"):
            pool.submit(fail, "no rule").result()


def test_large_arguments_and_answers_pass_in_order() -> None:
    """The next call is sent while the last answer is read; each future gets its own."""
    texts = [str(number) * 500_000 for number in range(8)]
    with worker_pool(1, use_prefix, "#") as pool:
        assert list(pool.map(join, texts, texts)) == [f"#{text}{text}" for text in texts]


def test_a_call_that_cannot_be_pickled_fails_alone() -> None:
    """Its arguments never leave this process; the calls beside it are carried out."""
    with worker_pool(1, use_prefix, "#") as pool:
        before = pool.submit(join, "a", "b")
        failed = pool.submit(fail, (line for line in "ab"))
        after = pool.submit(join, "c", "d")
        assert [before.result(), after.result()] == ["#ab", "#cd"]
        with pytest.raises(TypeError, match="generator"):
            failed.result()


def test_a_process_sees_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """It starts with `-P`, without the variables that may hold passwords."""
    monkeypatch.setenv("SCOUT_DATABASE_URL", "postgresql://scout:hidden@db/scout")
    with worker_pool(1) as pool:
        is_safe, variables = pool.submit(describe).result()
    assert is_safe
    assert "hidden" not in variables


def test_a_call_beyond_its_memory_ends_its_process() -> None:
    """The caller learns the reason, and is not ended itself."""
    with worker_pool(1, limits=ProcessLimits(memory=100)) as pool:
        assert pool.submit(allocate, 20).result() == 20_000_000
        with pytest.raises(WorkerError, match="out of memory"):
            pool.submit(allocate, 500).result()


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
