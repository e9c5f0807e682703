"""Typing errors in short records that share a word: `scout dedupe` by edit distance, and its cost.

The records are those of `benchmarks.spark records`: a name, an address with the word `street`, and
a town, of made words. One in five repeats an earlier one. All are about 45 characters long, so at a
similarity of 0.8 nine edits are allowed: a hard case, as the words of a record have few letters
more.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import peak_megabytes_of_children, processor_seconds_of_children
from benchmarks.spark import write_records


def measure_typing_errors(count: int, method: str) -> None:
    """Find the similar records among `count` in a process, and print its cost."""
    with tempfile.TemporaryDirectory(prefix="scout-typing-") as name:
        table, pairs = Path(name) / "records.txt", Path(name) / "pairs.csv"
        write_records(table, count)
        command = [sys.executable, "-m", "scout", "dedupe", str(table), "--method", method]
        command += ["--out", str(pairs), "--json"]
        begin = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - begin
    figures = json.loads(done.stdout)
    print(
        f"{count:,} records, {method}: {figures['pairs']:,} pairs, "
        f"{processor_seconds_of_children():.1f} s of processor time, "
        f"{seconds:.1f} s by the clock, {peak_megabytes_of_children() / 1024:.2f} GB",
        flush=True,
    )
