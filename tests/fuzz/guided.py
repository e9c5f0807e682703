"""Fuzz targets guided by coverage: atheris (libFuzzer) chooses the bytes that Hypothesis turns into
inputs.

This module is imported before the packages under test, whose code is instrumented as it is loaded.
"""

import os
from multiprocessing.connection import Connection

import atheris  # type: ignore[import-not-found]

PACKAGES = ["catalog", "crawler", "matcher", "parser", "rules_generator", "url_cleaner"]
# Bytes that Hypothesis reads at most.
MAX_BYTES = 8_192

with atheris.instrument_imports(include=PACKAGES):
    from tests.fuzz.runner import Budget, Job, Worker, find_target, limit_process


def work(job: Job, budget: Budget, seed: int, sender: Connection) -> None:
    """Run a target in a started process, send its tally, and end the process."""
    with atheris.instrument_imports(include=PACKAGES):
        worker = Worker(find_target(job.name), budget, job)
    limit_process()
    run_bytes = worker.test(shrinks=False).hypothesis.fuzz_one_input

    def run_one_input(data: bytes) -> None:
        if not worker.has_time():
            worker.measure_memory()
            sender.send(worker.tally)
            os._exit(0)
        run_bytes(data)

    options = [f"-seed={seed}", f"-max_len={MAX_BYTES}", "-rss_limit_mb=0", "-timeout=0"]
    atheris.Setup([job.name, *options, "-verbosity=0"], run_one_input)
    atheris.Fuzz()
