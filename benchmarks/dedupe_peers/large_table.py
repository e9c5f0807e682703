"""A large table of short records by a recipe, deduplicated by `scout dedupe --decide taught`.

A record is a name, a street and a town, of made words. One in five repeats an earlier one: in
capitals, with a word left out, or with a wrong last letter. Half of the labels are such pairs, half
are records of one street that are not. Candidates come from the exact and the MinHash rung.
"""

import csv
import itertools
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.made_words import made_word
from benchmarks.measure import peak_megabytes_of_children, processor_seconds_of_children

COLUMNS = ("id", "name", "street", "town")
# Share of the records that repeat an earlier one, and of these that are in capitals or lack a word.
REPEATED_SHARE = 0.2
CAPITALS_SHARE = 0.5
SHORTENED_SHARE = 0.25
# Different words of names, streets and towns.
NAMES, STREETS, TOWNS = 40_000, 15_000, 8_000
LABELS = 200
# Least similarity of a MinHash candidate: one word of seven is another one.
LOOSE = 0.7
# Line of the first record, below the names of the columns.
FIRST_LINE = 2
MILLION = 1_000_000
# Limits of a million records, in seconds by the clock; of ten million, also in GB of memory.
MILLION_SECONDS = 15 * 60
TEN_MILLION_SECONDS = 60 * 60
MAX_GB = 8.0

Row = tuple[str, str, str]


def measure_large_table(count: int, loose: float | None) -> bool:
    """Deduplicate `count` records in a process of its own and print its cost.

    Returns True if it took no more time and memory than the limits.
    """
    with tempfile.TemporaryDirectory(prefix="scout-table-") as name:
        folder = Path(name)
        truth = write_table(folder / "records.csv", folder / "labels.csv", count)
        command = [sys.executable, "-m", "scout", "dedupe", str(folder / "records.csv")]
        command += ["--key", ",".join(COLUMNS[1:]), "--id", "id", "--decide", "taught"]
        command += ["--labels", str(folder / "labels.csv"), "--method", "exact"]
        command += ["--method", "minhash", "--loose", str(loose or LOOSE)]
        command += ["--out", str(folder / "pairs.csv"), "--json"]
        begin = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - begin
        figures = json.loads(done.stdout)
        with (folder / "pairs.csv").open(encoding="utf-8", newline="") as file:
            found = {
                frozenset(map(_id_at, (row["left"], row["right"]))) for row in csv.DictReader(file)
            }
    right = len(found & truth)
    print(f"{count:,} records, {figures['candidates']:,} candidates, {LABELS} labels", flush=True)
    memory = peak_megabytes_of_children() / 1024
    limit = MILLION_SECONDS if count <= MILLION else TEN_MILLION_SECONDS
    print(
        f"{seconds:.0f} s by the clock (target {limit}), "
        f"{processor_seconds_of_children():.0f} s of processor time, {memory:.1f} GB (target {MAX_GB})"
    )
    print(f"precision {right / max(1, len(found)):.4f}, recall {right / max(1, len(truth)):.4f}")
    return seconds <= limit and memory <= MAX_GB


def write_table(table: Path, labels: Path, count: int) -> set[frozenset[str]]:
    """Write the records and the labels; returns the true pairs of ids."""
    generator = random.Random(1)
    rows: list[Row] = []
    # Records that repeat one another, by the first of them.
    copies: dict[int, list[int]] = {}
    of_street: dict[str, list[int]] = {}
    originals: list[int] = []
    for number in range(count):
        if originals and generator.random() < REPEATED_SHARE:
            original = generator.choice(originals)
            rows.append(_repeat(generator, rows[original]))
            copies.setdefault(original, [original]).append(number)
            continue
        rows.append(_make_row(generator))
        originals.append(number)
        of_street.setdefault(rows[-1][1].split()[0], []).append(number)
    truth = set()
    for members in copies.values():
        truth.update(frozenset(map(str, pair)) for pair in itertools.combinations(members, 2))
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows((str(number), *row) for number, row in enumerate(rows))
    true_pairs = generator.sample([members[:2] for members in copies.values()], LABELS // 2)
    shared = [members[:2] for members in of_street.values() if len(members) > 1]
    other_pairs = generator.sample(shared, LABELS // 2)
    with labels.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("left", "right", "label"))
        writer.writerows((*pair, 1) for pair in true_pairs)
        writer.writerows((*pair, 0) for pair in other_pairs)
    return truth


def _id_at(line: str) -> str:
    return str(int(line) - FIRST_LINE)


def _make_row(generator: random.Random) -> Row:
    name = f"{made_word(generator.randrange(NAMES))} {made_word(generator.randrange(NAMES))}"
    street = f"{made_word(generator.randrange(STREETS))} street {generator.randrange(1, 200)}"
    town = f"{generator.randrange(10_000, 99_999)} {made_word(generator.randrange(TOWNS))}"
    return name, street, town


def _repeat(generator: random.Random, row: Row) -> Row:
    kind = generator.random()
    if kind < CAPITALS_SHARE:
        name, street, town = (value.upper() for value in row)
        return name, street, town
    columns = [value.split(" ") for value in row]
    words = generator.choice(columns)
    place = generator.randrange(len(words))
    if kind < CAPITALS_SHARE + SHORTENED_SHARE:
        del words[place]
    else:
        words[place] = words[place][:-1] + "x"
    name, street, town = (" ".join(column) for column in columns)
    return name, street, town
