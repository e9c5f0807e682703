"""Crawled offers of many merchants against a catalog's products, learnt from the catalog alone.

The catalog's own offers play the crawled ones in turn. A shop has one offer of a product, so each turn matches one of
every product's offers against the rest, and some products are taken away as a whole, so that their offers are rightly
missing. The turns teach which words matter (`matcher.evaluation.word_model`), and two judges: one of pairs of offers, one of offers
and products (`matcher.evaluation.product_claims`). Each learns without a part of the products and judges the offers of that part
(`matcher.evaluation.cross_fitting`), because a product's offers show in one turn what is the answer in another. A catalog that groups too
few offers for that is judged as a shop's is: by rehearsals, or by the fixed formula (`matcher.training.classifier`).
"""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from matcher.blocking.candidates import candidates
from matcher.blocking.nearest_rows import Pairs
from matcher.blocking.vectors import Matrix, space
from matcher.evaluation.baselines import Played, peers_on_catalog
from matcher.evaluation.cross_fitting import Fit, growing, in_turn, weighing
from matcher.evaluation.dataset import Table, read_csv, read_table
from matcher.evaluation.metrics import Figures, branded, labelled_trees, precision_recall, write_csv
from matcher.evaluation.product_claims import (
    Claims,
    Ints,
    best_of,
    claimed,
    claims,
    once,
    product_features,
)
from matcher.evaluation.word_model import wording
from matcher.features.pair_features import features
from matcher.features.rival_margins import rivals
from matcher.records.record import Record
from matcher.training.classifier import Floats, taught
from matcher.training.feedback import Lessons

TURNS = 4
PARTS = 2
WORD_PARTS = 5
TAKEN_AWAY = 0.2
TOP = 16
BACK = 3
FEWEST_GROUPED = 40
EVEN = 0.5
quick_trees = partial(labelled_trees, max_iter=250, learning_rate=0.06)


@dataclass(frozen=True)
class _Offers:
    """Offers with their products and merchants as numbers; a merchant of its own for each where that says nothing."""

    records: Sequence[Record]
    products: Ints
    merchants: Ints

    def part(self, rows: Ints) -> "_Offers":
        return _Offers(
            [self.records[row] for row in rows.tolist()], self.products[rows], self.merchants[rows]
        )


@dataclass(frozen=True)
class _Turn:
    """Pairs of some offers with catalog offers, their features and words.

    `truth` is each offer's product, -1 where that is missing; `own` is it even then.
    """

    pairs: Pairs
    table: Floats
    words: Matrix
    products: Ints
    claims: Claims
    truth: Ints
    own: Ints

    @property
    def same_pairs(self) -> NDArray[np.bool_]:
        return np.asarray(
            self.products[self.pairs[:, 1]] == self.truth[self.pairs[:, 0]], dtype=bool
        )

    @property
    def same_products(self) -> NDArray[np.bool_]:
        return np.asarray(self.claims.product == self.truth[self.claims.offer], dtype=bool)


def evaluate_catalog(folder: Path, predictions: Path | None = None) -> Figures:
    """The share of crawled offers handled rightly end to end, and precision, recall and F1 of "missing"."""
    begin = time.monotonic()
    catalog, crawled = read_table(folder / "catalog.jsonl"), read_table(folder / "crawled.jsonl")
    names, known, asked = _sides(catalog, crawled)
    real = _played(asked, known, np.full(len(crawled.ids), -1))
    turns = [
        _turn(known, number)
        for number in range(TURNS if _grouped(known.products) >= FEWEST_GROUPED else 0)
    ]
    threshold, probability = (
        _judged(turns, real) if turns else (EVEN, _untaught(known.records, real))
    )
    held = claimed(real.claims, probability, threshold)
    said = np.full(len(crawled.ids), -1)
    said[real.claims.offer[held]] = real.claims.product[held]
    answers = ["" if number < 0 else names[number] for number in said.tolist()]
    if predictions:
        write_csv(predictions, ("id", "product"), zip(crawled.ids, answers, strict=True))
    truth = {row["id"]: row["product"] for row in read_csv(folder / "truth.csv")}
    true = [truth.get(name, "") for name in crawled.ids]
    figures = _figures(answers, true) | {
        "threshold": threshold,
        "seconds": round(time.monotonic() - begin, 1),
    }
    numbers = {name: number for number, name in enumerate(names)}
    asked_for = np.array(
        [numbers.get(name, -1 if not name else -2) for name in true], dtype=np.int64
    )
    return figures | peers_on_catalog(
        [*map(_as_played, turns)], _as_played(replace(real, truth=asked_for))
    )


def _as_played(turn: _Turn) -> Played:
    return Played(turn.pairs, turn.table, turn.products, turn.truth)


def _sides(catalog: Table, crawled: Table) -> tuple[list[str], _Offers, _Offers]:
    """The products' names, the catalog's offers and the crawled ones; an offer without a product is one by itself."""
    products = [
        str(row["id"] if row.get("product") in {None, ""} else row["product"])
        for row in catalog.rows
    ]
    names, numbers = np.unique(products, return_inverse=True)
    sellers = [[str(row.get("merchant") or "") for row in side.rows] for side in (catalog, crawled)]
    if once(products, sellers[0]) and all(sellers[1]):
        merchants = np.unique(sellers[0] + sellers[1], return_inverse=True)[1]
    else:
        merchants = np.arange(len(catalog.ids) + len(crawled.ids))
    cut = len(catalog.ids)
    known = _Offers(catalog.records, numbers.astype(np.int64), merchants[:cut])
    return (
        names.tolist(),
        known,
        _Offers(crawled.records, np.full(len(crawled.ids), -1), merchants[cut:]),
    )


def _turn(known: _Offers, number: int) -> _Turn:
    """One turn: an offer of every product against the rest, less the products that are taken away.

    A product with one offer plays in one turn only; it is missing there.
    """
    chance = random.Random(f"turn {number}")  # noqa: S311
    sizes = np.bincount(known.products)
    away = np.array([chance.random() < TAKEN_AWAY for _ in sizes])
    order, size = np.argsort(known.products, kind="stable"), sizes[known.products]
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    asked = np.where(size > 1, place == number % size, known.products % TURNS == number)
    rest = ~asked & ~away[known.products]
    truth = np.where(np.isin(known.products, known.products[rest]), known.products, -1)
    return _played(
        known.part(np.flatnonzero(asked)), known.part(np.flatnonzero(rest)), truth[asked]
    )


def _played(asked: _Offers, rest: _Offers, truth: Ints) -> _Turn:
    """The pairs worth a look; a product that lists an offer's merchant already is no candidate for it."""
    shop, known = branded(asked.records, rest.records)
    both = space(shop, known)
    pairs = candidates(shop, known, both, TOP, BACK)
    taken = {*zip(rest.products.tolist(), rest.merchants.tolist(), strict=True)}
    wanted = zip(
        rest.products[pairs[:, 1]].tolist(), asked.merchants[pairs[:, 0]].tolist(), strict=True
    )
    pairs = pairs[np.fromiter((one not in taken for one in wanted), bool, len(pairs))]
    held = claims(pairs, rest.products, asked.merchants)
    table, words = features(shop, known, both, pairs), wording(shop, known, pairs)
    return _Turn(pairs, table, words, rest.products, held, truth, asked.products)


def _grouped(products: Ints) -> int:
    """How many offers share their product with another one."""
    sizes = np.unique(products, return_counts=True)[1]
    return int(sizes[sizes > 1].sum())


def _untaught(known: Sequence[Record], real: _Turn) -> Floats:
    """The probability of every claim, as good as its best pair, judged by what the catalog's offers rehearse."""
    nothing = Lessons(real.table[:0], np.empty(0, bool))
    return best_of(real.claims, taught(known, {}, nothing)(real.table))


def _judged(turns: Sequence[_Turn], real: _Turn) -> tuple[float, Floats]:
    """The threshold at which most offers of the turns are handled rightly, and the probability of every real claim."""
    everyone, same = [*turns, real], np.concatenate([turn.same_pairs for turn in turns])
    owners = [turn.own[turn.pairs[:, 0]] for turn in everyone]
    words = sparse.vstack([turn.words for turn in everyone], format="csr")
    odds = _in_turn(
        weighing(words, np.concatenate([turn.table for turn in everyone])), owners, same, WORD_PARTS
    )
    tables = [
        np.column_stack((turn.table, told, rivals(turn.pairs[:, 0], told)[0]))
        for turn, told in zip(everyone, odds, strict=True)
    ]
    scores = _in_turn(growing(quick_trees, np.concatenate(tables)), owners, same, PARTS)
    tables = [
        product_features(turn.claims, turn.table, score, told)
        for turn, score, told in zip(everyone, scores, odds, strict=True)
    ]
    owners = [turn.own[turn.claims.offer] for turn in everyone]
    same = np.concatenate([turn.same_products for turn in turns])
    *shown, last = _in_turn(growing(quick_trees, np.concatenate(tables)), owners, same, PARTS)
    steps = np.arange(0.2, 0.81, 0.025)
    right = [sum(map(_right, turns, shown, [float(step)] * len(turns))) for step in steps]
    return round(float(steps[int(np.argmax(right))]), 3), last


def _in_turn(fit: Fit, owners: Sequence[Ints], same: NDArray[np.bool_], count: int) -> list[Floats]:
    """The scores of each turn's rows, the real ones last; `owners` are the products of the asked offers."""
    parts = np.concatenate(owners) % count
    scores = in_turn(fit, np.arange(len(same)), same, parts, count)
    return np.split(scores, np.cumsum([len(rows) for rows in owners])[:-1])


def _right(turn: _Turn, probability: Floats, threshold: float) -> int:
    held = claimed(turn.claims, probability, threshold)
    said = np.full(len(turn.truth), -1)
    said[turn.claims.offer[held]] = turn.claims.product[held]
    return int((said == turn.truth).sum())


def _figures(said: Sequence[str], true: Sequence[str]) -> Figures:
    right = sum(a == b for a, b in zip(said, true, strict=True))
    missing = precision_recall(
        *(np.array([not one for one in side], dtype=bool) for side in (said, true))
    )
    figures: Figures = {f"missing_{name}": value for name, value in missing.items()}
    return {"offers": len(said), "right": round(right / max(1, len(said)), 4), **figures}
