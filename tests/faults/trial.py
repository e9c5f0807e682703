"""A trial: one run of all shops, with faults at random moments, compared with an undisturbed run.

A moment is a share of the work, at which the fault is due, and seconds that then pass: stages
without progress of their own are hit within. All is drawn from the seed of the trial.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from catalog.storage.store import Store
from tests.faults import contents
from tests.faults.contents import Contents
from tests.faults.kinds import FaultKind, wait
from tests.faults.scenes import STOP_SECONDS, Scene

LATEST = 0.9
"""Share of the work at which the last fault may be due."""

LONGEST_DELAY = 1.5
"""Seconds that pass at most between that share and the fault."""

TIMEOUT = 420.0
"""Seconds without a fault until a trial counts as hanging."""


@dataclass(frozen=True)
class PlannedFault:
    """A fault that is due `delay` seconds after a share of the work is done."""

    kind: FaultKind
    share: float
    delay: float
    seed: float


@dataclass
class Outcome:
    """Faults by kind with their moments, and the problems after them.

    `runs` counts the finished runs of all shops, `tracebacks` has the last line of each one.
    """

    injected: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    tracebacks: list[str] = field(default_factory=list)
    seconds: float = 0.0
    runs: int = 0
    contents: Contents = field(default_factory=dict)


def plan_faults(kinds: Sequence[FaultKind], number: int, rng: random.Random) -> list[PlannedFault]:
    """Draw faults, whose kinds are spread evenly, in the order of their moments."""
    shuffled: list[FaultKind] = []
    while len(shuffled) < number:
        shuffled += rng.sample(kinds, len(kinds))
    planned = [
        PlannedFault(kind, rng.uniform(0, LATEST), rng.uniform(0, LONGEST_DELAY), rng.random())
        for kind in shuffled[:number]
    ]
    return sorted(planned, key=lambda fault: fault.share)


def run_trial(
    scene: Scene,
    planned: Sequence[PlannedFault],
    expected: Contents | None,
    report: Callable[[str], None],
) -> Outcome:
    """Run all shops amid the planned faults; check the contents of the store afterwards."""
    outcome = Outcome()
    pending = list(planned)
    started = touched = time.monotonic()
    scene.start()
    while not scene.is_done():
        share = scene.progress()
        if pending and share is not None and share >= pending[0].share:
            fault = pending.pop(0)
            wait(scene, fault.delay)
            moment = f"at {share:.2f} + {fault.delay:.1f} s"
            description = fault.kind.inject(scene, random.Random(fault.seed))
            if description is not None:
                outcome.injected.append((fault.kind.name, f"{moment}: {description}"))
                report(f"  {time.monotonic() - started:5.0f} s, {moment}: {description}")
            touched = time.monotonic()
        if time.monotonic() - touched > TIMEOUT:
            outcome.problems.append(f"the runs did not end: {share} of the work is done")
            break
        wait(scene, 0.2)
    for machine in scene.machines:
        machine.stop(STOP_SECONDS)
    outcome.seconds = time.monotonic() - started
    _check(scene, expected, outcome)
    return outcome


def _check(scene: Scene, expected: Contents | None, outcome: Outcome) -> None:
    store = Store.open(scene.settings)
    outcome.contents = contents.read_contents(store)
    outcome.runs = contents.count_runs(store)
    outcome.problems += scene.problems()
    outcome.problems += contents.find_damaged_bodies(store, scene.bodies)
    if expected is not None:
        outcome.problems += contents.compare(expected, outcome.contents)
    store.engine.dispose()
    for machine in scene.machines:
        outcome.tracebacks += _find_tracebacks(machine.log)
        for log in machine.folder.glob("logs/*.log"):
            outcome.tracebacks += _find_tracebacks(log)


def _find_tracebacks(log: Path) -> list[str]:
    """Return the last line of each traceback in a log: errors have one clear line instead."""
    if not log.exists():
        return []
    ends = []
    is_inside = False
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("Traceback (most recent call last)"):
            is_inside = True
        elif is_inside and line and not line.startswith(" "):
            ends.append(line[:200])
            is_inside = False
    return ends
