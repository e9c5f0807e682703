"""Whole runs amid faults: `make faults`, or `python -m tests.faults --faults 200 --seed 1`.

Shops are run on SQLite by one process, and on PostgreSQL by four workers, while processes are
killed and stopped, disks are full or read-only, clocks jump, and the database restarts or is cut
off. Afterwards all findings have to be those of an undisturbed run, byte for byte, and no shop may
have been run by two processes at once. A failure is repeated by its seed and `--first-trial`.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlmodel import col, func, select

from catalog.models import Page, PageState
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from tests.faults import contents
from tests.faults.clocks import build_clock
from tests.faults.contents import Contents
from tests.faults.kinds import FaultKind, kinds_for
from tests.faults.scenes import PostgresqlScene, Scene, Server, SqliteScene
from tests.faults.served_shops import MIRRORED, SHAPES, ServedShops, missing_shape, serve_shops
from tests.faults.trial import Outcome, plan_faults, run_trial

DATABASES = ("sqlite", "postgresql")


class Campaign:
    """Trials on one database, until enough faults were injected."""

    def __init__(self, options: argparse.Namespace, shops: ServedShops, folder: Path) -> None:
        self._options, self._folder = options, folder
        self._shops = shops
        self._library = build_clock(folder)
        self._template = folder / "template" / "scout.db"
        self._fetched: dict[int, int] = {}
        self._expected: Contents = {}
        self._server: Server | None = None
        self._number = 0
        self.counts: Counter[str] = Counter()
        self.failures: list[str] = []
        self.tracebacks: Counter[str] = Counter()

    def run_undisturbed(self) -> None:
        """Run the shops without faults by one process on SQLite: all others are compared with it."""
        self._template.parent.mkdir()
        self._shops.register(Settings.load(data_dir=self._template.parent))
        _checkpoint(self._template)
        with self._scene("sqlite") as scene:
            outcome = run_trial(scene, [], None, print)
            self._fetched = _count_pages(scene.settings)
        if outcome.problems:
            sys.exit(f"the undisturbed run has failed: {outcome.problems}")
        self._expected = outcome.contents
        rows = ", ".join(
            f"{number} {name}" for name, number in contents.count_rows(self._expected).items()
        )
        print(
            f"undisturbed run, one process on SQLite: {outcome.seconds:.0f} s; {rows}", flush=True
        )

    def run(self, database: str, number: int) -> None:
        """Run trials with so many faults in all."""
        kinds = self._possible_kinds(database)
        injected = 0
        trial = self._options.first_trial
        empty = 0
        while injected < number and empty < 3:
            seed = f"{self._options.seed}/{database}/{trial}"
            rng = random.Random(seed)
            planned = plan_faults(kinds, min(self._options.per_trial, number - injected), rng)
            with self._scene(database) as scene:
                outcome = run_trial(scene, planned, self._expected, self._report)
                self._note(database, trial, outcome, scene)
            injected += len(outcome.injected)
            empty = 0 if outcome.injected else empty + 1
            trial += 1

    def close(self) -> None:
        """Stop the server."""
        if self._server is not None:
            self._server.close()

    def _possible_kinds(self, database: str) -> list[FaultKind]:
        possible = []
        for kind in kinds_for(database):
            reason = kind.missing()
            if reason is None:
                possible.append(kind)
            else:
                print(f"{database}: no {kind.name}: {reason}")
        return possible

    @contextmanager
    def _scene(self, database: str) -> Iterator[Scene]:
        self._number += 1
        folder = self._folder / f"trial{self._number}"
        folder.mkdir()
        scene: Scene
        if database == "sqlite":
            scene = SqliteScene(folder, self._library, self._fetched, self._template)
        else:
            self._server = self._server or Server(self._shops.register)
            scene = PostgresqlScene(
                folder, self._library, self._fetched, self._server, self._number
            )
        try:
            yield scene
        finally:
            scene.end()

    def _report(self, line: str) -> None:
        if self._options.verbose:
            print(line, flush=True)

    def _note(self, database: str, trial: int, outcome: Outcome, scene: Scene) -> None:
        self.counts.update(f"{database}: {kind}" for kind, _ in outcome.injected)
        self.tracebacks.update(outcome.tracebacks)
        verdict = "FAILED" if outcome.problems else "as undisturbed"
        print(
            f"{database}, trial {trial}: {len(outcome.injected)} faults in {outcome.seconds:.0f} s, "
            f"{outcome.runs} runs of {len(self._expected)} shops: {verdict}",
            flush=True,
        )
        if not outcome.problems:
            return
        self.failures.append(
            f"--database {database} --seed {self._options.seed} --first-trial {trial}"
        )
        for problem in outcome.problems[:20]:
            print(f"  {problem}")
        print(f"  {len(outcome.problems)} problems; the faults were")
        for _, moment in outcome.injected:
            print(f"    {moment}")
        if self._options.keep is not None:
            kept = self._options.keep / f"{database}-{self._options.seed}-{trial}"
            for machine in scene.machines:
                kept.mkdir(parents=True, exist_ok=True)
                if machine.log.exists():
                    shutil.copyfile(machine.log, kept / machine.log.name)
                for log in machine.folder.glob("logs/*.log"):
                    shutil.copyfile(log, kept / f"{machine.name}-{log.name}")
        sys.stdout.flush()


def _checkpoint(file: Path) -> None:
    """Move everything into the file of a database, so that it can be copied alone."""
    import sqlite3

    connection = sqlite3.connect(file)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _count_pages(settings: Settings) -> dict[int, int]:
    store = Store.open(settings)
    fetched = select(Page.shop_id, func.count()).where(col(Page.state) == PageState.FETCHED)
    with store.read() as session:
        counts = dict(session.exec(fetched.group_by(col(Page.shop_id))).all())
    store.engine.dispose()
    return counts


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trials, print a line for each kind of fault, and return 1 if one has failed."""
    options = _parse(arguments)
    shapes = []
    for shape in options.shops.split(","):
        reason = missing_shape(shape, options.sites)
        if reason is None:
            shapes.append(shape)
        else:
            print(f"no {shape} shops: {reason}")
    if not shapes:
        sys.exit("no shops to run")
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="scout-faults-", dir="/tmp"))
        # The user of the PostgreSQL server enters it as well.
        Path(name).chmod(0o755)
        shops = stack.enter_context(
            serve_shops(
                shapes,
                small=options.small,
                pages=options.pages,
                mirrored=options.mirrored,
                sites=options.sites,
            )
        )
        campaign = Campaign(options, shops, Path(name))
        stack.callback(campaign.close)
        campaign.run_undisturbed()
        began = time.monotonic()
        databases = DATABASES if options.database == "both" else (options.database,)
        shares = _share(options.faults, len(databases))
        for database, number in zip(databases, shares, strict=True):
            try:
                campaign.run(database, number)
            except pytest.skip.Exception as reason:
                print(f"no {database}: {reason}")
        return _summarize(campaign, time.monotonic() - began)


def _summarize(campaign: Campaign, seconds: float) -> int:
    for kind, number in sorted(campaign.counts.items()):
        print(f"{kind:40} {number:5}")
    print(f"{'faults in all':40} {campaign.counts.total():5}   {seconds:.0f} s")
    for line, number in campaign.tracebacks.most_common():
        print(f"traceback, {number} times: {line}")
    for failure in campaign.failures:
        print(f"failed; again: python -m tests.faults {failure}")
    return 1 if campaign.failures else 0


def _share(number: int, parts: int) -> list[int]:
    return [number // parts + (index < number % parts) for index in range(parts)]


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    number: Callable[[str], int] = int
    parser.add_argument("--faults", type=number, default=20, help="faults in all")
    parser.add_argument("--per-trial", type=number, default=8, help="faults of one run")
    parser.add_argument("--seed", type=number, default=1, help="chooses faults and moments")
    parser.add_argument("--first-trial", type=number, default=1, help="repeats one from there")
    parser.add_argument("--database", choices=[*DATABASES, "both"], default="both")
    parser.add_argument("--shops", default="small,demo", help=f"any of {','.join(SHAPES)}")
    parser.add_argument("--small", type=number, default=6, help="number of generated shops")
    parser.add_argument("--pages", type=number, default=12, help="pages of a generated shop")
    parser.add_argument("--mirrored", type=number, default=2, help="number of mirrored shops")
    parser.add_argument("--sites", type=Path, default=MIRRORED, help="folder of mirrored shops")
    parser.add_argument("--keep", type=Path, help="folder for the logs of failed trials")
    parser.add_argument("--verbose", action="store_true", help="print each fault")
    return parser.parse_args(arguments)
