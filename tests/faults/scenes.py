"""Scenes: shops being run by one process on SQLite, or by four workers on PostgreSQL.

A scene starts its commands again when a fault has ended them, as systemd or a person would, until
all shops are done.
"""

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Engine, create_engine, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from catalog.models import Stage
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.job_queue import shop_jobs
from tests.catalog.storage import postgresql
from tests.faults import witness
from tests.faults.clocks import Clock
from tests.faults.disks import Disk
from tests.faults.machines import Machine
from tests.faults.relay import Relay

WORKERS = 4
TEMPLATE = "faults_template"
"""Name of the database with the registered shops."""

STOP_SECONDS = 20.0
"""Time that workers get to end when all is done."""

STAGES = [stage.value for stage in Stage]
PROGRESS = (
    "SELECT shop.id, run.state, run.stage FROM shop LEFT JOIN run ON run.shop_id = shop.id "
    "ORDER BY run.id"
)
FETCHED = "SELECT shop_id, count(*) AS pages FROM page WHERE state = 'fetched' GROUP BY shop_id"
SKIP_PAUSES = (
    "UPDATE procrastinate_jobs SET scheduled_at = now() + interval '1 second' "
    "WHERE status = 'todo' AND scheduled_at > now() + interval '6 seconds'"
)
"""Pauses of minutes after failures pass in a second."""


class Scene(ABC):
    """Shops being run: `machines` with their clocks and lines, and the disks.

    `fetched` has the pages of each shop when all are fetched.
    """

    database: str
    url: str

    def __init__(self, folder: Path, library: Path | None, fetched: dict[int, int]) -> None:
        self.folder, self._library, self._fetched = folder, library, fetched
        self.data_disk = Disk(folder / "data")
        self.body_disk = Disk(folder / "bodies")
        self.machines: list[Machine] = []
        self.engine: Engine

    @property
    def bodies(self) -> str:
        """URL of the page bodies."""
        return str(self.body_disk.folder / "store")

    @property
    def settings(self) -> Settings:
        """Settings with which the contents are read."""
        return Settings.load(
            data_dir=self.data_disk.folder, database_url=self.url, bodies_url=self.bodies
        )

    def add_machine(self, name: str, database: str, relay: Relay | None = None) -> Machine:
        """Add a machine that knows the database by a URL."""
        clock = Clock(self._library, self.folder / f"{name}.clock")
        variables = {"SCOUT_DATABASE_URL": database, "SCOUT_BODIES_URL": self.bodies}
        machine = Machine(self.data_disk.folder / name, clock, variables, relay)
        machine.log = self.folder / f"{name}.log"
        self.machines.append(machine)
        return machine

    @abstractmethod
    def start(self) -> None:
        """Begin to run the shops."""

    @abstractmethod
    def tend(self) -> None:
        """Start again what has ended before its time."""

    def progress(self) -> float | None:
        """Return the share of the work that is done; None while the database is not reached."""
        try:
            return self._read_progress()
        except SQLAlchemyError:
            return None

    def unfinished(self) -> list[str]:
        """Name the shops without a finished run; none while the database is not reached."""
        query = text(
            "SELECT name FROM shop WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.shop_id = shop.id "
            "AND state = 'done') ORDER BY id"
        )
        with suppress(SQLAlchemyError), self.engine.connect() as connection:
            return list(connection.execute(query).scalars())
        return []

    def is_done(self) -> bool:
        """Return True when all shops are done, and nothing waits."""
        return self.progress() == 1.0 and not self.resume_second_runs()

    def resume_second_runs(self) -> bool:
        """Run the shops again whose second run a fault has ended, as its message asks for.

        Returns True if there are any.
        """
        query = text(
            "SELECT name FROM shop JOIN run ON run.shop_id = shop.id WHERE state <> 'done' AND "
            "run.id = (SELECT max(id) FROM run AS newest WHERE newest.shop_id = shop.id) ORDER BY 1"
        )
        try:
            with self.engine.connect() as connection:
                names = list(connection.execute(query).scalars())
        except SQLAlchemyError:
            return True
        commands = [command for machine in self.machines for command in machine.commands.values()]
        for name in names:
            if ["run", name] not in commands:
                self.machines[-1].start("run", name)
        return bool(names)

    def problems(self) -> list[str]:
        """Describe what is wrong beside the contents."""
        return witness.find_violations(self.engine)

    def end(self) -> None:
        """End all processes and unmount the disks."""
        for machine in self.machines:
            machine.kill()
            if machine.relay is not None:
                machine.relay.close()
        self.engine.dispose()
        self.data_disk.remove()
        self.body_disk.remove()

    def _read_progress(self) -> float:
        with self.engine.connect() as connection:
            rows = connection.execute(text(FETCHED))
            fetched: dict[int, int] = {row.shop_id: row.pages for row in rows}
            shares: dict[int, float] = {}
            for shop_id, state, stage in connection.execute(text(PROGRESS)):
                share = STAGES.index(stage) / len(STAGES) if stage else 0.0
                if stage == Stage.CRAWL:
                    total = self._fetched.get(shop_id, 0) or 1
                    share = min(1.0, fetched.get(shop_id, 0) / total) / len(STAGES)
                if state == "done" or shares.get(shop_id) == 1.0:
                    share = 1.0
                shares[shop_id] = share
        return sum(shares.values()) / len(shares)


class SqliteScene(Scene):
    """One process on SQLite: `scout run --all`, and `scout run SHOP` after it was ended."""

    database = "sqlite"

    def __init__(
        self,
        folder: Path,
        library: Path | None,
        fetched: dict[int, int],
        template: Path,
    ) -> None:
        super().__init__(folder, library, fetched)
        file = self.data_disk.folder / "scout.db"
        shutil.copyfile(template, file)
        self.url = f"sqlite:///{file}"
        self.engine = create_engine(self.url, poolclass=NullPool)
        witness.install(self.engine)
        self.add_machine("one", self.url)
        # A second data folder, from which nothing is run but by a fault.
        self.add_machine("rival", self.url)

    def start(self) -> None:
        self.machines[0].start("run", "--all")

    def tend(self) -> None:
        machine = self.machines[0]
        machine.reap()
        self.machines[1].reap()
        if machine.is_frozen or machine.commands:
            return
        for name in self.unfinished()[:2]:
            machine.start("run", name)

    def problems(self) -> list[str]:
        with self.engine.connect() as connection:
            integrity = connection.execute(text("PRAGMA integrity_check")).scalar_one()
        return [*super().problems(), *([] if integrity == "ok" else [f"SQLite: {integrity}"])]


class PostgresqlScene(Scene):
    """Four workers on PostgreSQL, each on a machine of its own; page bodies are shared."""

    database = "postgresql"

    def __init__(
        self,
        folder: Path,
        library: Path | None,
        fetched: dict[int, int],
        server: "Server",
        number: int,
    ) -> None:
        super().__init__(folder, library, fetched)
        self.server = server
        name = f"faults_{number}"
        server.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        self.url = server.url.format(name)
        self.engine = create_engine(self.url, poolclass=NullPool)
        witness.install(self.engine)
        for index in range(WORKERS):
            relay = Relay(server.socket)
            database = f"postgresql+psycopg://scout@127.0.0.1:{relay.port}/{name}"
            self.add_machine(f"machine{index}", database, relay)
        self._name = name

    def start(self) -> None:
        store = Store.open(self.settings)
        for name in self.unfinished():
            shop_jobs.enqueue(store, store.shop(name))
        store.engine.dispose()
        self.tend()

    def tend(self) -> None:
        for machine in self.machines:
            machine.reap()
            if not machine.is_frozen and ["worker"] not in machine.commands.values():
                machine.start("worker")
        with suppress(SQLAlchemyError), self.engine.begin() as connection:
            connection.execute(text(SKIP_PAUSES))

    def is_done(self) -> bool:
        if self.progress() != 1.0:
            return False
        waiting = "SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
        with suppress(SQLAlchemyError), self.engine.connect() as connection:
            if connection.execute(text(waiting)).scalar_one():
                return False
            return not self.resume_second_runs()
        return False

    def problems(self) -> list[str]:
        query = text(
            "SELECT lock, (SELECT reason FROM job_attempt WHERE job_id = job.id ORDER BY id DESC "
            "LIMIT 1) AS reason FROM procrastinate_jobs AS job WHERE status = 'failed'"
        )
        with self.engine.connect() as connection:
            failed = connection.execute(query).all()
        return [
            *super().problems(),
            *(f"the job of {row.lock} was set aside: {row.reason}" for row in failed),
            *_open_attempts(self.engine),
        ]

    def end(self) -> None:
        super().end()
        self.server.execute(f"DROP DATABASE {self._name} WITH (FORCE)")


class Server:
    """A PostgreSQL server on a disk of its own, whose shops are registered once, in a template."""

    def __init__(self, register: Callable[[Settings], None]) -> None:
        self.folder = postgresql.make_folder()
        self.folder.rmdir()
        self.disk = Disk(self.folder)
        self.url = postgresql.start_server(self.folder, is_durable=True)
        self.socket = self.folder / ".s.PGSQL.5432"
        self.execute(f"CREATE DATABASE {TEMPLATE}")
        settings = Settings.load(data_dir=self.folder / "d", database_url=self.url.format(TEMPLATE))
        settings.data_dir.mkdir()
        register(settings)
        # A database that somebody uses cannot be copied.
        self.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            f"WHERE datname = '{TEMPLATE}' AND pid <> pg_backend_pid()"
        )

    def execute(self, statement: str) -> None:
        """Execute a statement outside of any transaction."""
        url = self.url.format("postgres")
        engine = create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
        with engine.connect() as connection:
            connection.exec_driver_sql(statement)

    def close(self) -> None:
        """Stop the server."""
        postgresql.stop_server(self.folder)
        self.disk.remove()


def _open_attempts(engine: Engine) -> list[str]:
    """Describe the attempts that are still open, when all jobs have ended."""
    query = text("SELECT id, worker FROM job_attempt WHERE outcome IS NULL")
    with engine.connect() as connection:
        rows = connection.execute(query).all()
    return [f"attempt {row.id} of {row.worker} has no end" for row in rows]
