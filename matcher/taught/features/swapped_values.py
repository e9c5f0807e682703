"""Find values that stand in each other's column: a first name that was entered as the last name.

Only columns of one kind are asked, names or addresses. That both values of a pair cross by chance is
as rare as that both agree.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler

from matcher.array_types import Bools, Floats, Ints
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
    columns: Sequence[tuple[int, int]],
    left_rows: Ints,
    right_rows: Ints,
) -> Floats:
    """Return 1 for pairs that have the values of any two `columns` crosswise, 0 for others.

    NaN where no two columns are known in both records. `spaces` has the texts by column.
    """
    is_known = np.zeros(len(left_rows), bool)
    is_swapped = np.zeros(len(left_rows), bool)
    for first, second in columns:
        rows = np.flatnonzero(
            _are_given(spaces[first], left_rows, right_rows)
            & _are_given(spaces[second], left_rows, right_rows)
        )
        is_known[rows] = True
        sides = left_rows[rows], right_rows[rows]
        # Most pairs agree in one of them, and their values are compared no further.
        for left, right, are_same in (
            (first, first, False),
            (second, second, False),
            (first, second, True),
            (second, first, True),
        ):
            left_texts = [spaces[left].left.texts[row] for row in sides[0].tolist()]
            right_texts = [spaces[right].right.texts[row] for row in sides[1].tolist()]
            similarity = process.cpdist(left_texts, right_texts, scorer=JaroWinkler.similarity)
            is_left = (similarity >= SAME_VALUE) == are_same
            rows, sides = rows[is_left], (sides[0][is_left], sides[1][is_left])
        is_swapped[rows] = True
    return np.where(is_known, is_swapped, np.nan).astype(np.float32)


def _are_given(space: TokenSpace, left_rows: Ints, right_rows: Ints) -> Bools:
    return space.left.is_given[left_rows] & space.right.is_given[right_rows]
