"""Compare the Spark engine with the local one, and measure unit costs of many short records.

    python -m benchmarks.spark joins FILE... [--lines N]
    python -m benchmarks.spark matching FOLDER...
    python -m benchmarks.spark records FILE COUNT

`joins` runs the ladder over lines of text (at most N), `matching` runs the exact and MinHash rungs
over each table of a FOLDER that `scout evaluate matching` takes, and matches its two sides. Both
print if pairs, clusters and verdicts are identical, and the processor seconds of either engine
(those of Spark with its Java and its executors). Spark runs on local[2]. The exit status is 1 if
anything differs.

`records` writes COUNT short records (name, street, town), always the same ones: one in five repeats
an earlier one, half of these with another case, the others with a word less or a letter changed.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.made_words import made_word
from benchmarks.measure import processor_seconds
from catalog.models import OfferFields
from catalog.runtime.spark.session import SparkJobs, open_spark
from matcher.dedupe.base.join import JoinMethod
from matcher.dedupe.base.records import Records, load_records, records_from_rows
from matcher.dedupe.deduplication import default_method, find_duplicates
from matcher.dedupe.spark.methods import distribute
from matcher.evaluation.dataset import read_table
from matcher.match import match_offers

MASTER = "local[2]"
# Rungs over tables: (name, similarity of a pair).
TABLE_RUNGS: tuple[tuple[Any, float], ...] = (("exact", 1.0), ("minhash", 0.5), ("chain", 0.8))
# Pairs of files with the two sides of a matching.
SIDES = (("left.jsonl", "right.jsonl"), ("crawled.jsonl", "catalog.jsonl"))
REPEATED_SHARE = 0.2
# Names, streets and towns that are made; roughly as many as a large country has.
NAMES = 40_000
STREETS = 60_000
TOWNS = 12_000


def measure(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and the processor seconds that it took."""
    begin = processor_seconds()
    result = work()
    return result, processor_seconds() - begin


def compare_rung(
    jobs: SparkJobs, name: str, left: Records, right: Records | None, method: JoinMethod
) -> bool:
    """Run a join method on both engines; print and return if the results are identical."""
    local, local_seconds = measure(lambda: find_duplicates(left, right, method))
    spark, spark_seconds = measure(lambda: find_duplicates(left, right, distribute(method, jobs)))
    same = spark.clusters == local.clusters
    for column in ("left", "right", "similarity", "reason"):
        same &= np.array_equal(getattr(spark.pairs, column), getattr(local.pairs, column))
    work = [(pairs.candidates, pairs.comparisons) for pairs in (spark.pairs, local.pairs)]
    same &= work[0] == work[1]
    records = len(left) + (len(right) if right else 0)
    print(
        f"{name:<40} {records:>8} records {len(local.pairs):>8} pairs "
        f"{'identical' if same else 'DIFFERENT'} "
        f"{local_seconds:6.1f} s local {spark_seconds:6.1f} s Spark",
        flush=True,
    )
    return bool(same)


def compare_joins(files: Sequence[Path], lines: int) -> bool:
    """Compare the ladder over files of lines; return if all is identical."""
    same = True
    with open_spark(MASTER) as jobs:
        for path in files:
            records = load_records(path)
            records = records.select(range(min(lines, len(records))))
            ladder = default_method("chain", 0.8)
            same &= compare_rung(jobs, f"{path.name} ladder", records, None, ladder)
    return bool(same)


def compare_matching(folders: Sequence[Path]) -> bool:
    """Compare rungs and verdicts over tables; return if all is identical."""
    same = True
    with open_spark(MASTER) as jobs:
        for folder in folders:
            sides = [names for names in SIDES if (folder / names[1]).exists()] or [("left.jsonl",)]
            tables = [read_table(folder / name) for name in sides[0]]
            columns = [name for name in tables[0].rows[0] if name in ("title", "name", "address")]
            keys = columns or [next(iter(tables[0].rows[0]))]
            records = [records_from_rows(table.rows, keys) for table in tables]
            left, right = records[0], records[1] if len(records) > 1 else None
            for rung, threshold in TABLE_RUNGS:
                method = default_method(rung, threshold)
                same &= compare_rung(jobs, f"{folder.name} {rung}", left, right, method)
            if right:
                offers = [_read_offers(table.rows) for table in tables]
                same &= _compare_verdicts(jobs, folder.name, offers)
    return bool(same)


def _read_offers(rows: Sequence[Any]) -> list[OfferFields]:
    offers = []
    for row in rows:
        title = str(row.get("title") or row.get("name") or "")
        offers.append(
            OfferFields(title=title, description=row.get("description"), brand=row.get("brand"))
        )
    return offers


def _compare_verdicts(jobs: SparkJobs, name: str, sides: Sequence[list[OfferFields]]) -> bool:
    local, local_seconds = measure(lambda: match_offers(*sides))
    spark, spark_seconds = measure(lambda: match_offers(*sides, jobs=jobs))
    print(
        f"{name + ' verdicts':<40} {sum(map(len, sides)):>8} offers  {len(local):>8} verdicts "
        f"{'identical' if spark == local else 'DIFFERENT'} "
        f"{local_seconds:6.1f} s local {spark_seconds:6.1f} s Spark",
        flush=True,
    )
    return bool(spark == local)


def write_records(path: Path, count: int) -> None:
    """Write short records, a line each."""
    generator = random.Random(1)
    earlier: list[str] = []
    with path.open("w") as file:
        for _ in range(count):
            if earlier and generator.random() < REPEATED_SHARE:
                record = _repeat(generator, generator.choice(earlier))
            else:
                first_name = made_word(generator.randrange(NAMES))
                last_name = made_word(generator.randrange(NAMES))
                street = made_word(generator.randrange(STREETS))
                number = generator.randrange(1, 200)
                code = generator.randrange(10_000, 99_999)
                town = made_word(generator.randrange(TOWNS))
                record = f"{first_name} {last_name}, {street} street {number}, {code} {town}"
                # A bounded sample of the records that are repeated.
                if len(earlier) < 200_000:
                    earlier.append(record)
                else:
                    earlier[generator.randrange(len(earlier))] = record
            file.write(record + "\n")


def _repeat(generator: random.Random, record: str) -> str:
    kind = generator.random()
    if kind < 0.5:
        return record.upper()
    words = record.split(" ")
    place = generator.randrange(len(words))
    if kind < 0.75:
        del words[place]
    else:
        words[place] = words[place][:-1] + "x"
    return " ".join(words)


def main() -> None:
    """Run the command of the module's docstring."""
    argument_parser = argparse.ArgumentParser(description=__doc__)
    commands = argument_parser.add_subparsers(dest="command", required=True)
    joins = commands.add_parser("joins")
    joins.add_argument("files", nargs="+", type=Path)
    joins.add_argument("--lines", type=int, default=200_000)
    matching = commands.add_parser("matching")
    matching.add_argument("folders", nargs="+", type=Path)
    records = commands.add_parser("records")
    records.add_argument("file", type=Path)
    records.add_argument("count", type=int)
    arguments = argument_parser.parse_args()
    begin = time.perf_counter()
    same = True
    match arguments.command:
        case "joins":
            same = compare_joins(arguments.files, arguments.lines)
        case "matching":
            same = compare_matching(arguments.folders)
        case _:
            write_records(arguments.file, arguments.count)
    print(f"{time.perf_counter() - begin:.0f} s of wall-clock time")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
