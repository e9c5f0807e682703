"""Product claims: pairs of offers gathered by offer and catalog product.

A pair is compared with its rivals (`matcher.features.rival_margins`), and a product with several
offers is its own rival there. So pairs are gathered into claims and scored again. A claim is
described by the best and the mean of its pairs, by their number, and by margins over other products
and over the same merchant's other offers. A comparison site lists a merchant once per product,
which settles many siblings; the rule is used only if the catalog keeps to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matcher.array_types import Floats, Ints, Pairs
from matcher.features.rival_margins import compute_rival_margins
from matcher.features.table import COLUMN
from matcher.model.calibration import log_odds
from matcher.scoring.assignment import assign_one_to_one

# Share of the catalog's offers that may repeat a merchant of their product: errors of the site.
MAX_REPEATED_SHARE = 0.01
# Features whose greatest value speaks for a claim.
_HIGH_IS_BETTER = (
    "grams",
    "words",
    "token_set",
    "shared",
    "shared_of_shop",
    "shared_of_known",
    "rarest_shared",
    "codes_shared",
    "quantities_shared",
)
# Features whose least value speaks for a claim.
_LOW_IS_BETTER = (
    "rarest_only_shop",
    "rarest_only_known",
    "codes_only_shop",
    "codes_only_known",
    "quantities_differ",
    "siblings_differ",
)


@dataclass(frozen=True)
class ProductClaims:
    """One row per offer and product that share a candidate pair.

    `claim_of_pair` is the row of each pair. `rival_group` is equal for offers that exclude each
    other from a product, being of one merchant. `product_size` is the number of the product's
    offers.
    """

    offer: Ints
    product: Ints
    rival_group: Ints
    product_size: Ints
    claim_of_pair: Ints


def build_claims(pairs: Pairs, products: Ints, merchants: Ints) -> ProductClaims:
    """Gather pairs into claims, given each catalog offer's product and each offer's merchant."""
    product_count = int(products.max(initial=-1)) + 1
    keys, claim_of_pair = np.unique(
        pairs[:, 0] * product_count + products[pairs[:, 1]], return_inverse=True
    )
    offer, product = np.divmod(keys, max(1, product_count))
    merchant_count = int(merchants.max(initial=0)) + 1
    rival_group = product * merchant_count + merchants[offer]
    size = np.bincount(products, minlength=product_count)[product]
    return ProductClaims(offer, product, rival_group, size, claim_of_pair)


def lists_merchants_once(products: Sequence[str], merchants: Sequence[str]) -> bool:
    """Return True if the catalog lists a merchant once per product, apart from a few errors.

    >>> lists_merchants_once(["lamp", "lamp", "chair"], ["a", "b", "a"])
    True
    >>> lists_merchants_once(["lamp", "lamp", "chair"], ["a", "a", "a"])
    False
    """
    if not all(merchants):
        return False
    repeated = len(products) - len(set(zip(products, merchants, strict=True)))
    return repeated <= MAX_REPEATED_SHARE * len(products)


def compute_product_features(
    claims: ProductClaims, table: Floats, probability: Floats, word_odds: Floats
) -> Floats:
    """Compute one row per claim, from the features, probabilities and word odds of its pairs."""
    pair_count = np.bincount(claims.claim_of_pair)
    best = best_per_claim(claims, probability)
    mean = _mean_per_claim(claims, probability)
    columns: list[Floats] = [
        best,
        mean,
        pair_count.astype(np.float32),
        claims.product_size.astype(np.float32),
        (pair_count / claims.product_size).astype(np.float32),
        *_rival_columns(claims, best),
        *_rival_columns(claims, mean),
    ]
    best_odds = best_per_claim(claims, word_odds)
    columns += [best_odds, _mean_per_claim(claims, word_odds), *_rival_columns(claims, best_odds)]
    for names, sign in ((_HIGH_IS_BETTER, 1), (_LOW_IS_BETTER, -1)):
        for name in names:
            value = np.nan_to_num(sign * table[:, COLUMN[name]])
            columns += [best_per_claim(claims, value), _mean_per_claim(claims, value)]
    for name in ("grams", "shared"):
        value = np.nan_to_num(table[:, COLUMN[name]])
        columns += _rival_columns(claims, best_per_claim(claims, value))
    return np.column_stack(columns).astype(np.float32)


def assign_claims(claims: ProductClaims, probability: Floats, threshold: float) -> Ints:
    """Return the claims that hold: the most probable ones in all.

    Each offer has one product at most, and each product one offer of a merchant.
    """
    odds = log_odds(probability) - np.log(threshold / (1 - threshold))
    return assign_one_to_one(np.column_stack((claims.offer, claims.rival_group)), odds)


def best_per_claim(claims: ProductClaims, value: Floats) -> Floats:
    """Return the greatest value of each claim's pairs."""
    best = np.full(len(claims.offer), -np.inf, dtype=np.float32)
    np.maximum.at(best, claims.claim_of_pair, value.astype(np.float32))
    return best


def _mean_per_claim(claims: ProductClaims, value: Floats) -> Floats:
    total = np.bincount(claims.claim_of_pair, value)
    return (total / np.bincount(claims.claim_of_pair)).astype(np.float32)


def _rival_columns(claims: ProductClaims, value: Floats) -> list[Floats]:
    """Return margins over the offer's other products and over the product's other offers."""
    by_offer = compute_rival_margins(claims.offer, value)
    by_merchant = compute_rival_margins(claims.rival_group, value)
    by_product = compute_rival_margins(claims.product, value)
    return [
        by_offer.lead,
        by_offer.second_lead,
        by_offer.rank,
        by_merchant.lead,
        by_merchant.rank,
        by_product.lead,
    ]
