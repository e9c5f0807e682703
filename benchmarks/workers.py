"""Findings and cost of a fleet: shops run by one process on SQLite, and by workers on PostgreSQL.

usage: python -m benchmarks.workers SITE... [--workers 2,4] [--small 0] [--pages 12] [--kill S,...]

Each SITE is a folder with a mirrored shop (`benchmarks.served_site`); `--small` adds generated
shops. All shops are first run by `scout run --all`, one at a time, and then in a fresh PostgreSQL
database by as many workers as given, each with a data folder of its own, as on several machines.
Processor time is that of user and system of all processes of Scout. With `--kill`, the worker that
has run a shop for the longest time is killed with -9 at each of these seconds, and another one
started; leases are short then.

The exit status is 1 if the findings of any shop differ, or if one was run more or less than once.
"""

import argparse
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import create_engine, text
from sqlmodel import func, select

from benchmarks.fleet import RUN_DEPENDENT_PREFIXES, add_shops, measure
from benchmarks.measure import processor_seconds_of_children
from benchmarks.served_site import catalog_lines, served
from catalog.models import JobAttempt, Run, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.job_queue import shop_jobs
from scout.job_queue.shop_jobs import JobState
from tests.catalog.storage.postgresql import cluster

SHORT_LEASE = 6.0
"""Seconds of a lease where workers are killed."""

OVERRIDDEN = ("SCOUT_DATABASE_URL", "SCOUT_DATA_DIR", "SCOUT_BODIES_URL", "SCOUT_AT_ONCE")
"""Variables of the caller that would spoil a measurement."""


@dataclass(frozen=True)
class Sites:
    """Served shops: the roots of mirrored ones by folder, and those of generated ones."""

    mirrored: dict[Path, str]
    generated: Sequence[str]
    pages: int


def _environment(database: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in OVERRIDDEN}
    return {**kept, "SCOUT_DATABASE_URL": database, "SCOUT_AT_ONCE": "1"}


def _scout(database: str, folder: Path, *arguments: str) -> tuple[float, str]:
    command = [sys.executable, "-m", "scout", "--data-dir", str(folder), *arguments]
    return measure(command, _environment(database))


@contextmanager
def _serve(folders: Sequence[Path], small: int, pages: int) -> Iterator[Sites]:
    with ExitStack() as stack:
        mirrored = {}
        for folder in folders:
            mirrored[folder] = stack.enter_context(served(str(folder), "--etags"))[0]
        generated: Sequence[str] = ()
        if small:
            arguments = ["--shops", str(small), "--pages", str(pages), "--etags"]
            generated = stack.enter_context(served(*arguments))
        yield Sites(mirrored, generated, pages)


def _add_shops(sites: Sites, database: str, folder: Path) -> None:
    settings = Settings.load(data_dir=folder, database_url=database)
    add_shops(folder, sites.generated, sites.pages, settings)
    for site, root in sites.mirrored.items():
        start = json.loads((site / "truth.json").read_text()).get("start", "")
        catalog = folder / f"{site.name}.jsonl"
        catalog.write_text(catalog_lines(site, root), encoding="utf-8")
        url = f"{root}/{start}"
        _scout(database, folder, "shop", "add", site.name, "--url", url, "--allow-private")
        _scout(database, folder, "catalog", "import", site.name, str(catalog))


def _read_findings(database: str, folder: Path) -> dict[str, list[str]]:
    """Return the findings by shop, without times and numbers of runs; exit where one has not run."""
    store = Store.open(Settings.load(data_dir=folder, database_url=database))
    runs = select(Shop.name, func.count(Run.id)).outerjoin(Run).group_by(Shop.name)
    with store.read() as session:
        counts = dict(session.exec(runs).all())
    store.engine.dispose()
    findings = {}
    for shop, number in counts.items():
        if number != 1:
            sys.exit(f"shop {shop} was run {number} times")
        _, output = _scout(database, folder, "offers", shop, "--all", "--json")
        rows = map(json.loads, output.splitlines())
        kept = []
        for row in rows:
            kept.append(
                {name: row[name] for name in row if not name.startswith(RUN_DEPENDENT_PREFIXES)}
            )
        findings[shop] = sorted(json.dumps(row, sort_keys=True) for row in kept)
    return findings


def _run_alone(sites: Sites, folder: Path) -> dict[str, list[str]]:
    database = f"sqlite:///{folder}/scout.db"
    _add_shops(sites, database, folder)
    began = time.monotonic()
    seconds, _ = _scout(database, folder, "run", "--all", "--json")
    _print("one process, SQLite", seconds, time.monotonic() - began)
    return _read_findings(database, folder)


def _run_by_workers(
    sites: Sites, database: str, folder: Path, number: int, kills: Sequence[float]
) -> dict[str, list[str]]:
    _add_shops(sites, database, folder)
    _scout(database, folder, "worker", "enqueue", "--all")
    began, used = time.monotonic(), processor_seconds_of_children()
    store = Store.open(Settings.load(data_dir=folder, database_url=database))
    machines = itertools.count()
    workers = [_start_worker(database, folder / f"machine{next(machines)}") for _ in range(number)]
    for seconds in kills:
        _wait_until(lambda at=began + seconds: time.monotonic() > at)
        _wait_until(lambda: bool(_running_workers(store)) or not _has_open_jobs(store))
        if not _has_open_jobs(store):
            sys.exit(f"all shops were done after {seconds} seconds: kill earlier")
        victim = _running_workers(store)[0]
        print(f"  killed worker {victim} after {time.monotonic() - began:.1f} s", flush=True)
        os.kill(victim, signal.SIGKILL)
        workers = [worker for worker in workers if worker.pid != victim]
        workers.append(_start_worker(database, folder / f"machine{next(machines)}"))
    _wait_until(lambda: not _has_open_jobs(store))
    elapsed = time.monotonic() - began
    store.engine.dispose()
    for worker in workers:
        worker.terminate()
    codes = [worker.wait() for worker in workers]
    cost = processor_seconds_of_children() - used
    _print(f"{number} workers, PostgreSQL", cost, elapsed)
    if any(codes):
        sys.exit(f"workers ended with {codes}")
    return _read_findings(database, folder)


def _start_worker(database: str, folder: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "scout", "--data-dir", str(folder), "worker"]
    return subprocess.Popen(command, env=_environment(database), stderr=subprocess.DEVNULL)


def _has_open_jobs(store: Store) -> bool:
    counts = shop_jobs.count_jobs(store)
    if counts[JobState.SET_ASIDE]:
        sys.exit(f"set aside: {shop_jobs.list_jobs(store, [JobState.SET_ASIDE])}")
    return any(counts[state] for state in shop_jobs.OPEN_STATES)


def _running_workers(store: Store) -> list[int]:
    """Return the process ids of the workers that run a shop, the longest one first."""
    attempts = select(JobAttempt.worker).where(JobAttempt.outcome == None)  # noqa: E711 - SQL
    with store.read() as session:
        labels = session.exec(attempts.order_by(JobAttempt.id)).all()
    return [int(label.rpartition(":")[2]) for label in labels]


def _wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.5)


def _print(name: str, seconds: float, elapsed: float) -> None:
    print(f"{name:28} {seconds:8.1f} s processor time {elapsed:8.1f} s elapsed", flush=True)


def main() -> None:
    """Measure, print and compare everything."""
    argument_parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    argument_parser.add_argument("sites", type=Path, nargs="*")
    argument_parser.add_argument("--workers", default="2,4")
    argument_parser.add_argument("--small", type=int, default=0)
    argument_parser.add_argument("--pages", type=int, default=12)
    argument_parser.add_argument("--kill", default="")
    arguments = argument_parser.parse_args()
    kills = [float(seconds) for seconds in arguments.kill.split(",") if seconds]
    if kills:
        os.environ["SCOUT_LEASE_SECONDS"] = str(SHORT_LEASE)
    differing = 0
    with (
        tempfile.TemporaryDirectory(prefix="scout-workers-") as name,
        _serve(arguments.sites, arguments.small, arguments.pages) as sites,
        cluster() as server,
    ):
        alone = _run_alone(sites, _new_folder(Path(name), "alone"))
        print(f"{len(alone)} shops, {sum(map(len, alone.values()))} findings")
        for number in map(int, arguments.workers.split(",")):
            engine = create_engine(server.format("postgres"), isolation_level="AUTOCOMMIT")
            with engine.connect() as connection:
                connection.execute(text(f"CREATE DATABASE workers{number}"))
            engine.dispose()
            folder = _new_folder(Path(name), f"workers{number}")
            database = server.format(f"workers{number}")
            findings = _run_by_workers(sites, database, folder, number, kills)
            differing += _compare(alone, findings)
    sys.exit(1 if differing else 0)


def _new_folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder


def _compare(expected: dict[str, list[str]], actual: dict[str, list[str]]) -> int:
    """Print the shops whose findings differ; return their number."""
    differing = [shop for shop in expected if expected[shop] != actual.get(shop)]
    for shop in differing:
        different = set(expected[shop]) ^ set(actual.get(shop, []))
        print(f"  {shop}: {len(different)} findings differ")
        for row in sorted(different)[:4]:
            print(f"    {row[:400]}")
    print(f"  shops with other findings: {len(differing)}")
    return len(differing)


if __name__ == "__main__":
    main()
