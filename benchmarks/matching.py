"""Benchmark matching against baselines, and measure how its cost grows.

    python benchmarks/matching.py peers FOLDER...
    python benchmarks/matching.py scale DATA [--sizes 10000,100000]
    python -m benchmarks.matching index DATA [--sizes 1000000] [--crawled 154] [--database URL]

A FOLDER is one that `scout evaluate matching` takes, DATA holds such folders, sizes are catalog
offers.

`peers` prints our figure and those of rapidfuzz's token_set_ratio and of TF-IDF cosines, each at
the threshold that is best on the training data; on labelled pairs also that of recordlinkage, if it
is installed. `scale` matches a tenth as many crawled offers as the catalog has, each size in a
process of its own, and prints seconds, processor seconds (in all, and by offer) and peak memory.
`index` matches a few crawled offers with a catalog in the store (`benchmarks.large_catalog`).

The offers of `scale` are made from the titles at hand, always the same ones. Offer n takes the
title n of all titles, from the start again when they end. Each further time, every token with a
digit gets other digits, and one of its words becomes one of the next title's: this makes series of
siblings, as shops have them. Prices and SKUs are drawn. Seven in ten of the crawled offers are such
catalog offers as a page shows them: one word less or the brand once more, one price in five stale,
one SKU in two absent, no link. Three in ten are further siblings that the catalog lacks.
"""

import argparse
import importlib.util
import random
import resource
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from catalog.models import OfferFields, Verdict
from matcher.evaluation.baselines import evaluate_baselines_on_pairs
from matcher.evaluation.dataset import read_csv, read_table
from matcher.evaluation.evaluate import evaluate_matching
from matcher.evaluation.metrics import Metrics
from matcher.match import match_offers

# Share of the crawled offers that the catalog lacks.
MISSING_SHARE = 0.3
# Catalog offers per crawled offer.
CATALOG_PER_CRAWLED = 10
# Catalog offers by benchmark.
DEFAULT_SIZES = {"scale": "10000,30000,100000,300000,1000000", "index": "1000000"}
PARTS = ("train", "valid", "test")
# String similarities that recordlinkage compares every column with.
RECORDLINKAGE_METHODS = ("jarowinkler", "qgram", "cosine")
# Shares of the crawled offers that differ from their catalog offer.
WORD_DROPPED = 0.5
BRAND_REPEATED = 0.5
PRICE_STALE = 0.2
SKU_GIVEN = 0.5


@dataclass(frozen=True)
class MadeOffers:
    """A catalog, crawled offers, and the catalog row of each crawled one, None if it is missing."""

    catalog: list[OfferFields]
    crawled: list[OfferFields]
    truth: list[int | None]


@dataclass(frozen=True)
class Measurement:
    """The cost of one matching, and the share of right answers."""

    crawled: int
    seconds: float
    cpu_seconds: float
    peak_gb: float
    right: float


def main() -> None:
    """Run the named benchmark."""
    argument_parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    argument_parser.add_argument("benchmark", choices=("peers", "scale", "index"))
    argument_parser.add_argument("data", type=Path, nargs="+")
    argument_parser.add_argument("--sizes")
    argument_parser.add_argument("--crawled", type=int, default=154)
    argument_parser.add_argument("--database")
    arguments = argument_parser.parse_args()
    if arguments.benchmark == "peers":
        compare_with_peers(arguments.data)
        return
    sizes = arguments.sizes or DEFAULT_SIZES[arguments.benchmark]
    if arguments.benchmark == "scale":
        measure_scale(arguments.data[0], [int(size) for size in sizes.split(",")])
        return
    # Imported late: as a script, this file does not find the module.
    from benchmarks.large_catalog import measure_index

    for size in map(int, sizes.split(",")):
        made = make_offers(read_titles(arguments.data[0]), size)
        print(f"{arguments.crawled} crawled offers, {size} in the catalog", flush=True)
        crawled, truth = made.crawled[: arguments.crawled], made.truth[: arguments.crawled]
        measure_index(made.catalog, crawled, truth, arguments.database)


def compare_with_peers(folders: Sequence[Path]) -> None:
    """Print our figure and the peers' on each folder."""
    for folder in folders:
        metrics = evaluate_matching(folder)
        if (folder / "pairs_test.csv").exists() and _is_installed("recordlinkage"):
            metrics |= evaluate_recordlinkage(folder)
        shown = [
            f"{name} {value}"
            for name, value in metrics.items()
            if name in {"f1", "right"} or name.startswith("peer_")
        ]
        print(f"{folder.name:20}", "  ".join(shown), flush=True)


def evaluate_recordlinkage(folder: Path) -> Metrics:
    """Return recordlinkage's F1: a logistic regression over similarities of the raw columns."""
    import pandas
    import recordlinkage

    frames = []
    for side in ("left", "right"):
        table = read_table(folder / f"{side}.jsonl")
        frames.append(pandas.DataFrame(table.rows, index=table.ids).fillna("").astype(str))
    left, right = frames
    rows = []
    is_training_row = []
    for part in PARTS:
        part_rows = read_csv(folder / f"pairs_{part}.csv")
        rows += part_rows
        is_training_row += [part != "test"] * len(part_rows)
    pairs = pandas.MultiIndex.from_tuples([(row["id_left"], row["id_right"]) for row in rows])
    label = np.array([row["label"] == "1" for row in rows])
    is_training = np.array(is_training_row)
    compare = recordlinkage.Compare()
    for column in sorted(set(left) & set(right) - {"id"}):
        for method in RECORDLINKAGE_METHODS:
            compare.string(
                column, column, method=method, missing_value=0, label=f"{column} {method}"
            )
    table = compare.compute(pairs, left, right)
    classifier = recordlinkage.LogisticRegressionClassifier()
    classifier.fit(table[is_training], pairs[is_training & label])
    score = {"recordlinkage": np.asarray(classifier.prob(table), dtype=np.float32)}
    return evaluate_baselines_on_pairs(
        score,
        np.flatnonzero(is_training),
        label[is_training],
        np.flatnonzero(~is_training),
        label[~is_training],
    )


def _is_installed(package: str) -> bool:
    if importlib.util.find_spec(package) is not None:
        return True
    print(
        f"{package} is left out: it is not installed (pip install -r requirements/bench.txt)",
        flush=True,
    )
    return False


def measure_scale(data: Path, sizes: Sequence[int]) -> None:
    """Print a line per size: the cost, and the share of right verdicts."""
    header = f"{'catalog':>9} {'crawled':>8} {'seconds':>8} {'CPU s':>8}"
    print(f"{header} {'us/offer':>9} {'GB':>6} {'right':>6}")
    for size in sizes:
        # A process per size: peak memory is counted over the life of a process.
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            measured = pool.submit(measure_matching, data, size).result()
        microseconds = 1e6 * measured.cpu_seconds / (size + measured.crawled)
        print(
            f"{size:9} {measured.crawled:8} {measured.seconds:8.1f} {measured.cpu_seconds:8.1f} "
            f"{microseconds:9.0f} {measured.peak_gb:6.2f} {measured.right:6.3f}",
            flush=True,
        )


def measure_matching(data: Path, size: int) -> Measurement:
    """Match made offers against a catalog of `size` offers, and measure it."""
    made = make_offers(read_titles(data), size)
    begin, cpu_begin = time.monotonic(), time.process_time()
    results = match_offers(made.crawled, made.catalog)
    seconds, cpu_seconds = time.monotonic() - begin, time.process_time() - cpu_begin
    answer: dict[int, int | None] = {}
    for result in results:
        listed = result.nearest if result.verdict is Verdict.LISTED else None
        answer |= dict.fromkeys(result.pages, listed)
    right = sum(answer[row] == true_row for row, true_row in enumerate(made.truth))
    peak_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return Measurement(len(made.crawled), seconds, cpu_seconds, peak_gb, right / len(made.truth))


def read_titles(data: Path) -> list[str]:
    """Return every title of at least three words in the folders, each once."""
    files = sorted(
        path for name in ("catalog", "left", "right") for path in data.glob(f"*/{name}.jsonl")
    )
    titles: dict[str, None] = {}
    for path in files:
        titles |= dict.fromkeys(record.title for record in read_table(path).records)
    return [title for title in titles if title.count(" ") >= 2]


def make_offers(titles: Sequence[str], size: int) -> MadeOffers:
    """Make a catalog of `size` offers, and the crawled offers; always the same ones."""
    generator = random.Random("scale")
    catalog = [*make_siblings(titles, generator, 0, size)]
    count = size // CATALOG_PER_CRAWLED
    missing_count = round(MISSING_SHARE * count)
    crawled: list[tuple[OfferFields, int | None]] = []
    for offer in make_siblings(titles, generator, size, missing_count):
        crawled.append((offer, None))
    for row in generator.sample(range(size), count - missing_count):
        crawled.append((show_on_page(catalog[row], generator), row))
    generator.shuffle(crawled)
    return MadeOffers(catalog, [offer for offer, _ in crawled], [row for _, row in crawled])


def make_siblings(
    titles: Sequence[str], generator: random.Random, start: int, count: int
) -> Iterator[OfferFields]:
    """Make `count` offers from number `start` on."""
    for number in range(start, start + count):
        title_words = titles[number % len(titles)].split()
        if number >= len(titles):
            title_words = [change_digits(word, generator) for word in title_words]
            next_words = titles[(number + 1) % len(titles)].split()
            title_words[generator.randrange(1, len(title_words))] = generator.choice(next_words)
        price = Decimal(generator.randrange(500, 90_000)) / 100
        sku = f"{generator.randrange(10**9):09}"
        yield OfferFields(title=" ".join(title_words), brand=title_words[0], price=price, sku=sku)


def change_digits(word: str, generator: random.Random) -> str:
    """Return the word with other digits."""
    letters = []
    for letter in word:
        letters.append(str(generator.randrange(1, 10)) if letter.isdigit() else letter)
    return "".join(letters)


def show_on_page(offer: OfferFields, generator: random.Random) -> OfferFields:
    """Return the offer as a page shows it."""
    title_words = (offer.title or "").split()
    if generator.random() < WORD_DROPPED:
        title_words.pop(generator.randrange(1, len(title_words)))
    elif generator.random() < BRAND_REPEATED:
        title_words.insert(0, title_words[0])
    price = offer.price or Decimal(1)
    if generator.random() < PRICE_STALE:
        price *= Decimal(str(round(generator.uniform(0.8, 1.2), 2)))
    sku = offer.sku if generator.random() < SKU_GIVEN else None
    cents = price.quantize(Decimal("0.01"))
    return OfferFields(title=" ".join(title_words), brand=offer.brand, price=cents, sku=sku)


if __name__ == "__main__":
    main()
