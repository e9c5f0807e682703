"""Find values that stand in each other's column: a first name that was entered as the last name.

Only columns of one kind are asked, names or addresses. That both values of a pair cross by chance is
as rare as that both agree.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler

from matcher.array_types import Floats, Ints
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.features.feature import NEVER_LOWERS, SWAPPED, Feature
from matcher.taught.features.token_space import TokenSpace

SWAPPED_VALUES = Feature(SWAPPED, "values in each other's column", NEVER_LOWERS)
# Similarity from which on two values are the same: "jaspe" and "jasper" have .97.
SAME_VALUE = 0.9
_KINDS = (ColumnKind.NAME, ColumnKind.ADDRESS)


def swappable_columns(kinds: Sequence[ColumnKind]) -> list[tuple[int, int]]:
    """Return the pairs of columns whose values may be swapped, by number.

    >>> swappable_columns([ColumnKind.NAME, ColumnKind.DATE, ColumnKind.NAME, ColumnKind.ADDRESS])
    [(0, 2)]
    """
    return [
        (first, second)
        for first, second in combinations(range(len(kinds)), 2)
        if kinds[first] is kinds[second] and kinds[first] in _KINDS
    ]


def find_swapped(
    spaces: Mapping[int, TokenSpace],
    likeness: Mapping[int, Floats],
    columns: Sequence[tuple[int, int]],
    left_rows: Ints,
    right_rows: Ints,
) -> Floats:
    """Return 1 for pairs that have the values of any two `columns` crosswise, 0 for others.

    NaN where no two columns are known in both records. `spaces` has the texts by column, `likeness`
    the Jaro-Winkler similarity of each pair in it, NaN where a text is empty.
    """
    is_known = np.zeros(len(left_rows), bool)
    is_swapped = np.zeros(len(left_rows), bool)
    for first, second in columns:
        is_known |= ~np.isnan(likeness[first]) & ~np.isnan(likeness[second])
        # Most pairs agree in one of them, and their values are compared no further.
        rows = np.flatnonzero((likeness[first] < SAME_VALUE) & (likeness[second] < SAME_VALUE))
        for left, right in ((first, second), (second, first)):
            left_texts = [spaces[left].left.texts[row] for row in left_rows[rows].tolist()]
            right_texts = [spaces[right].right.texts[row] for row in right_rows[rows].tolist()]
            similarity = process.cpdist(left_texts, right_texts, scorer=JaroWinkler.similarity)
            rows = rows[similarity >= SAME_VALUE]
        is_swapped[rows] = True
    return np.where(is_known, is_swapped, np.nan).astype(np.float32)
