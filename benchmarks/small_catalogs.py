"""Verdicts on shops of which the catalog lists few offers: scorecard, trees and fixed formula.

usage: python -m benchmarks.small_catalogs DATA [--sizes 5,10,18,35,90] [--draws 12]

DATA holds a folder for each set, with `left.jsonl`, `right.jsonl` (absent where a table is matched
with itself) and `matches.csv` (columns `id_left` and `id_right`). A draw takes true pairs of one
folder, every second time neighbours by brand and title, which are often siblings. The catalog has
the right sides of `size` pairs. The shop has their left sides, and those of half as many or eight
times as many other pairs, which the catalog lacks. No pair has a link.

Prints the share of offers with a right and with a wrong verdict, by folder, size and further ones,
and the mean of each over all lines.
"""

import argparse
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from catalog.models import OfferFields, Verdict
from matcher.config import DEFAULT_CONFIG, MatcherConfig
from matcher.evaluation.dataset import read_csv, read_table, to_offer
from matcher.match import match_offers

# Offers of the shop that the catalog lacks, by offer that it lists.
MISSING_RATIOS = (0.5, 8.0)
# Settings that choose a classifier at each size.
ALWAYS, NEVER = 2, 10**9
CLASSIFIERS = {
    "scorecard": replace(DEFAULT_CONFIG, min_training_offers=ALWAYS, min_tree_offers=NEVER),
    "trees": replace(DEFAULT_CONFIG, min_training_offers=ALWAYS, min_tree_offers=ALWAYS),
    "formula": replace(DEFAULT_CONFIG, min_training_offers=NEVER),
}


@dataclass(frozen=True)
class TruePair:
    """An offer as the shop shows it and as the catalog lists it."""

    shop: OfferFields
    known: OfferFields


@dataclass
class Counts:
    """Offers by the verdict on them."""

    offers: int = 0
    right: int = 0
    wrong: int = 0


def main() -> None:
    """Print a line per folder, number of missing offers and size of the catalog."""
    argument_parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    argument_parser.add_argument("data", type=Path)
    argument_parser.add_argument("--sizes", default="5,10,18,35,90")
    argument_parser.add_argument("--draws", type=int, default=12)
    arguments = argument_parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    print(f"{'set':20} {'catalog':>7} {'missing':>7}  " + "  ".join(CLASSIFIERS))
    lines: list[list[tuple[float, float]]] = []
    for path in sorted(arguments.data.glob("*/matches.csv")):
        pairs = read_true_pairs(path.parent)
        for ratio in MISSING_RATIOS:
            for size in sizes:
                missing = round(size * ratio)
                if size + missing > len(pairs):
                    print(
                        f"{path.parent.name:20} {size:7} {missing:7}  has {len(pairs)} pairs only"
                    )
                    continue
                shares = []
                for config in CLASSIFIERS.values():
                    counts = count_verdicts(pairs, size, missing, config, arguments.draws)
                    right, wrong = counts.right / counts.offers, counts.wrong / counts.offers
                    shares.append((right, wrong))
                lines.append(shares)
                print(f"{path.parent.name:20} {size:7} {missing:7}  {_in_words(shares)}")
    if lines:
        means = np.mean(lines, axis=0)
        print(f"{'mean':20} {'':7} {'':7}  {_in_words(means)}")


def _in_words(shares: Iterable[Sequence[float]]) -> str:
    return "  ".join(f"right {right:.3f} wrong {wrong:.3f}" for right, wrong in shares)


def read_true_pairs(folder: Path) -> list[TruePair]:
    """Return the true pairs of a folder, sorted by brand and title."""
    left = right = read_table(folder / "left.jsonl")
    if (folder / "right.jsonl").exists():
        right = read_table(folder / "right.jsonl")
    left_rows = dict(zip(left.ids, left.rows, strict=True))
    right_rows = dict(zip(right.ids, right.rows, strict=True))
    pairs = []
    for match in read_csv(folder / "matches.csv"):
        shop, known = left_rows[match["id_left"]], right_rows[match["id_right"]]
        pairs.append(TruePair(to_offer(shop), to_offer(known)))
    return sorted(pairs, key=lambda pair: (pair.known.brand or "", pair.known.title or ""))


def count_verdicts(
    pairs: Sequence[TruePair],
    size: int,
    missing: int,
    config: MatcherConfig,
    draws: int,
) -> Counts:
    """Count the verdicts over all draws; the same arguments always draw the same offers."""
    counts = Counts()
    for draw in range(draws):
        generator = random.Random(f"{size} {missing} {draw}")
        if draw % 2:
            start = generator.randrange(len(pairs) - size - missing + 1)
            pool = list(pairs[start : start + size + missing])
            generator.shuffle(pool)
        else:
            pool = generator.sample(pairs, size + missing)
        catalog = [pair.known for pair in pool[:size]]
        for result in match_offers([pair.shop for pair in pool], catalog, config=config):
            listed = result.nearest if result.verdict is Verdict.LISTED else None
            for page in result.pages:
                counts.offers += 1
                if result.verdict is Verdict.UNSURE:
                    continue
                is_right = listed == (page if page < size else None)
                counts.right += is_right
                counts.wrong += not is_right
    return counts


if __name__ == "__main__":
    main()
