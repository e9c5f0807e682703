"""Comparison features of candidate pairs; `matcher.features.table` describes each one.

On public data, two groups of features raised F1 most. One is the rarity of shared and unshared
tokens, with model numbers in all spellings. The other is rival margins, which compare a pair with
the other candidates of both offers. Unknown values are NaN, which the trees can handle. Links are
left out on purpose, so that a classifier trained on offers with known links also serves offers
without.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from rapidfuzz import fuzz, process
from rapidfuzz.distance import JaroWinkler

from catalog.runtime.spark.session import SparkJobs
from matcher.array_types import Floats, Ints, Keys, Matrix, Pairs
from matcher.blocking.vectors import VectorSpace, row_maxima, row_sums
from matcher.features.cache import MatchCache, combine_digests, digest_records
from matcher.features.part_numbers import part_number_features
from matcher.features.rival_margins import compute_rival_margins
from matcher.features.table import CACHED_NAMES, COLUMN, FEATURE_NAMES
from matcher.features.variant_words import VariantWords, learn_variant_words
from matcher.records.product_kinds import describe_kind_differences
from matcher.records.record import Record

Columns = dict[str, Floats]
# Pairs that are compared at once; bounds memory.
CHUNK = 10_000
# Greatest price gap, in natural logarithms: a factor of 20. Cap, as some prices are errors.
MAX_PRICE_GAP = 3.0
# Characters of a part number or SKU that is searched in the other offer's text.
MIN_NAMED_NUMBER = 3
# Keeps divisions by an empty title's weight finite.
_EPSILON = 1e-6


def compute_features(
    shop: Sequence[Record],
    catalog: Sequence[Record],
    space: VectorSpace,
    pairs: Pairs,
    cache: MatchCache | None = None,
    variant_words: VariantWords | None = None,
    jobs: SparkJobs | None = None,
) -> Floats:
    """Compute one row per pair, columns as in `matcher.features.table`.

    `pairs` must be all candidates, because each pair is compared with its rivals. Cached features
    are taken from `cache` where it has them, and stored in it. `variant_words` are those of the
    catalog, where they are known. With `jobs` the pairs are compared on Spark, without cache.
    """
    if variant_words is None:
        variant_words = learn_variant_words(catalog)
    if jobs:
        # Imported late: it builds on this module.
        from matcher.features.distributed_pairs import compare_distributed

        chunks = compare_distributed(jobs, (shop, catalog), space, pairs, variant_words)
    else:
        chunks = _compare_chunks((shop, catalog), space, pairs, variant_words, cache)
    # Filled chunk by chunk: the columns of all chunks beside it would double the memory.
    table = np.empty((len(pairs), len(FEATURE_NAMES)), dtype=np.float32)
    start = 0
    for columns in chunks:
        end = start + len(columns["grams"])
        _fill_columns(table[start:end], columns)
        start = end
    _fill_columns(table, _rival_columns(pairs, table))
    return table


def _fill_columns(table: Floats, columns: Columns) -> None:
    for name, values in columns.items():
        table[:, COLUMN[name]] = values


def _compare_chunks(
    sides: tuple[Sequence[Record], Sequence[Record]],
    space: VectorSpace,
    pairs: Pairs,
    variant_words: VariantWords,
    cache: MatchCache | None,
) -> Iterator[Columns]:
    """Yield the features of each chunk of pairs, without rivals."""
    shop, catalog = sides
    keys: Keys = np.empty(0, np.uint64)
    if cache:
        keys = combine_digests(digest_records(shop), digest_records(catalog), pairs)
    for start in range(0, len(pairs), CHUNK):
        chunk = pairs[start : start + CHUNK]
        left = [shop[row] for row in chunk[:, 0]]
        right = [catalog[row] for row in chunk[:, 1]]
        if cache:
            columns = _look_up_columns(left, right, keys[start : start + CHUNK], cache)
        else:
            columns = cacheable_columns(left, right)
        yield columns | corpus_columns(space, variant_words, chunk, left, right)


def cacheable_columns(left: Sequence[Record], right: Sequence[Record]) -> Columns:
    """Compute the features that depend on the two records only."""
    columns = _title_columns(left, right) | part_number_features(left, right)
    for name, compare in _RECORD_COMPARISONS.items():
        columns[name] = np.fromiter(map(compare, left, right), np.float32, len(left))
    return columns


def _look_up_columns(
    left: Sequence[Record], right: Sequence[Record], keys: Keys, cache: MatchCache
) -> Columns:
    """Return the cacheable features of the pairs with these keys; compute what is not cached."""

    def compute(positions: Ints) -> Floats:
        columns = cacheable_columns(
            [left[position] for position in positions.tolist()],
            [right[position] for position in positions.tolist()],
        )
        return np.column_stack([columns[name] for name in CACHED_NAMES]).astype(np.float32)

    rows = cache.look_up(keys, compute)
    return {name: rows[:, column] for column, name in enumerate(CACHED_NAMES)}


def corpus_columns(
    space: VectorSpace,
    variant_words: VariantWords,
    pairs: Pairs,
    left: Sequence[Record],
    right: Sequence[Record],
) -> Columns:
    """Compute the features that depend on the rarity of tokens and on the variant words."""
    columns = _token_columns(space, pairs)
    unshared = map(variant_words.count_unshared, left, right)
    columns["siblings_differ"] = np.fromiter(unshared, np.float32, len(pairs))
    columns["description"] = _description_column(space, pairs, left, right)
    return columns


def _title_columns(left: Sequence[Record], right: Sequence[Record]) -> Columns:
    left_titles = [record.title for record in left]
    right_titles = [record.title for record in right]
    scorers: dict[str, Any] = {
        "ratio": fuzz.ratio,
        "token_set": fuzz.token_set_ratio,
        "token_sort": fuzz.token_sort_ratio,
        "winkler": JaroWinkler.normalized_similarity,
    }
    columns: Columns = {}
    for name, scorer in scorers.items():
        columns[name] = process.cpdist(left_titles, right_titles, scorer=scorer, dtype=np.float32)
    equal = map(_are_same_title, left_titles, right_titles)
    columns["same_title"] = np.fromiter(equal, np.float32, len(left_titles))
    return columns


def _are_same_title(left: str, right: str) -> bool:
    return left == right != ""


def _token_columns(space: VectorSpace, pairs: Pairs) -> Columns:
    i, j = pairs[:, 0], pairs[:, 1]
    shop, catalog = space.shop, space.catalog
    only_shop = _unshared(shop.weights[i], catalog.spellings[j])
    only_catalog = _unshared(catalog.weights[j], shop.spellings[i])
    common_shop = shop.weights[i] - only_shop
    common_catalog = catalog.weights[j] - only_catalog
    shared_of_shop, shared_of_catalog = row_sums(common_shop), row_sums(common_catalog)
    unshared_of_shop, unshared_of_catalog = row_sums(only_shop), row_sums(only_catalog)
    total = shared_of_shop + shared_of_catalog + unshared_of_shop + unshared_of_catalog
    return {
        "grams": row_sums(shop.grams[i].multiply(catalog.grams[j])),
        "words": row_sums(shop.title_words[i].multiply(catalog.title_words[j])),
        "shared": (shared_of_shop + shared_of_catalog) / np.maximum(total, _EPSILON),
        "shared_of_shop": shared_of_shop / np.maximum(shared_of_shop + unshared_of_shop, _EPSILON),
        "shared_of_known": shared_of_catalog
        / np.maximum(shared_of_catalog + unshared_of_catalog, _EPSILON),
        "told_by_known": _covered_share(shop.weights[i], catalog.texts[j]),
        "told_by_shop": _covered_share(catalog.weights[j], shop.texts[i]),
        "rarest_shared": np.maximum(row_maxima(common_shop), row_maxima(common_catalog))
        / space.max_weight,
        "rarest_only_shop": row_maxima(only_shop) / space.max_weight,
        "rarest_only_known": row_maxima(only_catalog) / space.max_weight,
    }


def _unshared(weights: Matrix, spellings: Matrix) -> Matrix:
    """Return the weights of the tokens that the other offer does not have in any spelling."""
    return weights - weights.multiply(spellings > 0)


def _covered_share(weights: Matrix, texts: Matrix) -> Floats:
    """Return the share of a title's weight that the other offer's text has."""
    total = np.maximum(row_sums(weights), np.float32(_EPSILON))
    return (1 - row_sums(_unshared(weights, texts)) / total).astype(np.float32)


def _description_column(
    space: VectorSpace, pairs: Pairs, left: Sequence[Record], right: Sequence[Record]
) -> Floats:
    products = space.shop.description[pairs[:, 0]].multiply(space.catalog.description[pairs[:, 1]])
    are_known = np.fromiter(map(_have_descriptions, left, right), bool, len(left))
    return np.where(are_known, row_sums(products), np.nan).astype(np.float32)


def _have_descriptions(left: Record, right: Record) -> bool:
    return bool(left.description and right.description)


def _rival_columns(pairs: Pairs, table: Floats) -> Columns:
    """Compute the margins of each pair over its rivals, from both sides."""
    cosines, shared = table[:, COLUMN["grams"]], table[:, COLUMN["shared"]]
    description = table[:, COLUMN["description"]]
    has_description = ~np.isnan(description)
    columns: Columns = {}
    for side, owner in (("shop", pairs[:, 0]), ("known", pairs[:, 1])):
        grams = compute_rival_margins(owner, cosines)
        columns[f"grams_lead_{side}"] = grams.lead
        columns[f"grams_lead2_{side}"] = grams.second_lead
        columns[f"grams_rank_{side}"] = grams.rank
        columns[f"shared_lead_{side}"] = compute_rival_margins(owner, shared).lead
        lead = compute_rival_margins(owner, np.nan_to_num(description)).lead
        columns[f"description_lead_{side}"] = np.where(has_description, lead, np.nan)
    return columns


# The comparisons below run once per pair: NaN where one of the two values is unknown.
def _are_equal(a: str, b: str) -> float:
    if not a or not b:
        return np.nan
    return float(a == b)


def _share_image(a: Record, b: Record) -> float:
    if not a.images or not b.images:
        return np.nan
    return float(not set(a.images).isdisjoint(b.images))


def _price_gap(a: Record, b: Record) -> float:
    if not a.price or not b.price:
        return np.nan
    return min(abs(float(np.log(a.price / b.price))), MAX_PRICE_GAP)


def _brand_similarity(a: Record, b: Record) -> float:
    if not a.brand or not b.brand:
        return np.nan
    return fuzz.token_set_ratio(a.brand, b.brand) / 100


def _number_is_named(a: Record, b: Record) -> float:
    """Return 1 if one offer's part number or SKU stands in the other's text, else 0."""
    is_known = False
    for owner, reader in ((a, b), (b, a)):
        for number in (owner.han, owner.sku):
            if len(number) >= MIN_NAMED_NUMBER:
                if number in reader.text_spellings:
                    return 1.0
                is_known = True
    return 0.0 if is_known else np.nan


def _part_number_similarity(a: Record, b: Record) -> float:
    if not a.han or not b.han:
        return np.nan
    return fuzz.ratio(a.han, b.han) / 100


def _count_shared_model_numbers(a: Record, b: Record) -> float:
    joined_in_a = a.spellings - a.model_numbers
    return len(a.model_numbers & b.spellings) + len(b.model_numbers & joined_in_a)


def _count_shared_quantities(a: Record, b: Record) -> float:
    return sum(
        bool(amounts & b.quantities.get(unit, frozenset()))
        for unit, amounts in a.quantities.items()
    )


def _count_different_quantities(a: Record, b: Record) -> float:
    return sum(
        unit in b.quantities and not amounts & b.quantities[unit]
        for unit, amounts in a.quantities.items()
    )


def _count_kind_differences(a: Record, b: Record) -> float:
    return len(describe_kind_differences(a.words, a.product_kind, b.words, b.product_kind))


_RECORD_COMPARISONS: dict[str, Callable[[Record, Record], float]] = {
    "codes_shared": _count_shared_model_numbers,
    "codes_only_shop": lambda a, b: len(a.model_numbers - b.spellings),
    "codes_only_known": lambda a, b: len(b.model_numbers - a.spellings),
    "quantities_shared": _count_shared_quantities,
    "quantities_differ": _count_different_quantities,
    "kinds_differ": _count_kind_differences,
    "price_gap": _price_gap,
    "brand": _brand_similarity,
    "ean": lambda a, b: _are_equal(a.ean, b.ean),
    "han": lambda a, b: _are_equal(a.han, b.han),
    "sku": lambda a, b: _are_equal(a.sku, b.sku),
    "codes_named": _number_is_named,
    "codes_alike": _part_number_similarity,
    "image": _share_image,
}
