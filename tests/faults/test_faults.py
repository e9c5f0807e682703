"""Runs amid faults end as undisturbed ones do; `make faults` injects many more.

The tools that inject the faults, and the checks that follow, do what they claim.
"""

import os
import random
import socket
import socketserver
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sqlmodel import update

from catalog.models import Lease, Page, Shop
from catalog.runtime.settings import Settings
from catalog.storage.leases import lease_table
from catalog.storage.store import Store
from tests.faults import contents, witness
from tests.faults.clocks import Clock, build_clock, missing_compiler
from tests.faults.command_line import main
from tests.faults.kinds import kinds_for
from tests.faults.relay import Relay
from tests.faults.trial import plan_faults

# A run of one shop of five pages, amid two faults.
SMALLEST = "--database sqlite --faults 2 --per-trial 2 --small 1 --pages 5 --shops small --seed 1"
JUMP = 7200


def test_trial(capsys: pytest.CaptureFixture[str]) -> None:
    """A shop is run on SQLite amid a kill and a stop: everything is as after an undisturbed run."""
    assert main(SMALLEST.split()) == 0, capsys.readouterr().out
    assert "as undisturbed" in capsys.readouterr().out


def test_plan() -> None:
    """The faults of a seed are always the same, in the order of their moments; all kinds occur."""
    kinds = kinds_for("postgresql")
    planned = plan_faults(kinds, 2 * len(kinds), random.Random("a"))
    assert planned == plan_faults(kinds, 2 * len(kinds), random.Random("a"))
    assert [fault.share for fault in planned] == sorted(fault.share for fault in planned)
    assert sorted(fault.kind.name for fault in planned) == sorted(2 * [kind.name for kind in kinds])


@pytest.mark.both_databases
def test_witness(settings: Settings) -> None:
    """A lease that is taken from a living holder is noted, and a write without the lease."""
    store = Store.open(settings)
    witness.install(store.engine)
    with store.write() as session:
        session.add(Shop(name="a", url="http://a.example/"))
    fence = lease_table.acquire(store, "shop-1", "shop 'a'", 60, "first")
    with store.fenced(fence).write() as session:
        session.add(Page(shop_id=1, url="http://a.example/1"))
    assert witness.find_violations(store.engine) == []
    with store.write() as session:
        now = lease_table.database_now(session)
        stolen = update(Lease).values(token=9, acquired_at=now, lock_file="other", process_id=7)
        session.exec(stolen)
        if store.engine.dialect.name == "postgresql":
            session.add(Page(shop_id=1, url="http://a.example/2"))
    violations = witness.find_violations(store.engine)
    assert violations[0].startswith("shop-1 was taken by ")
    assert len(violations) == (2 if store.engine.dialect.name == "postgresql" else 1)
    store.engine.dispose()


def test_contents(store: Store, shop: Shop) -> None:
    """Contents that differ are described, those that differ in ids and times alone are equal."""
    before = contents.read_contents(store)
    with store.write() as session:
        session.add(Page(shop_id=shop.id or 0, url="http://a.example/", status=304))
    after = contents.read_contents(store)
    (difference,) = contents.compare(before, after)
    assert "demo: pages: 0 of 0 lost, 1 of 1 not expected" in difference
    with store.write() as session:
        session.exec(update(Page).values(id=7, status=200, run_id=None))
    assert list(contents.compare(after, contents.read_contents(store))) == []


class _Echo(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while chunk := self.request.recv(100):
            self.request.sendall(chunk)


def test_relay(tmp_path: Path) -> None:
    """On a dead line nothing arrives until it is restored; a cut connection is reset."""
    path = tmp_path / "socket"
    with socketserver.ThreadingUnixStreamServer(str(path), _Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        relay = Relay(path)
        with socket.create_connection(("127.0.0.1", relay.port), timeout=10) as line:
            line.sendall(b"a")
            assert line.recv(10) == b"a"
            relay.stall()
            time.sleep(0.05)
            line.sendall(b"b")
            line.settimeout(0.2)
            with pytest.raises(TimeoutError):
                line.recv(10)
            relay.restore()
            line.settimeout(10)
            assert line.recv(10) == b"b"
            relay.cut()
            with pytest.raises(ConnectionResetError):
                line.recv(10)
        relay.close()
        server.shutdown()


def test_clock(tmp_path: Path) -> None:
    """The time of day jumps in a process and its children, which get no `LD_PRELOAD`."""
    if missing_compiler():
        pytest.skip(missing_compiler() or "")
    clock = Clock(build_clock(tmp_path), tmp_path / "clock")
    clock.jump(JUMP)
    child = "import time; print(time.time(), time.monotonic())"
    program = (
        "import os, subprocess, sys\n"
        "safe = {name: os.environ[name] for name in os.environ if name.startswith('PYTHON')}\n"
        f"subprocess.run([sys.executable, '-P', '-c', {child!r}], env=safe, check=True)"
    )
    environment = {**os.environ, **clock.variables()}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    shown, monotonic = map(float, run.stdout.split())
    assert JUMP - 1 < shown - time.time() < JUMP + 1
    assert abs(monotonic - time.monotonic()) < 60
