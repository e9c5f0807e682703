"""The Spark session: what is missing is said in one line; work is spread and stays in order."""

import os

import pytest

from catalog.errors import ConfigError, UsageError, WorkerError
from catalog.runtime.spark import session
from catalog.runtime.spark.session import SparkJobs, Work, import_spark_module, open_spark


def test_a_missing_package_names_the_extra() -> None:
    """A package of the extra that is not installed is named with the command that installs it."""
    with pytest.raises(ConfigError, match=r"no_such is not installed: .*scout-offer-gaps\[spark\]"):
        import_spark_module("no_such.sql")


def test_a_remote_master_needs_a_folder() -> None:
    """A cluster needs a folder that all machines share."""
    with (
        pytest.raises(UsageError, match="SCOUT_SPARK_FOLDER"),
        open_spark("spark://127.0.0.1:1"),
    ):
        pass


def _prepare(shared: bytes) -> Work:
    def run(item: bytes) -> bytes:
        if item == b"bad":
            raise OSError("the disk is full")
        return shared + item

    return run


def test_results_keep_the_order(spark_jobs: SparkJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Items give results in their order, over several waves."""
    monkeypatch.setattr(session, "MAX_WAVE", 10)
    items = [str(number).encode() for number in range(12)]
    assert list(spark_jobs.map(_prepare, b"=", items)) == [b"=" + item for item in items]


def test_an_error_is_one_line(spark_jobs: SparkJobs) -> None:
    """An error of a task is reported in one line."""
    with pytest.raises(WorkerError, match=r"^Spark gave up: OSError: the disk is full$"):
        list(spark_jobs.map(_prepare, b"", [b"bad"]))


def _environment_of(_shared: bytes) -> Work:
    return lambda item: os.environ.get(item.decode(), "").encode()


def test_executors_see_no_secret(spark_jobs: SparkJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of an executor has harmless variables only, and Python's safe path."""
    names = [b"SCOUT_DATABASE_URL", b"PYTHONSAFEPATH"]
    assert list(spark_jobs.map(_environment_of, b"", names)) == [b"", b"1"]
