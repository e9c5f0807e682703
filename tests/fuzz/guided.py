"""Fuzz targets guided by coverage: atheris (libFuzzer) chooses the bytes that Hypothesis turns into
inputs.

This module is imported before the packages under test, whose code is instrumented as it is loaded.
"""

import os
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

import atheris  # type: ignore[import-not-found]

PACKAGES = ["catalog", "crawler", "matcher", "parser", "rules_generator", "url_cleaner"]
# Bytes that Hypothesis reads at most.
MAX_BYTES = 8_192

with atheris.instrument_imports(include=PACKAGES):
    from tests.fuzz.runner import Worker, find_target, limit_process


def work(
    name: str,
    seconds: float,
    seed: int,
    current: Path,
    inputs: "Synchronized[int]",
    sender: Connection,
) -> None:
    """Run a target in a started process, send its tally, and end the process."""
    with atheris.instrument_imports(include=PACKAGES):
        worker = Worker(find_target(name), seconds, current, inputs)
    limit_process()
    run_bytes = worker.test(shrinks=False).hypothesis.fuzz_one_input

    def run_one_input(data: bytes) -> None:
        if not worker.has_time():
            worker.measure_memory()
            sender.send(worker.tally)
            os._exit(0)
        run_bytes(data)

    options = [f"-seed={seed}", f"-max_len={MAX_BYTES}", "-rss_limit_mb=0", "-timeout=0"]
    atheris.Setup([name, *options, "-verbosity=0"], run_one_input)
    atheris.Fuzz()
