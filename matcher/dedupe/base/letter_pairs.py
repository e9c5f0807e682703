"""Drop pairs whose texts differ only in marks that make another letter.

Edit similarity forgives a typing error: one wrong letter of ten. `ハス` (lotus) and `バス` (bus), or
`नीला` and `नीली`, are no typing errors of each other but different words, so a pair of texts that
are equal but for such marks is no pair of duplicates, however long the texts are.
"""

import unicodedata
from dataclasses import replace

import numpy as np

from matcher.array_types import Ints
from matcher.dedupe.base.join import JoinResult
from matcher.dedupe.base.records import Records
from matcher.records.marks import remove_all_marks
from matcher.records.text import fold

NO_LIMIT = 1 << 30  # characters; `fold` cuts texts, here they are compared as a whole


class _TextNumbers:
    """Numbers texts so that equal ones have one number: as folded, and without any mark."""

    def __init__(self) -> None:
        self._folded_numbers = dict[str, int]()
        self._bare_numbers = dict[str, int]()

    def number(self, records: Records, rows: Ints) -> tuple[Ints, Ints]:
        """Return both numbers for each row; -1 for rows of ASCII, and for rows not asked for."""
        folded_number = np.full(len(records), -1, dtype=np.int64)
        bare_number = np.full(len(records), -1, dtype=np.int64)
        is_asked = np.zeros(len(records), dtype=np.bool_)
        is_asked[rows] = True
        for row in np.flatnonzero(is_asked).tolist():
            text = records.texts[row]
            if text.isascii():
                continue
            folded = fold(text, NO_LIMIT)
            bare = remove_all_marks(unicodedata.normalize("NFD", folded))
            folded_number[row] = self._folded_numbers.setdefault(folded, len(self._folded_numbers))
            bare_number[row] = self._bare_numbers.setdefault(bare, len(self._bare_numbers))
        return folded_number, bare_number

    def is_empty(self) -> bool:
        """Return True if no text has a number: all are ASCII."""
        return not self._folded_numbers


def drop_letter_pairs(pairs: JoinResult, left: Records, right: Records | None = None) -> JoinResult:
    """Return the pairs without those that differ only in marks that make another letter."""
    numbers = _TextNumbers()
    if right is None:
        rows = np.concatenate([pairs.left, pairs.right])
        left_numbers = right_numbers = numbers.number(left, rows)
    else:
        left_numbers = numbers.number(left, pairs.left)
        right_numbers = numbers.number(right, pairs.right)
    if numbers.is_empty():
        return pairs
    left_folded, left_bare = (column[pairs.left] for column in left_numbers)
    right_folded, right_bare = (column[pairs.right] for column in right_numbers)
    differs = (left_bare >= 0) & (left_bare == right_bare) & (left_folded != right_folded)
    return replace(
        pairs,
        left=pairs.left[~differs],
        right=pairs.right[~differs],
        similarity=pairs.similarity[~differs],
        reason=pairs.reason[~differs],
    )
