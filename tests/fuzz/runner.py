"""Runs one fuzz target in started processes, with limits on processor time and memory."""

import ctypes
import faulthandler
import hashlib
import logging
import marshal
import math
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
from random import Random
from typing import Any

import hypothesis
import structlog
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Flaky, HypothesisException

from catalog.runtime.limits.processor_time import limit_processor_time
from tests.fuzz.shrinking import shrink
from tests.fuzz.targets import Target, make_targets

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "fuzz"
# Seconds of processor time after which an input counts as a hang.
MAX_SECONDS = 10
# Bytes by which a process may grow before an allocation fails.
MAX_MEMORY = 2_000_000_000
# Inputs between two looks at the clock and the seed.
BATCH_SIZE = 200
# Seconds of wall-clock time in which an input is made smaller.
SHRINK_SECONDS = 10.0
# Different findings of one target after which it is left alone.
MAX_FINDINGS = 20
# Seconds of wall-clock time beyond a target's share; the limit on processor time is the real one.
GRACE = 120


@dataclass(frozen=True)
class Budget:
    """Seconds of wall-clock time and inputs that a target may use up."""

    seconds: float
    inputs: float = math.inf


@dataclass(frozen=True)
class Job:
    """A target's name, the file of its current input, and the shared number of its inputs."""

    name: str
    current: Path
    inputs: "Synchronized[int]"


# Runs a job in a started process with a seed, and sends its tally.
Work = Callable[[Job, Budget, int, Connection], None]


class Found(Exception):
    """Interrupts a target at an input that failed, so that it is made smaller."""


@dataclass
class Finding:
    """A failure and the smallest input that shows it."""

    signature: str
    trace: str
    input: Any

    def write(self, target: str) -> Path:
        """Write the input where `--replay` finds it."""
        digest = hashlib.sha256(repr(self.input).encode("utf-8", "replace")).hexdigest()[:10]
        return write_input(target, self.input, f"{target}-{digest}")


def write_input(target: str, data: Any, name: str) -> Path:
    """Write an input of a target for `--replay`."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.txt"
    path.write_text(f"{target}\n{data!r}\n", encoding="utf-8", errors="surrogatepass")
    return path


@dataclass
class Tally:
    """Figures of one target: inputs, those that were accepted, the slowest one with its seconds of
    processor time, and the findings.
    """

    inputs: int = 0
    accepted: int = 0
    slowest: float = 0.0
    slowest_input: Any = None
    peak_memory: int = 0
    findings: list[Finding] = field(default_factory=list)


class Worker:
    """Runs one target in this process until its time is up, or its inputs are done."""

    def __init__(self, target: Target, budget: Budget, job: Job) -> None:
        self._target = target
        self._job = job
        self._deadline = time.monotonic() + budget.seconds
        self._max_inputs = budget.inputs
        self._shrunk: Finding | None = None
        self._shrunk_until = 0.0
        self.tally = Tally()

    def run(self, seed: int) -> None:
        """Run inputs of a plain generator of random numbers."""
        random = Random(seed)
        while self.has_time() and len(self.tally.findings) < MAX_FINDINGS:
            data = self._target.draw(random)
            try:
                self._check(data)
            except Found:
                self._shrink()

    def run_hypothesis(self, seed: int) -> None:
        """Run batches of inputs that Hypothesis chooses."""
        while self.has_time() and len(self.tally.findings) < MAX_FINDINGS:
            seed += 1
            self._shrunk = None
            try:
                hypothesis.seed(seed)(self.test())()
            except (Found, Flaky, HypothesisException, ExceptionGroup):
                if self._shrunk is None:
                    raise

    def has_time(self) -> bool:
        """Return True until the time of the target is up, or its inputs are done."""
        return time.monotonic() < self._deadline and self._job.inputs.value < self._max_inputs

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
        self._job.current.write_bytes(marshal.dumps(data))
        limit_processor_time(MAX_SECONDS)
        begun = time.process_time()
        try:
            self.tally.accepted += self._target.run(data)
        except Exception as error:  # noqa: BLE001 - any is a finding
            self._record(error, data)
        finally:
            self._job.inputs.value += 1
            seconds = time.process_time() - begun
            if seconds > self.tally.slowest:
                self.tally.slowest, self.tally.slowest_input = seconds, data

    def _shrink(self) -> None:
        """Make the input of the newest finding smaller."""
        finding = self.tally.findings[-1]

        def fails(data: Any) -> bool:
            limit_processor_time(MAX_SECONDS)
            try:
                self._target.run(data)
            except Exception as error:  # noqa: BLE001 - compared with the finding
                return signature_of(error) == finding.signature
            return False

        finding.input = shrink(finding.input, fails, SHRINK_SECONDS)
        self._shrunk = None

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


def work(job: Job, budget: Budget, seed: int, sender: Connection) -> None:
    """Run a target in a started process, and send its tally."""
    worker = Worker(find_target(job.name), budget, job)
    limit_process()
    worker.run(seed)
    worker.measure_memory()
    sender.send(worker.tally)


def work_with_hypothesis(job: Job, budget: Budget, seed: int, sender: Connection) -> None:
    """As `work`, with inputs that Hypothesis chooses: slower, and with odder ones."""
    worker = Worker(find_target(job.name), budget, job)
    limit_process()
    worker.run_hypothesis(seed)
    worker.measure_memory()
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
    logging.disable(logging.ERROR)
    faulthandler.enable()
    faulthandler.register(signal.SIGXCPU, chain=True)


def run_target(name: str, budget: Budget, seed: int, work: Work = work) -> Tally:
    """Run a target in processes, a further one for each that dies; `work` is what these run."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    context = multiprocessing.get_context("spawn")
    deadline = time.monotonic() + budget.seconds
    total = Tally()
    while len(total.findings) < MAX_FINDINGS:
        left = Budget(deadline - time.monotonic(), budget.inputs - total.inputs)
        if left.seconds <= 0 or left.inputs <= 0:
            break
        current = FOLDER / f"current-{name}-{os.getpid()}.txt"
        inputs: Synchronized[int] = context.Value(ctypes.c_longlong, lock=False)  # type: ignore
        receiver, sender = context.Pipe(duplex=False)
        job = Job(name, current, inputs)
        process = context.Process(target=work, args=(job, left, seed, sender))
        process.start()
        sender.close()
        tally = Tally()
        try:
            if receiver.poll(left.seconds + GRACE):
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
    slower = max(first, second, key=lambda tally: tally.slowest)
    known = {finding.signature for finding in first.findings}
    new = [finding for finding in second.findings if finding.signature not in known]
    return Tally(
        first.inputs + second.inputs,
        first.accepted + second.accepted,
        slower.slowest,
        slower.slowest_input,
        max(first.peak_memory, second.peak_memory),
        [*first.findings, *new],
    )
