"""What a pair of offers shows: how alike the titles are, what is shared and what is not, and how the rivals do.

The features that lifted F1 most on public data were the rarity of shared and unshared tokens with model numbers in
their joined spellings, and the catalog context (findings, "Matching"): a pair is judged against the best and the
second-best rival from both sides. Unknown values are NaN; the classifier knows how to take them. Links are left out on
purpose, so that what is learnt from offers with known links also holds for offers without.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from rapidfuzz.distance import JaroWinkler

from matcher.blocking.nearest_rows import Pairs
from matcher.blocking.vectors import Matrix, Space
from matcher.features.cache import Keys, Memory, digests, pair_keys
from matcher.features.part_numbers import NEARNESS, code_columns
from matcher.features.rival_margins import rivals
from matcher.features.variant_words import Variants, learn_variants
from matcher.records.product_kinds import kind_differences
from matcher.records.record import Record

Table = dict[str, NDArray[np.float32]]
CHUNK = 10_000

# How a feature moves the odds: 1 never down as it grows, -1 never up, 0 free. Their order is the columns' order.
TRENDS: dict[str, int] = {
    "grams": 1,
    "words": 1,
    "ratio": 1,
    "token_set": 1,
    "token_sort": 1,
    "winkler": 1,
    "same_title": 1,
    "shared": 1,
    "shared_of_shop": 1,
    "shared_of_known": 1,
    "told_by_known": 1,
    "told_by_shop": 1,
    "rarest_shared": 1,
    "rarest_only_shop": -1,
    "rarest_only_known": -1,
    "codes_shared": 1,
    "codes_only_shop": -1,
    "codes_only_known": -1,
    "quantities_shared": 1,
    "quantities_differ": -1,
    "kinds_differ": -1,
    "siblings_differ": -1,
    "price_gap": -1,
    "brand": 1,
    "ean": 1,
    "han": 1,
    "codes_named": 1,
    "codes_alike": 1,
    **dict.fromkeys(NEARNESS, 1),
    "sku": 1,
    "image": 1,
    "description": 1,
    "grams_lead_shop": 1,
    "grams_lead2_shop": 1,
    "grams_lead_known": 1,
    "grams_lead2_known": 1,
    "grams_rank_shop": -1,
    "grams_rank_known": -1,
    "shared_lead_shop": 1,
    "shared_lead_known": 1,
    "description_lead_shop": 1,
    "description_lead_known": 1,
}


def features(
    shop: Sequence[Record],
    known: Sequence[Record],
    space: Space,
    pairs: Pairs,
    memory: Memory | None = None,
) -> NDArray[np.float32]:
    """One row per pair, columns as in TRENDS. The pairs must be all that are looked at, for the rivals' sake.

    What pairs show by themselves is taken from `memory` where it is there, and left in it.
    """
    keys = pair_keys(digests(shop), digests(known), pairs) if memory else np.empty(0, np.uint64)
    variants, tables = learn_variants(known), []
    for start in range(0, len(pairs), CHUNK):
        chunk = pairs[start : start + CHUNK]
        left, right = [shop[i] for i in chunk[:, 0]], [known[j] for j in chunk[:, 1]]
        own = (
            _recalled(left, right, keys[start : start + CHUNK], memory)
            if memory
            else _own(left, right)
        )
        tables.append(own | _among_others(space, variants, chunk, left, right))
    table = {
        name: np.concatenate([t[name] for t in tables]) for name in (tables[0] if tables else ())
    }
    if not table:
        return np.empty((0, len(TRENDS)), dtype=np.float32)
    table |= _context(pairs, table)
    return np.column_stack([table[name] for name in TRENDS]).astype(np.float32)


def _own(left: Sequence[Record], right: Sequence[Record]) -> Table:
    """What two records show whatever others there are: the columns of OWN, in their order."""
    table = _titles(left, right) | code_columns(left, right)
    for name, of_pair in _SINGLE.items():
        table[name] = np.fromiter(map(of_pair, left, right), np.float32, len(left))
    return table


def _recalled(left: Sequence[Record], right: Sequence[Record], keys: Keys, memory: Memory) -> Table:
    """As `_own`, for the pairs of these keys, but worked out only where the memory lacks them."""

    def some(places: NDArray[np.int64]) -> NDArray[np.float32]:
        table = _own(
            [left[place] for place in places.tolist()], [right[place] for place in places.tolist()]
        )
        return np.column_stack([table[name] for name in OWN]).astype(np.float32)

    rows = memory.rows(keys, some)
    return {name: rows[:, place] for place, name in enumerate(OWN)}


def _among_others(
    space: Space, variants: Variants, pairs: Pairs, left: Sequence[Record], right: Sequence[Record]
) -> Table:
    """What depends on how rare words are, and on the words that tell siblings apart."""
    table = _tokens(space, pairs)
    table["siblings_differ"] = np.fromiter(map(variants.apart, left, right), np.float32, len(pairs))
    table["description"] = _description(space, pairs, left, right)
    return table


def _titles(left: Sequence[Record], right: Sequence[Record]) -> Table:
    a, b = [record.title for record in left], [record.title for record in right]
    scorers: dict[str, Any] = {
        "ratio": fuzz.ratio,
        "token_set": fuzz.token_set_ratio,
        "token_sort": fuzz.token_sort_ratio,
        "winkler": JaroWinkler.normalized_similarity,
    }
    table: Table = {
        name: process.cpdist(a, b, scorer=scorer, dtype=np.float32)
        for name, scorer in scorers.items()
    }
    table["same_title"] = np.fromiter(
        (x == y != "" for x, y in zip(a, b, strict=True)), np.float32, len(a)
    )
    return table


def _tokens(space: Space, pairs: Pairs) -> Table:
    i, j = pairs[:, 0], pairs[:, 1]
    shop, known = space.shop, space.known
    only_shop, only_known = (
        _unshared(shop.weights[i], known.spellings[j]),
        _unshared(known.weights[j], shop.spellings[i]),
    )
    common_shop, common_known = shop.weights[i] - only_shop, known.weights[j] - only_known
    sums = [_sum(m) for m in (common_shop, common_known, only_shop, only_known)]
    return {
        "grams": _sum(shop.grams[i].multiply(known.grams[j])),
        "words": _sum(shop.words[i].multiply(known.words[j])),
        "shared": (sums[0] + sums[1]) / np.maximum(sum(sums), 1e-6),
        "shared_of_shop": sums[0] / np.maximum(sums[0] + sums[2], 1e-6),
        "shared_of_known": sums[1] / np.maximum(sums[1] + sums[3], 1e-6),
        "told_by_known": _covered(shop.weights[i], known.everything[j]),
        "told_by_shop": _covered(known.weights[j], shop.everything[i]),
        "rarest_shared": np.maximum(_max(common_shop), _max(common_known)) / space.top,
        "rarest_only_shop": _max(only_shop) / space.top,
        "rarest_only_known": _max(only_known) / space.top,
    }


def _unshared(own: Matrix, other: Matrix) -> Matrix:
    """The weights of the tokens that the other does not have in any spelling."""
    return own - own.multiply(other > 0)


def _covered(own: Matrix, other: Matrix) -> NDArray[np.float32]:
    """The share of a title's weight that the other offer tells anywhere."""
    lacking = _sum(_unshared(own, other)) / np.maximum(_sum(own), np.float32(1e-6))
    return (1 - lacking).astype(np.float32)


def _sum(matrix: Matrix) -> NDArray[np.float32]:
    return np.asarray(matrix.sum(axis=1), dtype=np.float32).ravel()


def _max(matrix: Matrix) -> NDArray[np.float32]:
    return np.asarray(matrix.max(axis=1).toarray(), dtype=np.float32).ravel()


def _description(
    space: Space, pairs: Pairs, left: Sequence[Record], right: Sequence[Record]
) -> NDArray[np.float32]:
    cosine = _sum(
        space.shop.description[pairs[:, 0]].multiply(space.known.description[pairs[:, 1]])
    )
    given = np.fromiter(
        (bool(a.description and b.description) for a, b in zip(left, right, strict=True)),
        bool,
        len(left),
    )
    return np.where(given, cosine, np.nan).astype(np.float32)


def _context(pairs: Pairs, table: Table) -> Table:
    """How far the pair is ahead of its rivals, from either side."""
    found: Table = {}
    for side, column in (("shop", 0), ("known", 1)):
        owner = pairs[:, column]
        lead, lead2, rank = rivals(owner, table["grams"])
        found |= {
            f"grams_lead_{side}": lead,
            f"grams_lead2_{side}": lead2,
            f"grams_rank_{side}": rank,
        }
        found[f"shared_lead_{side}"] = rivals(owner, table["shared"])[0]
        description = rivals(owner, np.nan_to_num(table["description"]))[0]
        found[f"description_lead_{side}"] = np.where(
            np.isnan(table["description"]), np.nan, description
        )
    return found


def _agree(a: str, b: str) -> float:
    return float(a == b) if a and b else np.nan


def _image(a: Record, b: Record) -> float:
    return float(not set(a.images).isdisjoint(b.images)) if a.images and b.images else np.nan


def _price(a: Record, b: Record) -> float:
    return min(abs(float(np.log(a.price / b.price))), 3.0) if a.price and b.price else np.nan


def _brand(a: Record, b: Record) -> float:
    return fuzz.token_set_ratio(a.brand, b.brand) / 100 if a.brand and b.brand else np.nan


def _codes_named(a: Record, b: Record) -> float:
    """Whether one offer's part number or own key stands in the other's text; NaN where neither has one."""
    given = [
        (code, other)
        for one, other in ((a, b), (b, a))
        for code in (one.han, one.sku)
        if len(code) > 2
    ]
    return float(any(code in other.told for code, other in given)) if given else np.nan


def _codes_alike(a: Record, b: Record) -> float:
    return fuzz.ratio(a.han, b.han) / 100 if a.han and b.han else np.nan


def _quantities_shared(a: Record, b: Record) -> float:
    return sum(
        bool(values & b.quantities.get(unit, frozenset())) for unit, values in a.quantities.items()
    )


def _quantities_differ(a: Record, b: Record) -> float:
    return sum(
        unit in b.quantities and not values & b.quantities[unit]
        for unit, values in a.quantities.items()
    )


_SINGLE: dict[str, Callable[[Record, Record], float]] = {
    "codes_shared": lambda a, b: len(a.codes & b.spellings) + len(b.codes & a.spellings - a.codes),
    "codes_only_shop": lambda a, b: len(a.codes - b.spellings),
    "codes_only_known": lambda a, b: len(b.codes - a.spellings),
    "quantities_shared": _quantities_shared,
    "quantities_differ": _quantities_differ,
    "kinds_differ": lambda a, b: len(kind_differences(a.words, a.kinds, b.words, b.kinds)),
    "price_gap": _price,
    "brand": _brand,
    "ean": lambda a, b: _agree(a.ean, b.ean),
    "han": lambda a, b: _agree(a.han, b.han),
    "sku": lambda a, b: _agree(a.sku, b.sku),
    "codes_named": _codes_named,
    "codes_alike": _codes_alike,
    "image": _image,
}
OWN = ("ratio", "token_set", "token_sort", "winkler", "same_title", *NEARNESS, *_SINGLE)
