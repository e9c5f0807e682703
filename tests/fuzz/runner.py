"""Runs one fuzz target in started processes, with limits on processor time and memory."""

import ctypes
import faulthandler
import hashlib
import logging
import marshal
import multiprocessing
import os
import resource
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

import hypothesis
import structlog
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Flaky, HypothesisException

from catalog.runtime.processor_time import limit_processor_time
from tests.fuzz.targets import Target, make_targets

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "fuzz"
# Seconds of processor time after which an input counts as a hang.
MAX_SECONDS = 10
# Bytes by which a process may grow before an allocation fails.
MAX_MEMORY = 2_000_000_000
# Inputs between two looks at the clock and the seed.
BATCH_SIZE = 200
# Seconds of wall-clock time that are spent on making an input smaller.
SHRINK_SECONDS = 10.0
# Different findings of one target after which it is left alone.
MAX_FINDINGS = 20
# Seconds of wall-clock time beyond a target's share; the limit on processor time is the real one.
GRACE = 120


# A target's name, seconds, seed, file of the current input, number of inputs, and where to report.
Work = Callable[[str, float, int, Path, "Synchronized[int]", Connection], None]


class Found(Exception):
    """Ends a batch with an input that failed, so that Hypothesis makes it smaller."""


@dataclass
class Finding:
    """A failure and the smallest input that shows it."""

    signature: str
    trace: str
    input: Any

    def write(self, target: str) -> Path:
        """Write the input where `--replay` finds it."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        text = f"{target}\n{self.input!r}\n"
        path = FOLDER / f"{target}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.txt"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        return path


@dataclass
class Tally:
    """Figures of one target: inputs, those that were accepted, the slowest, and the findings."""

    inputs: int = 0
    accepted: int = 0
    slowest: float = 0.0
    peak_memory: int = 0
    findings: list[Finding] = field(default_factory=list)


class Worker:
    """Runs one target in this process until the time is up."""

    def __init__(
        self, target: Target, seconds: float, current: Path, inputs: "Synchronized[int]"
    ) -> None:
        self._target = target
        self._inputs = inputs
        self._deadline = time.monotonic() + seconds
        self._current = current
        self._shrunk: Finding | None = None
        self._shrunk_until = 0.0
        self.tally = Tally()

    def run(self, seed: int) -> None:
        """Run batches of inputs."""
        while self.has_time() and len(self.tally.findings) < MAX_FINDINGS:
            seed += 1
            self._shrunk = None
            try:
                hypothesis.seed(seed)(self.test())()
            except (Found, Flaky, HypothesisException, ExceptionGroup):
                if self._shrunk is None:
                    raise
        self.measure_memory()

    def has_time(self) -> bool:
        """Return True until the time of the target is up."""
        return time.monotonic() < self._deadline

    def measure_memory(self) -> None:
        """Add the peak of this process's memory to the tally."""
        self.tally.peak_memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def test(self, *, shrinks: bool = True) -> Any:
        """Return a test of one batch of inputs."""

        @hypothesis.settings(
            max_examples=BATCH_SIZE,
            deadline=None,
            database=None,
            derandomize=False,
            report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        @hypothesis.given(self._target.inputs)
        def check(data: Any) -> None:
            try:
                self._check(data)
            except Found:
                if shrinks:
                    raise

        return check

    def _check(self, data: Any) -> None:
        if self._shrunk is None and not self.has_time():
            return
        self._current.write_bytes(marshal.dumps(data))
        limit_processor_time(MAX_SECONDS)
        begun = time.process_time()
        try:
            self.tally.accepted += self._target.run(data)
        except Exception as error:  # noqa: BLE001 - any is a finding
            self._record(error, data)
        finally:
            self._inputs.value += 1
            self.tally.slowest = max(self.tally.slowest, time.process_time() - begun)

    def _record(self, error: Exception, data: Any) -> None:
        signature = signature_of(error)
        if self._shrunk is not None and self._shrunk.signature == signature:
            if len(repr(data)) <= len(repr(self._shrunk.input)):
                self._shrunk.input = data
            if time.monotonic() < self._shrunk_until:
                raise Found from None
            return
        if any(finding.signature == signature for finding in self.tally.findings):
            return
        trace = "".join(traceback.format_exception(error)[-12:])
        finding = Finding(signature, trace, data)
        self.tally.findings.append(finding)
        self._shrunk = finding
        self._shrunk_until = time.monotonic() + SHRINK_SECONDS
        raise Found from None


def signature_of(error: BaseException) -> str:
    """Return the kind of an error and the line that raised it."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if ".venv" not in frame.filename
    ]
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__} {place}"


def work(
    name: str,
    seconds: float,
    seed: int,
    current: Path,
    inputs: "Synchronized[int]",
    sender: Connection,
) -> None:
    """Run a target in a started process, and send its tally."""
    worker = Worker(find_target(name), seconds, current, inputs)
    limit_process()
    worker.run(seed)
    sender.send(worker.tally)


def find_target(name: str) -> Target:
    """Return the target of that name."""
    return next(target for target in make_targets() if target.name == name)


def limit_process() -> None:
    """Limit this process's memory, silence its log, and let it say where it was when time ran out."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MAX_MEMORY,) * 2)
    # Warnings about faulty inputs are expected, and would hide the findings.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    faulthandler.enable()
    faulthandler.register(signal.SIGXCPU, chain=True)


def run_target(name: str, seconds: float, seed: int, work: Work = work) -> Tally:
    """Run a target in processes, a further one for each that dies; `work` is what these run."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    context = multiprocessing.get_context("spawn")
    deadline = time.monotonic() + seconds
    total = Tally()
    while (left := deadline - time.monotonic()) > 0 and len(total.findings) < MAX_FINDINGS:
        current = FOLDER / f"current-{name}-{os.getpid()}.txt"
        inputs: Synchronized[int] = context.Value(ctypes.c_longlong, lock=False)  # type: ignore
        receiver, sender = context.Pipe(duplex=False)
        arguments = (name, left, seed, current, inputs, sender)
        process = context.Process(target=work, args=arguments)
        process.start()
        sender.close()
        tally = Tally()
        try:
            if receiver.poll(left + GRACE):
                tally = receiver.recv()
        except EOFError:
            pass  # The process died.
        if not tally.peak_memory:
            process.kill()
            process.join()
            tally.findings.append(_death(process.exitcode, current))
        process.join()
        tally.inputs = inputs.value
        total = _sum(total, tally)
        if not tally.inputs:
            break
        current.unlink(missing_ok=True)
        seed += 1_000_000
    return total


def _death(exit_code: int | None, current: Path) -> Finding:
    """Return the finding that a process died, with the input that it was working on."""
    reason = f"ended with {exit_code}"
    if exit_code == -signal.SIGXCPU:
        reason = f"took longer than {MAX_SECONDS} s of processor time"
    data = marshal.loads(current.read_bytes()) if current.exists() else None
    return Finding(reason, reason, data)


def _sum(first: Tally, second: Tally) -> Tally:
    known = {finding.signature for finding in first.findings}
    new = [finding for finding in second.findings if finding.signature not in known]
    return Tally(
        first.inputs + second.inputs,
        first.accepted + second.accepted,
        max(first.slowest, second.slowest),
        max(first.peak_memory, second.peak_memory),
        [*first.findings, *new],
    )
