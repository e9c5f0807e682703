"""The decision beside its peers, and how its cost grows.

    python benchmarks/matching.py peers FOLDER...                    folders as `scout evaluate matching` takes them
    python benchmarks/matching.py scale DATA [--sizes 10000,100000]  DATA holds such folders; sizes are catalog offers

`peers` prints our figure and those of rapidfuzz's token_set_ratio and of TF-IDF cosines, each above the threshold that
does best on what may be learnt from, and on labelled pairs that of recordlinkage, where it is installed. `scale`
matches a tenth as many crawled offers as the catalog has, each size in a process of its own, and prints seconds,
processor seconds (in all, and by offer) and the most memory that was held.

The offers of `scale` are made from the titles at hand, always the same ones. Offer n takes the title n of all titles,
from the start again when they end. Each further time, every token with a digit gets other digits, and one of its words
becomes one of the next title's: so series of siblings arise, as shops have them. Prices and skus are drawn. Seven in
ten of the crawled offers are such catalog offers as a page shows them: one word less or the brand once more, one price
in five is stale, one sku in two is not given, no link is. Three in ten are further siblings that the catalog lacks.
"""

import argparse
import importlib.util
import random
import resource
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from catalog.models import OfferFields, Verdict
from matcher.evaluation.baselines import peers_on_pairs
from matcher.evaluation.dataset import read_csv, read_table
from matcher.evaluation.evaluate import evaluate_matching
from matcher.evaluation.metrics import Figures
from matcher.match import match

LACKING = 0.3
EVERY = 10
PARTS = ("train", "valid", "test")
WAYS = ("jarowinkler", "qgram", "cosine")


def main() -> None:
    """Carry out the benchmark that is named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("peers", "scale"))
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--sizes", default="10000,30000,100000,300000,1000000")
    given = parser.parse_args()
    if given.what == "peers":
        peers(given.data)
    else:
        scale(given.data[0], [int(size) for size in given.sizes.split(",")])


def peers(folders: Sequence[Path]) -> None:
    """Our figure and the peers' on each folder."""
    for folder in folders:
        figures = evaluate_matching(folder)
        if (folder / "pairs_test.csv").exists() and _installed("recordlinkage"):
            figures |= recordlinkage_on_pairs(folder)
        shown = {
            name: value
            for name, value in figures.items()
            if name in {"f1", "right"} or name.startswith("peer_")
        }
        print(
            f"{folder.name:20}",
            "  ".join(f"{name} {value}" for name, value in shown.items()),
            flush=True,
        )


def recordlinkage_on_pairs(folder: Path) -> Figures:
    """recordlinkage's F1 on the test pairs: a logistic regression over all likenesses of the columns as they are."""
    import pandas
    import recordlinkage

    sides = [read_table(folder / f"{side}.jsonl") for side in ("left", "right")]
    left, right = (
        pandas.DataFrame(side.rows, index=side.ids).fillna("").astype(str) for side in sides
    )
    rows = [
        (row, part != "test") for part in PARTS for row in read_csv(folder / f"pairs_{part}.csv")
    ]
    pairs = pandas.MultiIndex.from_tuples([(row["id_left"], row["id_right"]) for row, _ in rows])
    same, learnt = (
        np.array([row["label"] == "1" for row, _ in rows]),
        np.array([known for _, known in rows]),
    )
    compare = recordlinkage.Compare()
    for column in sorted(set(left) & set(right) - {"id"}):
        for way in WAYS:
            compare.string(column, column, method=way, missing_value=0, label=f"{column} {way}")
    table, judge = compare.compute(pairs, left, right), recordlinkage.LogisticRegressionClassifier()
    judge.fit(table[learnt], pairs[learnt & same])
    score = {"recordlinkage": np.asarray(judge.prob(table), dtype=np.float32)}
    return peers_on_pairs(
        score, np.flatnonzero(learnt), same[learnt], np.flatnonzero(~learnt), same[~learnt]
    )


def _installed(peer: str) -> bool:
    there = importlib.util.find_spec(peer) is not None
    if not there:
        print(
            f"{peer} is left out: it is not installed (pip install -r requirements/bench.txt)",
            flush=True,
        )
    return there


def scale(data: Path, sizes: Sequence[int]) -> None:
    """A line for each size: what it took, and how often the verdict was right."""
    print(
        f"{'catalog':>9} {'crawled':>8} {'seconds':>8} {'CPU s':>8} {'us/offer':>9} {'GB':>6} {'right':>6}"
    )
    for size in sizes:
        with ProcessPoolExecutor(1, get_context("spawn")) as alone:
            crawled, seconds, work, memory, right = alone.submit(measured, data, size).result()
        each = 1e6 * work / (size + crawled)
        print(
            f"{size:9} {crawled:8} {seconds:8.1f} {work:8.1f} {each:9.0f} {memory:6.2f} {right:6.3f}",
            flush=True,
        )


def measured(data: Path, size: int) -> tuple[int, float, float, float, float]:
    """Offers crawled, seconds and processor seconds of matching, GB held at most, the share of right answers."""
    catalog, crawled, truth = offers(titles(data), size)
    begin, work = time.monotonic(), time.process_time()
    found = match(crawled, catalog)
    seconds, work = time.monotonic() - begin, time.process_time() - work
    said = {
        i: one.known if one.verdict is Verdict.LISTED else None
        for one in found
        for i in one.members
    }
    right = sum(said[i] == true for i, true in enumerate(truth))
    return (
        len(crawled),
        seconds,
        work,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        right / len(truth),
    )


def titles(data: Path) -> list[str]:
    """Every title of the folders, each once."""
    files = sorted(
        path for name in ("catalog", "left", "right") for path in data.glob(f"*/{name}.jsonl")
    )
    found = (record.title for path in files for record in read_table(path).records)
    return [title for title in dict.fromkeys(found) if title.count(" ") >= 2]


def offers(
    texts: Sequence[str], size: int
) -> tuple[list[OfferFields], list[OfferFields], list[int | None]]:
    """The catalog, the crawled offers, and the catalog's row of each crawled one, if it has any."""
    chance = random.Random("scale")
    catalog = [*siblings(texts, chance, 0, size)]
    count = size // EVERY
    lacking = round(LACKING * count)
    crawled: list[tuple[OfferFields, int | None]] = [
        (one, None) for one in siblings(texts, chance, size, lacking)
    ]
    crawled += [
        (as_shown(catalog[n], chance), n) for n in chance.sample(range(size), count - lacking)
    ]
    chance.shuffle(crawled)
    return catalog, [one for one, _ in crawled], [true for _, true in crawled]


def siblings(
    texts: Sequence[str], chance: random.Random, start: int, count: int
) -> Iterator[OfferFields]:
    """So many offers from the `start`-th on."""
    for n in range(start, start + count):
        words = texts[n % len(texts)].split()
        if n >= len(texts):
            words = [redigited(word, chance) for word in words]
            words[chance.randrange(1, len(words))] = chance.choice(
                texts[(n + 1) % len(texts)].split()
            )
        price = Decimal(chance.randrange(500, 90_000)) / 100
        yield OfferFields(
            title=" ".join(words), brand=words[0], price=price, sku=f"{chance.randrange(10**9):09}"
        )


def redigited(word: str, chance: random.Random) -> str:
    """The word with other digits."""
    return "".join(str(chance.randrange(1, 10)) if letter.isdigit() else letter for letter in word)


def as_shown(offer: OfferFields, chance: random.Random) -> OfferFields:
    """The offer as a page shows it."""
    words = (offer.title or "").split()
    if chance.random() < 0.5:
        words.pop(chance.randrange(1, len(words)))
    elif chance.random() < 0.5:
        words.insert(0, words[0])
    price = (offer.price or Decimal(1)) * (
        Decimal(str(round(chance.uniform(0.8, 1.2), 2))) if chance.random() < 0.2 else 1
    )
    sku = offer.sku if chance.random() < 0.5 else None
    return OfferFields(
        title=" ".join(words), brand=offer.brand, price=price.quantize(Decimal("0.01")), sku=sku
    )


if __name__ == "__main__":
    main()
