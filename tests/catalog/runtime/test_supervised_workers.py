"""Supervised workers: a process that dies costs only the item that it worked on."""

import os
import resource
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from catalog.errors import RuleError, WorkerError
from catalog.runtime import supervised_workers
from catalog.runtime.limits.process_limits import ProcessLimits
from catalog.runtime.limits.processor_time import limit_processor_time
from catalog.runtime.page_marker import mark_page
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.supervised_workers import (
    MAX_TRIES,
    WorkerDied,
    call_supervised,
    map_chunks,
)

MEGABYTE = 1_000_000
# Memory in bytes that a test's worker may allocate beyond that which it has.
SPARE_MEMORY = 100 * MEGABYTE


def _exhaust_memory() -> None:
    pages = Path("/proc/self/statm").read_text().split()[0]
    used = int(pages) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + SPARE_MEMORY,) * 2)
    bytearray(5 * SPARE_MEMORY)


DEATHS = {
    "segfault": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "exit": lambda: os._exit(3),
    "memory": _exhaust_memory,
    "processor": lambda: os.kill(os.getpid(), signal.SIGXCPU),
}
REASONS = {
    "segfault": "segmentation fault",
    "kill": "killed, as for lack of memory",
    "exit": "exit code 3",
    "memory": "out of memory",
    "processor": "too much processor time",
}


def upper(folder: str) -> Callable[[str], str]:
    """A function that dies of some words, and notes each word that it begins."""

    def convert(word: str) -> str:
        with (Path(folder) / "begun").open("a") as log:
            log.write(word + "\n")
        if word == "invalid":
            raise RuleError("no word")
        if word == "once" and not (Path(folder) / "dead").exists():
            (Path(folder) / "dead").touch()
            os._exit(9)
        if word in DEATHS:
            DEATHS[word]()
        return word.upper()

    return convert


def die_at_start() -> Callable[[str], str]:
    """A preparation that never succeeds."""
    os._exit(4)


def aside(word: str, reason: str) -> str:
    """The result of a word that is set aside."""
    return f"{word}: {reason}"


def converted(folder: Path, chunks: Sequence[Sequence[str]], workers: int = 2) -> list[list[str]]:
    """Convert words in worker processes."""
    return list(map_chunks(upper, (str(folder),), chunks, workers, aside))


@pytest.mark.parametrize("workers", [1, 3])
def test_results_keep_the_order_of_the_chunks(tmp_path: Path, workers: int) -> None:
    """Whichever worker is faster, results come in the order of their chunks."""
    chunks = [[f"w{n}", f"x{n}"] for n in range(9)]
    wanted = [[f"W{n}", f"X{n}"] for n in range(9)]
    assert converted(tmp_path, chunks, workers) == wanted


@pytest.mark.parametrize("death", DEATHS)
def test_only_the_culprit_is_set_aside(tmp_path: Path, death: str) -> None:
    """After three deaths the item has its reason as result; all others of all chunks are done."""
    chunks = [["a", "b", death, "c"], ["d"], ["e", "f"]]
    results = converted(tmp_path, chunks)
    assert results == [["A", "B", f"{death}: {REASONS[death]}", "C"], ["D"], ["E", "F"]]
    begun = (tmp_path / "begun").read_text().split()
    assert begun.count(death) == MAX_TRIES


def test_one_death_is_forgiven(tmp_path: Path) -> None:
    """An item that is read at the second try is not set aside: the machine may have been at fault."""
    assert converted(tmp_path, [["a", "once", "b"]]) == [["A", "ONCE", "B"]]


def test_several_culprits_in_one_chunk(tmp_path: Path) -> None:
    """Each culprit is found, with its own reason."""
    [result] = converted(tmp_path, [["segfault", "a", "exit", "b"]], workers=3)
    begun = (tmp_path / "begun").read_text().split()
    assert (begun.count("segfault"), begun.count("exit")) == (MAX_TRIES, MAX_TRIES)
    assert result == ["segfault: segmentation fault", "A", "exit: exit code 3", "B"]


def test_an_exception_is_raised_in_the_parent(tmp_path: Path) -> None:
    """An error of our own is no death."""
    with pytest.raises(RuleError, match="no word"):
        converted(tmp_path, [["a"], ["invalid"]])


def test_workers_that_never_start_are_an_error() -> None:
    """No item is blamed for a machine on which no worker can be started."""
    with pytest.raises(WorkerError, match="exit code 4"):
        list(map_chunks(die_at_start, (), [["a"]], 1, aside))


def count_up(start: int, *, progress: Progress) -> int:
    """A long call: it reports, marks a page, and dies of a negative start."""
    progress("steps", start, 10, errors=2)
    mark_page(7)
    if start < 0:
        os.kill(os.getpid(), signal.SIGSEGV)
    if start > 9:
        raise RuleError("too many")
    return start + 1


def test_a_call_returns_reports_and_raises() -> None:
    """Result, progress and exceptions of a supervised call arrive in the parent."""
    reports: list[object] = []

    def record(label: str, done: int, total: int | None = None, **also: int) -> None:
        reports.append((label, done, total, also))

    assert call_supervised(count_up, (5,), record) == 6
    assert reports == [("steps", 5, 10, {"errors": 2})]
    with pytest.raises(RuleError, match="too many"):
        call_supervised(count_up, (10,), no_progress)


def test_a_call_that_dies_names_the_marked_page() -> None:
    """The parent learns the reason and the page that the process worked on."""
    with pytest.raises(WorkerDied, match="segmentation fault") as death:
        call_supervised(count_up, (-1,), no_progress)
    assert death.value.page_id == 7


def sleepy() -> Callable[[str], str]:
    """A function that sleeps for longer than its limit of processor time."""
    limit_processor_time(1)

    def convert(word: str) -> str:
        time.sleep(1.5)
        return word.upper()

    return convert


def test_a_limit_counts_processor_time() -> None:
    """A worker that sleeps for longer than its limit uses up none of it."""
    assert list(map_chunks(sleepy, (), [["a"]], 1, aside)) == [["A"]]


def test_a_process_beyond_its_limit_is_ended() -> None:
    """A worker that computes for longer than its limit is ended by the operating system."""
    child = os.fork()
    if not child:
        limit_processor_time(1)
        while True:
            pass
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGXCPU


def consume() -> Callable[[str], str]:
    """A function that takes all memory, or time, for some words."""

    def convert(word: str) -> str:
        if word == "memory":
            bytearray(500 * MEGABYTE)
        while word == "time":
            pass
        return word.upper()

    return convert


def test_an_item_beyond_the_limits_is_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each item has its own time; memory counts from the start of the worker."""
    monkeypatch.setattr(supervised_workers, "MAX_TRIES", 1)
    limits = ProcessLimits(memory=100, processor_time=1)
    chunks = [["a", "memory", "b"], ["time", "c"]]
    results = list(map_chunks(consume, (), chunks, 1, aside, limits))
    assert results == [["A", "memory: out of memory", "B"], ["time: too much processor time", "C"]]
