"""Crawled offers of many merchants against a catalog's products, learnt from the catalog alone.

The catalog's own offers play the crawled ones in turn: a fifth of them at a time is matched against the rest, with some
products taken away as a whole, so that their offers are rightly missing. From these pairs the classifier learns, and
from how it fares on the turns it has not seen the threshold between listed and missing is chosen.
"""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from matcher.candidates import Pairs, candidates
from matcher.classifier import Classifier, Floats
from matcher.dataset import Table, read_csv, read_table
from matcher.features import features
from matcher.figures import TOP, Figures, branded, labelled_trees, precision_recall, write_csv
from matcher.record import Record
from matcher.space import space

TURNS = 5
TAKEN_AWAY = 0.2


@dataclass(frozen=True)
class _Turn:
    """Pairs of some offers with catalog offers, the product of each, and the truth of each offer ("" = missing)."""

    pairs: Pairs
    table: Floats
    products: Sequence[str]
    truth: Sequence[str]


def evaluate_catalog(folder: Path, predictions: Path | None = None) -> Figures:
    """The share of crawled offers handled rightly end to end, and precision, recall and F1 of "missing"."""
    begin = time.monotonic()
    catalog, crawled = read_table(folder / "catalog.jsonl"), read_table(folder / "crawled.jsonl")
    products = [str(row.get("product") or "") for row in catalog.rows]
    turns = [_turn(catalog.records, products, number) for number in range(TURNS)]
    threshold = _threshold(turns)
    judge = labelled_trees(*_examples(turns))
    real = _played(crawled.records, catalog.records, products, [""] * len(crawled.ids))
    said = _products(real, judge(real.table), threshold)
    if predictions:
        write_csv(predictions, ("id", "product"), zip(crawled.ids, said, strict=True))
    return _figures(folder, crawled, said) | {"threshold": threshold, "seconds": round(time.monotonic() - begin, 1)}


def _turn(items: Sequence[Record], products: Sequence[str], number: int) -> _Turn:
    chance = random.Random(f"turn {number}")  # noqa: S311
    away = {product for product in sorted(set(products)) if chance.random() < TAKEN_AWAY}
    asked = [n for n in range(len(items)) if n % TURNS == number]
    rest = [n for n in range(len(items)) if n % TURNS != number and products[n] not in away]
    left = {products[n] for n in rest}
    truth = [products[n] if products[n] in left else "" for n in asked]
    return _played([items[n] for n in asked], [items[n] for n in rest], [products[n] for n in rest], truth)


def _played(asked: Sequence[Record], rest: Sequence[Record], products: Sequence[str], truth: Sequence[str]) -> _Turn:
    shop, known = branded(asked, rest)
    both = space(shop, known)
    pairs = candidates(shop, known, both, TOP)
    return _Turn(pairs, features(shop, known, both, pairs), products, truth)


def _examples(turns: Sequence[_Turn]) -> tuple[Floats, NDArray[np.bool_]]:
    same = [[turn.products[j] == turn.truth[i] for i, j in turn.pairs.tolist()] for turn in turns]
    return np.concatenate([turn.table for turn in turns]), np.array([one for part in same for one in part], dtype=bool)


def _threshold(turns: Sequence[_Turn]) -> float:
    """The threshold at which most offers of the last turns are handled rightly by what the first have taught."""
    cut = len(turns) // 2 + 1
    judge: Classifier = labelled_trees(*_examples(turns[:cut]))
    scores = [judge(turn.table) for turn in turns[cut:]]
    steps = np.arange(0.05, 0.96, 0.025)
    right = [
        sum(
            said == true
            for turn, score in zip(turns[cut:], scores, strict=True)
            for said, true in zip(_products(turn, score, float(step)), turn.truth, strict=True)
        )
        for step in steps
    ]
    return round(float(steps[int(np.argmax(right))]), 3)


def _products(turn: _Turn, score: Floats, threshold: float) -> list[str]:
    """For every offer the product of its best pair, empty where that is below the threshold."""
    said, best = [""] * len(turn.truth), [threshold] * len(turn.truth)
    for (i, j), value in zip(turn.pairs.tolist(), score.tolist(), strict=True):
        if value > best[i]:
            said[i], best[i] = turn.products[j], value
    return said


def _figures(folder: Path, crawled: Table, said: Sequence[str]) -> Figures:
    truth = {row["id"]: row["product"] for row in read_csv(folder / "truth.csv")}
    true = [truth.get(name, "") for name in crawled.ids]
    right = sum(a == b for a, b in zip(said, true, strict=True))
    missing = precision_recall(np.array([not one for one in said]), np.array([not one for one in true]))
    figures: Figures = {f"missing_{name}": value for name, value in missing.items()}
    return {"offers": len(said), "right": round(right / max(1, len(said)), 4), **figures}
