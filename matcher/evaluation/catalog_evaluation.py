"""Evaluation of crawled offers of many merchants against a catalog's products.

Training data is the catalog alone: its own offers stand for crawled ones. A shop has one offer of a
product, so each round matches one offer of every product against the others. Each round also
removes some products completely, so that their offers are missing. The rounds train a word model
(`matcher.evaluation.word_model`) and two classifiers: one of pairs of offers, one of offers and
products (`matcher.evaluation.product_claims`). All are cross-fitted by product, because offers of
one product are asked in one round and the answer in another. A catalog that groups too few offers
is matched like that of a shop: by synthetic pairs, or by the fixed formula
(`matcher.training.classifier`).
"""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import not_
from pathlib import Path

import numpy as np
from scipy import sparse

from matcher.array_types import Bools, Floats, Ints, Matrix, Pairs
from matcher.blocking.candidates import find_candidates
from matcher.blocking.vectors import build_vector_space
from matcher.evaluation.baselines import CatalogTask, evaluate_baselines_on_catalog
from matcher.evaluation.cross_fitting import Fit, cross_fit, tree_fit, word_model_fit
from matcher.evaluation.dataset import OfferTable, read_csv, read_table
from matcher.evaluation.metrics import (
    Metrics,
    fit_trees_to_labels,
    precision_recall,
    strip_brands_of_both,
    write_csv,
)
from matcher.evaluation.product_claims import (
    ProductClaims,
    assign_claims,
    best_per_claim,
    build_claims,
    compute_product_features,
    lists_merchants_once,
)
from matcher.evaluation.word_model import vectorise_word_differences
from matcher.features.pair_features import compute_features
from matcher.features.rival_margins import compute_rival_margins
from matcher.records.record import Record
from matcher.training.classifier import train_classifier
from matcher.training.feedback import no_feedback

# Rounds of the catalog against itself.
ROUNDS = 4
# Folds of the two classifiers, and of the word model.
FOLDS = 2
WORD_FOLDS = 5
# Share of the products that a round removes completely.
REMOVED_SHARE = 0.2
# Nearest neighbours per asked offer and per catalog offer.
NEIGHBOURS = 16
CATALOG_NEIGHBOURS = 3
# Catalog offers that have to share their product with another one for training by rounds.
MIN_GROUPED_OFFERS = 40
# Threshold without rounds to choose it on.
EVEN_ODDS = 0.5
# Thresholds that are tried on the rounds.
THRESHOLDS = np.arange(0.2, 0.81, 0.025)
MISSING = -1
# The true product of an asked offer that the catalog does not have.
NOT_IN_CATALOG = -2
fit_small_trees = partial(fit_trees_to_labels, max_iter=250, learning_rate=0.06)


@dataclass(frozen=True)
class _Offers:
    """Offers with numbered products and merchants; unknown merchants are all different."""

    records: Sequence[Record]
    products: Ints
    merchants: Ints

    def select(self, rows: Ints) -> "_Offers":
        """Return the offers of these rows."""
        records = [self.records[row] for row in rows.tolist()]
        return _Offers(records, self.products[rows], self.merchants[rows])


@dataclass(frozen=True)
class _Sides:
    """The names of the catalog's products, its offers, and the crawled ones."""

    product_names: list[str]
    catalog: _Offers
    crawled: _Offers


@dataclass(frozen=True)
class _Round:
    """Pairs of asked offers with catalog offers, their features and words.

    `products` is the product of each catalog offer. `truth` is each asked offer's product, -1 if it
    is missing; `asked_products` is the product even then.
    """

    pairs: Pairs
    table: Floats
    word_columns: Matrix
    products: Ints
    claims: ProductClaims
    truth: Ints
    asked_products: Ints

    @property
    def pair_labels(self) -> Bools:
        """Whether each pair is of one product."""
        true_product = self.truth[self.pairs[:, 0]]
        return np.asarray(self.products[self.pairs[:, 1]] == true_product, dtype=bool)

    @property
    def claim_labels(self) -> Bools:
        """Whether each claim is true."""
        return np.asarray(self.claims.product == self.truth[self.claims.offer], dtype=bool)


@dataclass(frozen=True)
class _ScoredClaims:
    """The probability of each claim on real offers, and the threshold from which on it holds."""

    probability: Floats
    threshold: float


def evaluate_catalog(folder: Path, predictions: Path | None = None) -> Metrics:
    """Return the share of correctly handled offers, and precision, recall and F1 of "missing"."""
    begin = time.monotonic()
    catalog, crawled = read_table(folder / "catalog.jsonl"), read_table(folder / "crawled.jsonl")
    sides = _number_products(catalog, crawled)
    names = sides.product_names
    real = _match(sides.crawled, sides.catalog, np.full(len(crawled.ids), MISSING))
    rounds: list[_Round] = []
    if _count_grouped(sides.catalog.products) >= MIN_GROUPED_OFFERS:
        rounds = [_make_round(sides.catalog, number) for number in range(ROUNDS)]
    scored = _score_claims(rounds, real, sides.catalog.records)
    answer = _answer(real, scored.probability, scored.threshold)
    answers = ["" if number == MISSING else names[number] for number in answer.tolist()]
    if predictions:
        write_csv(predictions, ("id", "product"), zip(crawled.ids, answers, strict=True))
    truth = {row["id"]: row["product"] for row in read_csv(folder / "truth.csv")}
    true_names = [truth.get(name, "") for name in crawled.ids]
    metrics = _compute_metrics(answers, true_names)
    metrics["threshold"] = scored.threshold
    metrics["seconds"] = round(time.monotonic() - begin, 1)
    true_numbers = _number_truth(names, true_names)
    training = list(map(_baseline_task, rounds))
    test = _baseline_task(replace(real, truth=true_numbers))
    return metrics | evaluate_baselines_on_catalog(training, test)


def _number_truth(names: Sequence[str], true_names: Sequence[str]) -> Ints:
    number_of = dict(zip(names, range(len(names)), strict=True))
    # An empty name says that the offer is missing.
    number_of.setdefault("", MISSING)
    return np.array([number_of.get(name, NOT_IN_CATALOG) for name in true_names], dtype=np.int64)


def _baseline_task(round_: _Round) -> CatalogTask:
    return CatalogTask(round_.pairs, round_.table, round_.products, round_.truth)


def _number_products(catalog: OfferTable, crawled: OfferTable) -> _Sides:
    """Number products and merchants; an offer without a product is one by itself, under its id."""
    products = []
    for row in catalog.rows:
        product = row.get("product")
        products.append(str(row["id"] if product in {None, ""} else product))
    names, numbers = np.unique(products, return_inverse=True)
    catalog_sellers = _merchant_names(catalog)
    crawled_sellers = _merchant_names(crawled)
    if lists_merchants_once(products, catalog_sellers) and all(crawled_sellers):
        merchants = np.unique(catalog_sellers + crawled_sellers, return_inverse=True)[1]
    else:
        merchants = np.arange(len(catalog.ids) + len(crawled.ids))
    size = len(catalog.ids)
    unknown = np.full(len(crawled.ids), MISSING)
    return _Sides(
        names.tolist(),
        _Offers(catalog.records, numbers.astype(np.int64), merchants[:size]),
        _Offers(crawled.records, unknown, merchants[size:]),
    )


def _merchant_names(table: OfferTable) -> list[str]:
    return [str(row.get("merchant") or "") for row in table.rows]


def _make_round(catalog: _Offers, number: int) -> _Round:
    """Match one offer of every product against the others, without the removed products.

    A product with one offer is asked in one round only; it is missing there.
    """
    # The seed's wording is part of the results: another one removes other products.
    generator = random.Random(f"turn {number}")  # noqa: S311
    sizes = np.bincount(catalog.products)
    is_removed = np.array([generator.random() < REMOVED_SHARE for _ in sizes])
    order = np.argsort(catalog.products, kind="stable")
    size = sizes[catalog.products]
    # Each offer's place among the offers of its product.
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_single_asked = catalog.products % ROUNDS == number
    is_asked = np.where(size > 1, place == number % size, is_single_asked)
    is_listed = ~is_asked & ~is_removed[catalog.products]
    has_listed_product = np.isin(catalog.products, catalog.products[is_listed])
    truth = np.where(has_listed_product, catalog.products, MISSING)
    shop_offers = catalog.select(np.flatnonzero(is_asked))
    listed_offers = catalog.select(np.flatnonzero(is_listed))
    return _match(shop_offers, listed_offers, truth[is_asked])


def _match(shop_offers: _Offers, listed_offers: _Offers, truth: Ints) -> _Round:
    """Compute the candidate pairs; a product that lists an offer's merchant is no candidate."""
    shop, catalog = strip_brands_of_both(shop_offers.records, listed_offers.records)
    space = build_vector_space(shop, catalog)
    pairs = find_candidates(shop, catalog, space, NEIGHBOURS, CATALOG_NEIGHBOURS)
    taken = {*zip(listed_offers.products.tolist(), listed_offers.merchants.tolist(), strict=True)}
    product_of_pair = listed_offers.products[pairs[:, 1]].tolist()
    merchant_of_pair = shop_offers.merchants[pairs[:, 0]].tolist()
    is_free = [key not in taken for key in zip(product_of_pair, merchant_of_pair, strict=True)]
    pairs = pairs[np.array(is_free, dtype=bool)]
    return _Round(
        pairs=pairs,
        table=compute_features(shop, catalog, space, pairs),
        word_columns=vectorise_word_differences(shop, catalog, pairs),
        products=listed_offers.products,
        claims=build_claims(pairs, listed_offers.products, shop_offers.merchants),
        truth=truth,
        asked_products=shop_offers.products,
    )


def _count_grouped(products: Ints) -> int:
    """Count the offers that share their product with another one."""
    sizes = np.unique(products, return_counts=True)[1]
    return int(sizes[sizes > 1].sum())


def _score_claims(
    rounds: Sequence[_Round], real: _Round, catalog: Sequence[Record]
) -> _ScoredClaims:
    """Score the real claims by models trained on the rounds; without rounds, by synthetic pairs."""
    if rounds:
        return _score_by_rounds(rounds, real)
    classifier = train_classifier(catalog, {}, no_feedback(real.table))
    # A claim is as good as its best pair.
    return _ScoredClaims(best_per_claim(real.claims, classifier(real.table)), EVEN_ODDS)


def _score_by_rounds(rounds: Sequence[_Round], real: _Round) -> _ScoredClaims:
    """Score the real claims, with the threshold at which most offers of the rounds are correct."""
    all_rounds = [*rounds, real]
    pair_products = []
    for round_ in all_rounds:
        pair_products.append(round_.asked_products[round_.pairs[:, 0]])
    pair_labels = np.concatenate([round_.pair_labels for round_ in rounds])
    word_columns = sparse.vstack([round_.word_columns for round_ in all_rounds], format="csr")
    table = np.concatenate([round_.table for round_ in all_rounds])
    fit_words = word_model_fit(word_columns, table)
    odds = _cross_fit_rounds(fit_words, pair_products, pair_labels, WORD_FOLDS)
    tables = []
    for round_, word_odds in zip(all_rounds, odds, strict=True):
        lead = compute_rival_margins(round_.pairs[:, 0], word_odds).lead
        tables.append(np.column_stack((round_.table, word_odds, lead)))
    fit_pairs = tree_fit(fit_small_trees, np.concatenate(tables))
    scores = _cross_fit_rounds(fit_pairs, pair_products, pair_labels, FOLDS)
    claim_tables = []
    claim_products = []
    for round_, score, word_odds in zip(all_rounds, scores, odds, strict=True):
        claim_tables.append(compute_product_features(round_.claims, round_.table, score, word_odds))
        claim_products.append(round_.asked_products[round_.claims.offer])
    claim_labels = np.concatenate([round_.claim_labels for round_ in rounds])
    fit_claims = tree_fit(fit_small_trees, np.concatenate(claim_tables))
    *trained, real_probability = _cross_fit_rounds(fit_claims, claim_products, claim_labels, FOLDS)
    correct = []
    for threshold in THRESHOLDS.tolist():
        total = 0
        for round_, probability in zip(rounds, trained, strict=True):
            total += _count_correct(round_, probability, threshold)
        correct.append(total)
    best = round(float(THRESHOLDS[int(np.argmax(correct))]), 3)
    return _ScoredClaims(real_probability, best)


def _cross_fit_rounds(
    fit: Fit, products: Sequence[Ints], labels: Bools, folds: int
) -> list[Floats]:
    """Return the scores of each round's rows, the real ones last.

    `products` gives the asked offer's product of every row: the folds go by it.
    """
    fold = np.concatenate(products) % folds
    scores = cross_fit(fit, np.arange(len(labels)), labels, fold, folds)
    return np.split(scores, np.cumsum([len(rows) for rows in products])[:-1])


def _answer(round_: _Round, probability: Floats, threshold: float) -> Ints:
    """Return the product of each asked offer, -1 if it is missing."""
    accepted = assign_claims(round_.claims, probability, threshold)
    answer = np.full(len(round_.truth), MISSING)
    answer[round_.claims.offer[accepted]] = round_.claims.product[accepted]
    return answer


def _count_correct(round_: _Round, probability: Floats, threshold: float) -> int:
    return int((_answer(round_, probability, threshold) == round_.truth).sum())


def _compute_metrics(answers: Sequence[str], true_names: Sequence[str]) -> Metrics:
    correct = sum(a == b for a, b in zip(answers, true_names, strict=True))
    missing = precision_recall(
        np.fromiter(map(not_, answers), bool, len(answers)),
        np.fromiter(map(not_, true_names), bool, len(true_names)),
    )
    metrics: Metrics = {"offers": len(answers), "right": round(correct / max(1, len(answers)), 4)}
    for name, value in missing.items():
        metrics[f"missing_{name}"] = value
    return metrics
