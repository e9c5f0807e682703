"""Compare texts: names, titles, addresses, and all columns of a record as one text.

Every feature is symmetric, because the two records of a pair within one table have no order: of
two directions the smaller and the larger value is given.
"""

from collections.abc import Callable

import numpy as np
from rapidfuzz import fuzz, process
from rapidfuzz.distance import JaroWinkler

from matcher.array_types import Floats, Ints
from matcher.blocking.vectors import row_maxima, row_sums
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.features.feature import NEVER_LOWERS, NEVER_RAISES, Feature
from matcher.taught.features.token_space import SideTokens, TokenSpace, row_products

# Smallest divisor.
EPSILON = 1e-6
Columns = dict[str, Floats]

# Feature that is the Jaro-Winkler similarity.
FIRST_LETTERS = "first letters"
_SCORERS: dict[str, tuple[Callable[..., float], float]] = {  # scorer and its greatest value
    "sorted words": (fuzz.token_sort_ratio, 100.0),
    "word set": (fuzz.token_set_ratio, 100.0),
    FIRST_LETTERS: (JaroWinkler.similarity, 1.0),
}
# Its place among the features of a text column.
LETTERS_PLACE = [*_SCORERS].index(FIRST_LETTERS)
_WORD_FEATURES = (
    ("equal", NEVER_LOWERS),
    ("3-grams", NEVER_LOWERS),
    ("words", NEVER_LOWERS),
    ("shared words", NEVER_LOWERS),
    ("shared words, less covered", NEVER_LOWERS),
    ("shared words, more covered", NEVER_LOWERS),
    ("rarest shared word", NEVER_LOWERS),
    ("rarest unshared word, less", NEVER_RAISES),
    ("rarest unshared word, more", NEVER_RAISES),
)
_CODE_FEATURES = (
    ("numbers shared", NEVER_LOWERS),
    ("numbers unshared, less", NEVER_RAISES),
    ("numbers unshared, more", NEVER_RAISES),
)
_KINDS_WITH_INITIALS = (ColumnKind.NAME, ColumnKind.TEXT)
_KINDS_WITH_CODES = (ColumnKind.TEXT, ColumnKind.ADDRESS, ColumnKind.LONG_TEXT)


def text_features(group: str, kind: ColumnKind) -> list[Feature]:
    """Return the features of a text column, in the order of `compare_texts`."""
    features = [(name, NEVER_LOWERS) for name in _SCORERS] + [*_WORD_FEATURES]
    if kind in _KINDS_WITH_INITIALS:
        features.append(("initials", NEVER_LOWERS))
    if kind in _KINDS_WITH_CODES:
        features += _CODE_FEATURES
    return [Feature(group, name, trend) for name, trend in features]


def compare_texts(space: TokenSpace, kind: ColumnKind, left_rows: Ints, right_rows: Ints) -> Floats:
    """Compare pairs of texts; returns (pairs, features), NaN where a text is empty."""
    left, right = space.left, space.right
    columns: Columns = {}
    left_texts = [left.texts[row] for row in left_rows.tolist()]
    right_texts = [right.texts[row] for row in right_rows.tolist()]
    for name, (scorer, greatest) in _SCORERS.items():
        similarity = process.cpdist(left_texts, right_texts, scorer=scorer, dtype=np.float32)
        columns[name] = np.asarray(similarity / greatest, dtype=np.float32)
    equal = (a == b for a, b in zip(left_texts, right_texts, strict=True))
    columns["equal"] = np.fromiter(equal, np.float32, len(left_texts))
    columns |= _compare_words(space, left_rows, right_rows)
    if kind in _KINDS_WITH_INITIALS:
        shared = row_products(left.initials, left_rows, right.initials, right_rows)
        fewer = np.minimum(row_sums(left.initials[left_rows]), row_sums(right.initials[right_rows]))
        columns["initials"] = (shared / np.maximum(fewer, 1)).astype(np.float32)
    if kind in _KINDS_WITH_CODES:
        columns |= _compare_codes(left, right, left_rows, right_rows)
    table = np.column_stack([columns[feature.name] for feature in text_features("", kind)])
    is_known = left.is_given[left_rows] & right.is_given[right_rows]
    return np.where(is_known[:, None], table, np.nan).astype(np.float32)


def _compare_words(space: TokenSpace, left_rows: Ints, right_rows: Ints) -> Columns:
    left, right = space.left, space.right
    left_words, right_words = left.words[left_rows], right.words[right_rows]
    common_left = left_words.multiply(right.spellings[right_rows]).tocsr()
    common_right = right_words.multiply(left.spellings[left_rows]).tocsr()
    shared_left, shared_right = row_sums(common_left), row_sums(common_right)
    total_left, total_right = left.word_weight[left_rows], right.word_weight[right_rows]
    covered_left = shared_left / np.maximum(total_left, EPSILON)
    covered_right = shared_right / np.maximum(total_right, EPSILON)
    only_left = row_maxima(left_words - common_left) / space.max_weight
    only_right = row_maxima(right_words - common_right) / space.max_weight
    rarest = np.maximum(row_maxima(common_left), row_maxima(common_right))
    return {
        "3-grams": row_products(left.grams, left_rows, right.grams, right_rows),
        "words": row_products(left.unit_words, left_rows, right.unit_words, right_rows),
        "shared words": (shared_left + shared_right)
        / np.maximum(total_left + total_right, EPSILON),
        "shared words, less covered": np.minimum(covered_left, covered_right),
        "shared words, more covered": np.maximum(covered_left, covered_right),
        "rarest shared word": rarest / space.max_weight,
        "rarest unshared word, less": np.minimum(only_left, only_right),
        "rarest unshared word, more": np.maximum(only_left, only_right),
    }


def _compare_codes(
    left: SideTokens, right: SideTokens, left_rows: Ints, right_rows: Ints
) -> Columns:
    """Count the words with digits that both texts have in any spelling, or only one of them."""
    left_codes, right_codes = left.codes[left_rows], right.codes[right_rows]
    named_left = row_sums(left_codes.multiply(right.spellings[right_rows]))
    named_right = row_sums(right_codes.multiply(left.spellings[left_rows]))
    only_left = row_sums(left_codes) - named_left
    only_right = row_sums(right_codes) - named_right
    return {
        "numbers shared": np.maximum(named_left, named_right),
        "numbers unshared, less": np.minimum(only_left, only_right),
        "numbers unshared, more": np.maximum(only_left, only_right),
    }
