"""The kinds of faults: each is done to a scene, held for a moment, and undone."""

import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psutil
from sqlalchemy.exc import SQLAlchemyError

from tests.catalog.storage import postgresql
from tests.faults.clocks import missing_compiler
from tests.faults.disks import missing_mounts
from tests.faults.machines import LEASE_SECONDS, Machine, send
from tests.faults.scenes import PostgresqlScene, Scene

LONGEST_HOLD = 1.6 * LEASE_SECONDS
"""Longest time of a fault: other machines take over what the machine ran."""

SHORTEST_HOLD = 0.2
"""Shortest time of a fault, in seconds: nobody takes over."""

LARGEST_JUMP = 100_000
"""Seconds by which a clock jumps at most, forwards or backwards: more than a day."""

TICK = 0.1
"""Seconds between two looks at the commands of a scene."""


@dataclass(frozen=True)
class FaultKind:
    """A kind of fault. `inject` returns a description, None where there was nothing to hit.

    `missing` returns why the kind cannot be had on this machine.
    """

    name: str
    databases: Sequence[str]
    inject: Callable[[Scene, random.Random], str | None]
    missing: Callable[[], str | None] = lambda: None


BOTH = ("sqlite", "postgresql")


def kinds_for(database: str) -> list[FaultKind]:
    """Return the kinds of faults that concern a database."""
    return [kind for kind in KINDS if database in kind.databases]


def wait(scene: Scene, seconds: float) -> None:
    """Let time pass; commands that end are started again."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        scene.tend()
        time.sleep(min(TICK, left))


def _hold(scene: Scene, rng: random.Random, shortest: float = SHORTEST_HOLD) -> float:
    seconds = rng.uniform(shortest, LONGEST_HOLD)
    wait(scene, seconds)
    return seconds


def _busy_machine(scene: Scene, rng: random.Random) -> Machine | None:
    busy = [machine for machine in scene.machines if machine.commands]
    return rng.choice(busy) if busy else None


def _choose(machine: Machine, rng: random.Random) -> tuple[str, list[psutil.Process]]:
    """Choose one process of a machine, or all."""
    processes = machine.processes()
    if rng.random() < 0.4:
        return "all processes", processes
    chosen = rng.choice(processes)
    index = processes.index(chosen)
    return f"process {index} of {len(processes)}", [chosen]


def _kill(scene: Scene, rng: random.Random) -> str | None:
    machine = _busy_machine(scene, rng)
    if machine is None or not machine.processes():
        return None
    words, processes = _choose(machine, rng)
    send(processes, signal.SIGKILL)
    return f"kill -9 of {words} of {machine.name}"


def _pause(scene: Scene, rng: random.Random) -> str | None:
    machine = _busy_machine(scene, rng)
    if machine is None or not machine.processes():
        return None
    words, processes = _choose(machine, rng)
    send(processes, signal.SIGSTOP)
    try:
        seconds = _hold(scene, rng)
    finally:
        send(processes, signal.SIGCONT)
    return f"SIGSTOP of {words} of {machine.name} for {seconds:.1f} s"


def _terminate(scene: Scene, rng: random.Random) -> str | None:
    machine = _busy_machine(scene, rng)
    if machine is None:
        return None
    number = rng.choice((signal.SIGTERM, signal.SIGINT))
    for process in list(machine.commands):
        process.send_signal(number)
        if rng.random() < 0.5:
            wait(scene, rng.uniform(0, 1))
            with suppress(ProcessLookupError):
                process.send_signal(number)
    return f"{number.name} to {machine.name}"


def _fill_disk(scene: Scene, rng: random.Random) -> str:
    disks = {"data": scene.data_disk, "bodies": scene.body_disk}
    if isinstance(scene, PostgresqlScene):
        disks["database"] = scene.server.disk
    name = rng.choice(sorted(disks))
    disks[name].fill()
    try:
        seconds = _hold(scene, rng, 1.0)
    finally:
        disks[name].restore()
    if isinstance(scene, PostgresqlScene) and name == "database":
        _revive(scene)
    return f"the disk of the {name} was full for {seconds:.1f} s"


def _revive(scene: PostgresqlScene) -> None:
    """Start the server if it has ended, as it does when its log cannot be written."""
    for _ in range(20):
        try:
            scene.server.execute("SELECT 1")
        except SQLAlchemyError:
            wait(scene, 0.5)
        else:
            return
    postgresql.restart_server(scene.server.folder)


def _lock_disk(scene: Scene, rng: random.Random) -> str | None:
    disks = {"data": scene.data_disk, "bodies": scene.body_disk}
    name = rng.choice(sorted(disks))
    words = ""
    if not disks[name].set_read_only():
        # Files stay open for writing: their processes are killed, and start on the locked disk.
        words = ", after kill -9"
        for machine in scene.machines:
            machine.kill()
        if not disks[name].set_read_only():
            return None
    try:
        seconds = _hold(scene, rng, 1.0)
    finally:
        disks[name].restore()
    return f"the disk of the {name} was read-only for {seconds:.1f} s{words}"


def _jump(scene: Scene, rng: random.Random) -> str | None:
    machine = _busy_machine(scene, rng)
    if machine is None:
        return None
    shift = rng.choice((-1, 1)) * int(rng.uniform(1, LARGEST_JUMP))
    machine.clock.jump(shift)
    seconds = _hold(scene, rng)
    back = rng.random() < 0.5
    if back:
        machine.clock.jump(0)
    return f"the clock of {machine.name} jumped by {shift} s" + (
        f", and back after {seconds:.1f} s" if back else ""
    )


def _rival(scene: Scene, rng: random.Random) -> str | None:
    """Run a shop that another machine runs: refused, or taken over where that one was lost."""
    shops = scene.unfinished()
    if not shops:
        return None
    shop = rng.choice(shops)
    machine = rng.choice(scene.machines) if scene.database == "postgresql" else scene.machines[-1]
    if scene.database == "sqlite" and rng.random() < 0.5:
        machine = scene.machines[0]
    machine.start("run", shop)
    wait(scene, 1.0)
    return f"'scout run {shop}' beside the run on {machine.name}"


def _restart(scene: Scene, rng: random.Random) -> str:
    assert isinstance(scene, PostgresqlScene)
    postgresql.restart_server(scene.server.folder)
    return "pg_ctl restart -m immediate"


def _cut(scene: Scene, rng: random.Random) -> str:
    with _chosen_relays(scene, rng) as (words, machines):
        for machine in machines:
            assert machine.relay is not None
            machine.relay.cut()
        seconds = _hold(scene, rng)
    return f"the connections of {words} were cut for {seconds:.1f} s"


def _stall(scene: Scene, rng: random.Random) -> str:
    with _chosen_relays(scene, rng) as (words, machines):
        for machine in machines:
            assert machine.relay is not None
            machine.relay.stall()
        seconds = _hold(scene, rng)
    return f"the line of {words} was dead for {seconds:.1f} s"


@contextmanager
def _chosen_relays(scene: Scene, rng: random.Random) -> Iterator[tuple[str, list[Machine]]]:
    """Choose one machine to cut off, or all."""
    machines = scene.machines if rng.random() < 0.2 else [rng.choice(scene.machines)]
    words = "all machines" if len(machines) > 1 else machines[0].name
    try:
        yield words, machines
    finally:
        for machine in machines:
            assert machine.relay is not None
            machine.relay.restore()


KINDS = (
    FaultKind("kill -9", BOTH, _kill),
    FaultKind("SIGSTOP, SIGCONT", BOTH, _pause),
    FaultKind("SIGTERM, SIGINT", BOTH, _terminate),
    FaultKind("full disk", BOTH, _fill_disk, missing_mounts),
    FaultKind("read-only disk", BOTH, _lock_disk, missing_mounts),
    FaultKind("clock jump", BOTH, _jump, missing_compiler),
    FaultKind("second run of a shop", BOTH, _rival),
    FaultKind("database restart", ("postgresql",), _restart),
    FaultKind("connections cut", ("postgresql",), _cut),
    FaultKind("dead line", ("postgresql",), _stall),
)
"""All kinds of faults."""
