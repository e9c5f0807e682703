"""Offers of many merchants against a catalog's products: what the offers of one product say together.

A pair of offers is seen against other pairs (`matcher.features.rival_margins`); a product with several offers is its own rival there.
So the judged pairs are gathered by offer and product, and judged again: the best and the mean of what the product's
offers show, how many of them were found, and the lead over other products and over the same merchant's other offers.
A comparison site lists a merchant once per product, which settles many siblings; it is believed where the catalog does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from matcher.blocking.nearest_rows import Pairs
from matcher.features.pair_features import TRENDS
from matcher.features.rival_margins import rivals
from matcher.model.calibration import log_odds
from matcher.scoring.assignment import assign
from matcher.training.classifier import Floats

Ints = NDArray[np.int64]
MOST_DOUBLES = 0.01
_BEST = "grams words token_set shared shared_of_shop shared_of_known rarest_shared codes_shared quantities_shared"
_LEAST = "rarest_only_shop rarest_only_known codes_only_shop codes_only_known quantities_differ siblings_differ"
_COLUMNS = {name: place for place, name in enumerate(TRENDS)}


@dataclass(frozen=True)
class Claims:
    """Every offer with every product that one of its pairs leads to.

    `of_pair` is the claim of each pair; `rival` is equal for offers that exclude each other from the product, being one
    merchant's; `size` is the number of the product's offers.
    """

    offer: Ints
    product: Ints
    rival: Ints
    size: Ints
    of_pair: Ints


def claims(pairs: Pairs, products: Ints, merchants: Ints) -> Claims:
    """The claims of pairs (offer, catalog offer), given each catalog offer's product and each offer's merchant."""
    count = int(products.max(initial=-1)) + 1
    both, of_pair = np.unique(pairs[:, 0] * count + products[pairs[:, 1]], return_inverse=True)
    offer, product = np.divmod(both, max(1, count))
    sellers = int(merchants.max(initial=0)) + 1
    size = np.bincount(products, minlength=count)[product]
    return Claims(offer, product, product * sellers + merchants[offer], size, of_pair)


def once(products: Sequence[str], merchants: Sequence[str]) -> bool:
    """Whether this catalog lists a merchant once per product, all but a few errors.

    >>> once(["lamp", "lamp", "chair"], ["a", "b", "a"]), once(["lamp", "lamp", "chair"], ["a", "a", "a"])
    (True, False)
    """
    if not all(merchants):
        return False
    doubles = len(products) - len(set(zip(products, merchants, strict=True)))
    return doubles <= MOST_DOUBLES * len(products)


def product_features(held: Claims, table: Floats, score: Floats, words: Floats) -> Floats:
    """One row of features per claim, from its pairs' features, their probabilities, and what their words say."""
    found = np.bincount(held.of_pair)
    best, mean = best_of(held, score), _mean(held, score)
    counts = [
        found.astype(np.float32),
        held.size.astype(np.float32),
        (found / held.size).astype(np.float32),
    ]
    columns: list[Floats] = [best, mean, *counts, *_context(held, best), *_context(held, mean)]
    told = best_of(held, words)
    columns += [told, _mean(held, words), *_context(held, told)]
    for names, sign in ((_BEST.split(), 1), (_LEAST.split(), -1)):
        for name in names:
            column = np.nan_to_num(sign * table[:, _COLUMNS[name]])
            columns += [best_of(held, column), _mean(held, column)]
    for name in ("grams", "shared"):
        columns += _context(held, best_of(held, np.nan_to_num(table[:, _COLUMNS[name]])))
    return np.column_stack(columns).astype(np.float32)


def claimed(held: Claims, probability: Floats, threshold: float) -> Ints:
    """The claims that hold: one product per offer, one offer per product and merchant, the likeliest altogether."""
    odds = log_odds(probability) - np.log(threshold / (1 - threshold))
    return assign(np.column_stack((held.offer, held.rival)), odds)


def _context(held: Claims, value: Floats) -> list[Floats]:
    """The lead over the offer's other products, over the merchant's other offers, and over all other offers."""
    lead, lead2, rank = rivals(held.offer, value)
    own_lead, _, own_rank = rivals(held.rival, value)
    return [lead, lead2, rank, own_lead, own_rank, rivals(held.product, value)[0]]


def best_of(held: Claims, value: Floats) -> Floats:
    """The greatest value of each claim's pairs."""
    found = np.full(len(held.offer), -np.inf, dtype=np.float32)
    np.maximum.at(found, held.of_pair, value.astype(np.float32))
    return found


def _mean(held: Claims, value: Floats) -> Floats:
    return (np.bincount(held.of_pair, value) / np.bincount(held.of_pair)).astype(np.float32)
