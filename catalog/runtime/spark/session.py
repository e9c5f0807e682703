"""A Spark session that runs Scout's own functions, with results as on one machine.

Spark moves rows and numbers; hashing, comparing and reading are done by the same functions as
without it. Rows hold bytes, numbers and JSON that Scout made, no pickled objects. The executors
import Scout from the environment of their Python (`PYSPARK_PYTHON`).
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog.errors import ConfigError, UsageError, WorkerError
from catalog.runtime.batches import batches_by_size
from catalog.runtime.served_process import safe_environment
from catalog.runtime.spark import DEFAULT_MASTER
from catalog.runtime.spark.java import find_java

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession

# Memory of the driver's Java; with a local master it holds the executors as well.
DRIVER_MEMORY = "2g"
# Bytes of items that are under way at once; bounds the memory of the driver.
MAX_WAVE = 64_000_000
# Tasks per core: a slow one delays the others less.
TASKS_PER_CORE = 2
# Rows of one Arrow batch; bounds the memory of an executor's Python.
BATCH_ROWS = 20_000
# Characters of Spark's message that an error shows.
MAX_MESSAGE = 300
_LOGGING = """rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = spark: %p %c{1}: %m%n
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
logger.executor.name = org.apache.spark.executor
logger.executor.level = off
logger.scheduler.name = org.apache.spark.scheduler
logger.scheduler.level = off
"""

Work = Callable[[bytes], bytes]


class SparkJobs:
    """An open Spark session, and a folder that all executors can reach."""

    def __init__(self, session: "SparkSession", folder: Path) -> None:
        self.session = session
        self.folder = folder
        self._tables = 0

    @property
    def context(self) -> "SparkContext":
        """The context of the session."""
        return self.session.sparkContext

    @property
    def cores(self) -> int:
        """The number of tasks that run at once."""
        return max(1, int(self.context.defaultParallelism))

    def map(
        self, prepare: Callable[[bytes], Work], shared: bytes, items: Iterable[bytes]
    ) -> Iterator[bytes]:
        """Yield the result of each item, in their order.

        Each task calls `prepare(shared)` once, and the function that it returned with each of its
        items. `prepare` is a function of a module. Raises WorkerError.
        """
        broadcast = self.context.broadcast(shared)

        def run(partition: Iterable[bytes]) -> Iterator[bytes]:
            work = prepare(broadcast.value)
            for item in partition:
                yield work(item)

        try:
            for wave in batches_by_size(items, MAX_WAVE, len):
                slices = min(len(wave), TASKS_PER_CORE * self.cores)
                with spark_errors():
                    results = self.context.parallelize(wave, slices).mapPartitions(run).collect()
                yield from results
        finally:
            broadcast.destroy()

    def set_partitions(self, count: int) -> None:
        """Set the number of tasks of a join."""
        self.session.conf.set("spark.sql.shuffle.partitions", str(count))

    def new_path(self) -> str:
        """Return the path of a new table in the folder."""
        self._tables += 1
        return str(self.folder / f"table-{self._tables}")

    def write_rows(self, columns: Mapping[str, Any], rows_per_file: int) -> "DataFrame":
        """Write columns (Arrow arrays of equal length) to the folder, and open them as a table.

        The table has a partition per file. Raises ConfigError without pyarrow.
        """
        pyarrow = import_spark_module("pyarrow")
        parquet = import_spark_module("pyarrow.parquet")
        path = Path(self.new_path())
        path.mkdir()
        table = pyarrow.table(dict(columns))
        for number, start in enumerate(range(0, max(1, len(table)), rows_per_file)):
            part = table.slice(start, rows_per_file)
            parquet.write_table(part, path / f"part-{number:06d}.parquet", compression="zstd")
        return self.session.read.schema(_schema_of(table.schema)).parquet(str(path))


def import_spark_module(name: str) -> Any:
    """Import a module of the extra `spark`. Raises ConfigError that says how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ConfigError(
            f"--engine spark: {name.partition('.')[0]} is not installed: "
            "pip install 'scout-offer-gaps[spark]'"
        ) from error


@contextmanager
def open_spark(
    master: str = DEFAULT_MASTER,
    *,
    folder: Path | None = None,
    settings: Mapping[str, str] | None = None,
    variables: tuple[str, ...] = (),
) -> Iterator[SparkJobs]:
    """Start Spark on a master, and stop it at the end.

    `folder` is one that driver and executors share; with a local master it defaults to a temporary
    one. `settings` are further ones of Spark. `variables` are prefixes of environment variables
    that the executors of a local master may see besides the harmless ones. Raises ConfigError
    where pyspark or Java is missing, UsageError for a remote master without a folder.
    """
    is_local = master.split("[", maxsplit=1)[0] == "local"
    if not is_local and folder is None:
        raise UsageError(
            f"--master {master}: set SCOUT_SPARK_FOLDER to a folder that all its machines share"
        )
    sql = import_spark_module("pyspark.sql")
    java = find_java()
    with tempfile.TemporaryDirectory(prefix="scout-spark-", dir=folder) as name:
        workspace = Path(name)
        logging = workspace / "log4j2.properties"
        logging.write_text(_LOGGING)
        builder = sql.SparkSession.builder.master(master).appName("scout")
        for key, value in _settings(is_local, logging, workspace).items():
            builder = builder.config(key, value)
        for key, value in (settings or {}).items():
            builder = builder.config(key, value)
        with _environment(java, is_local, variables), spark_errors():
            session = builder.getOrCreate()
        try:
            yield SparkJobs(session, workspace)
        finally:
            session.stop()


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turn the errors of Spark into a WorkerError of one line, and let those of Scout pass."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise WorkerError(f"Spark gave up: {_last_line(str(error))}") from error


def _last_line(message: str) -> str:
    """Return the line of a message that names the error: in a Python traceback the last one.

    >>> _last_line("Job aborted\\nTraceback (most recent call last):\\n  File x\\nOSError: full\\n")
    'OSError: full'
    """
    first_line = message.strip().partition("\n")[0]
    _, _, traceback = message.partition("Traceback (most recent call last):\n")
    for line in traceback.splitlines():
        # The lines of a traceback are indented but for the error itself.
        if line and not line[0].isspace():
            return line[:MAX_MESSAGE]
    return first_line[:MAX_MESSAGE]


def _settings(is_local: bool, logging: Path, workspace: Path) -> dict[str, str]:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": DRIVER_MEMORY,
        # Scout logs by the default options, which leave the others to an administrator.
        "spark.driver.defaultJavaOptions": f"-Dlog4j2.configurationFile=file:{logging}",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
        # A task that fails, fails again: Scout's functions give the same result each time.
        "spark.task.maxFailures": "2",
        # An executor imports nothing from its working folder.
        "spark.executorEnv.PYTHONSAFEPATH": "1",
    }
    if is_local:
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": str(workspace),
            "spark.sql.warehouse.dir": str(workspace / "warehouse"),
        }
    return settings


@contextmanager
def _environment(java: Path, is_local: bool, variables: tuple[str, ...]) -> Iterator[None]:
    """Start Java without the secrets that the environment may hold."""
    before = dict(os.environ)
    allowed = safe_environment() | {"JAVA_HOME": str(java)}
    for name, value in before.items():
        if name.startswith(("SPARK_", "PYSPARK_", "HADOOP_", *variables)):
            allowed[name] = value
    if is_local:
        allowed |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    os.environ.clear()
    os.environ.update(allowed)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _schema_of(schema: Any) -> str:
    """Return an Arrow schema of numbers and bytes as Spark's."""
    names = {"int64": "long", "int32": "int", "binary": "binary", "large_binary": "binary"}
    return ", ".join(f"{field.name} {names[str(field.type)]}" for field in schema)
