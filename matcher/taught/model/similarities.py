"""Agreement without labels compares one similarity per column, cut into levels."""

from collections.abc import Mapping, Sequence

import numpy as np

from matcher.array_types import Floats, Ints
from matcher.taught.features.feature import RIVALS, SWAPPED, VARIANTS, Feature
from matcher.taught.features.scalars import DIGITS_AGREE
from matcher.taught.features.swapped_values import SWAPPED_VALUES
from matcher.taught.features.texts import FIRST_LETTERS
from matcher.taught.variants.markers import RULES, is_called_like
from matcher.taught.variants.rules import DEFAULT_RULES, DIFFERENT, EDITION, MARKED_ONCE, SIZE

# Feature that is the similarity of a long text: a shortened copy has all its shingles in common,
# and short shingles do not mind sentences in another order.
CONTAINED_TEXT = "short shingles contained, more"
# Similarity of the editions of two records of which neither names one: a level of its own. Where
# later editions are named, both are the first one, also if the year of one is unknown.
NEITHER_NAMED = 0.98
# Groups of the markers of variants that mostly say the same of two duplicates, by rule. Sizes are no
# rule by default, since titles name many quantities; how often duplicates differ in them, is measured.
MARKER_GROUPS = {rule: f"{VARIANTS}, {rule}" for rule in (*DEFAULT_RULES, SIZE)}
# Features whose mean is the similarity of a text column.
_TEXT_SIMILARITY = ("sorted words", "3-grams", "shared words")
# Names, and addresses of which no number differs, are at least as similar as their letters say
# (Jaro-Winkler): a lost space, or an error in the only word, leaves hardly a word or 3-gram in common.
# .95 counts as .8, less than .8 hardly at all, as unlike names have up to .7.
_LETTERS_SLOPE = 4
_MAX_BY_LETTERS = 0.95
_INITIALS = "initials"
_UNSHARED_NUMBERS = "numbers unshared, more"
# End of the name of the group of a column's digits.
DIGITS_SUFFIX = ", digits"


def group_similarities(table: Floats, features: Sequence[Feature]) -> dict[str, Floats]:
    """Return a similarity per column, of all columns, of digits, of swapped columns, and the lead."""
    places = dict[str, dict[str, int]]()
    for number, feature in enumerate(features):
        places.setdefault(feature.group, {})[feature.name] = number
    similarities = dict[str, Floats]()
    markers = places.pop(VARIANTS, {})
    if any(is_called_like(group, RULES[SIZE]) for group in places):
        # That column is compared itself: its marker would be the same once more.
        markers.pop(SIZE, None)
    for rule, group in MARKER_GROUPS.items():
        if rule in markers:
            similarity = 1 - table[:, markers[rule]] / DIFFERENT
            if rule == EDITION and not np.isnan(similarity).all():
                similarity = np.where(np.isnan(similarity), np.float32(NEITHER_NAMED), similarity)
            if rule == SIZE:
                # That a record names no size says nothing.
                similarity = np.where(similarity == 1 - MARKED_ONCE, np.float32(np.nan), similarity)
            similarities[group] = similarity
    for group, columns in places.items():
        if DIGITS_AGREE in columns:
            similarities[group + DIGITS_SUFFIX] = table[:, columns[DIGITS_AGREE]]
        if group == SWAPPED:
            similarities[group] = table[:, columns[SWAPPED_VALUES.name]]
        elif group == RIVALS:
            names = [name for name in columns if name.endswith(", lead, smaller")]
            similarities[group] = table[:, [columns[name] for name in names]].mean(axis=1)
        else:
            similarities[group] = _similarity(table, columns)
    return similarities


def _similarity(table: Floats, columns: Mapping[str, int]) -> Floats:
    """Return the similarity of one column, 0 to 1, 1 only for equal values; NaN if unknown."""
    if CONTAINED_TEXT in columns:
        value: Floats = table[:, columns[CONTAINED_TEXT]]
        return value
    if "similarity" in columns:
        similarity: Floats = table[:, columns["similarity"]].copy()
        if "ratio apart" in columns:
            # Amounts are compared by their ratio, not by their digits.
            ratio = table[:, columns["ratio apart"]]
            similarity = np.where(np.isnan(ratio), similarity, np.exp(-3 * ratio))
    else:
        similarity = table[:, [columns[name] for name in _TEXT_SIMILARITY]].mean(axis=1)
        # Titles and other texts have both: two of one series differ in a few letters.
        if _INITIALS not in columns or _UNSHARED_NUMBERS not in columns:
            similarity = np.maximum(similarity, _similarity_by_letters(table, columns))
    is_equal = table[:, columns["equal"]] == 1
    return np.where(is_equal, 1, np.minimum(similarity, 0.999)).astype(np.float32)


def _similarity_by_letters(table: Floats, columns: Mapping[str, int]) -> Floats:
    """Return the similarity of a column of names or addresses by its letters; 0 or less for other
    numbers.
    """
    similarity: Floats = 1 - _LETTERS_SLOPE * (1 - table[:, columns[FIRST_LETTERS]])
    if _UNSHARED_NUMBERS in columns:
        similarity[table[:, columns[_UNSHARED_NUMBERS]] > 0] = 0
    return np.minimum(similarity, _MAX_BY_LETTERS)


def level_of(value: Floats, cuts: Sequence[float]) -> Ints:
    """Return the level of each value; one above the last level for unknown values."""
    level = np.searchsorted(np.array(cuts), value, side="right")
    return np.where(np.isnan(value), len(cuts) + 1, level).astype(np.int64)
