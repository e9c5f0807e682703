"""The vectorised columns of some records, ready to compare any of their pairs.

Weights depend on all records of a table, features on two of them: with weights that were counted
beforehand (`weigh_columns`) the records of a part are compared as they are in the whole table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from matcher.array_types import Bools, Floats, Ints, Matrix, Pairs
from matcher.blocking.vectors import hash_tokens, row_sums
from matcher.dedupe.base.records import Records, join_keys
from matcher.records.text import fold
from matcher.taught.columns.kinds import LONG_KINDS, ColumnKind
from matcher.taught.columns.values import normalise_code
from matcher.taught.features.scalars import (
    ScalarSide,
    ValueCounts,
    build_scalar_sides,
    compare_scalars,
    count_values,
    is_scalar,
)
from matcher.taught.features.shingle_overlap import (
    ShingleSpace,
    build_shingle_space,
    compare_shingles,
    weigh_shingles,
)
from matcher.taught.features.swapped_values import find_swapped, swappable_columns
from matcher.taught.features.texts import LETTERS_PLACE, compare_texts
from matcher.taught.features.token_space import (
    WORD_BITS,
    TokenSpace,
    TokenWeights,
    build_token_space,
    weigh_tokens,
)
from matcher.taught.variants.markers import RULES
from matcher.taught.variants.rules import VariantFinder


@dataclass(frozen=True)
class ColumnWeights:
    """Weights of words and shingles, and counts of values, by the number of a column.

    `all_columns` weighs the words of all columns as one text. Those that are missing are counted in
    the records that are vectorised.
    """

    tokens: dict[int, TokenWeights] = field(default_factory=dict)
    shingles: dict[int, Floats] = field(default_factory=dict)
    values: dict[int, ValueCounts] = field(default_factory=dict)
    all_columns: TokenWeights | None = None


NO_WEIGHTS = ColumnWeights()


def weigh_columns(
    left: Records, right: Records | None, kinds: Sequence[ColumnKind], shingle_size: int
) -> ColumnWeights:
    """Count words, shingles and values of all records, by a pass over each column."""
    sides = [left] if right is None else [left, right]
    tokens: dict[int, TokenWeights] = {}
    shingles: dict[int, Floats] = {}
    values: dict[int, ValueCounts] = {}
    for number, kind in enumerate(kinds):
        column = chain.from_iterable(side.fields[number] for side in sides)
        if kind in LONG_KINDS:
            shingles[number] = weigh_shingles(column, shingle_size)
        elif is_scalar(kind):
            values[number] = count_values(kind, column)
        elif kind is not ColumnKind.IGNORED:
            tokens[number] = weigh_tokens(column)
    joined = chain.from_iterable(_join_columns(side, kinds) for side in sides)
    return ColumnWeights(tokens, shingles, values, weigh_tokens(joined))


class ColumnSpaces:
    """The columns of the records of one table, or of two, as rows of matrices and values."""

    def __init__(
        self,
        left: Records,
        right: Records | None,
        kinds: Sequence[ColumnKind],
        shingle_size: int,
        weights: ColumnWeights = NO_WEIGHTS,
    ) -> None:
        """Vectorise all columns; without `weights` they are counted in these records."""
        self._kinds = kinds
        self._texts: dict[int, TokenSpace] = {}
        self._scalars: dict[int, tuple[ScalarSide, ScalarSide]] = {}
        self._codes: dict[int, tuple[Matrix, Matrix]] = {}
        self.shingles: dict[int, ShingleSpace] = {}
        for number, kind in enumerate(kinds):
            left_values = left.fields[number]
            right_values = None if right is None else right.fields[number]
            if kind in LONG_KINDS:
                self.shingles[number] = build_shingle_space(
                    left_values, right_values, shingle_size, weights.shingles.get(number)
                )
            elif is_scalar(kind):
                self._scalars[number] = build_scalar_sides(
                    kind, left_values, right_values, weights.values.get(number)
                )
                if kind is ColumnKind.IDENTIFIER:
                    self._codes[number] = _hash_codes(left_values, right_values)
            elif kind is not ColumnKind.IGNORED:
                self._texts[number] = build_token_space(
                    left_values, right_values, weights.tokens.get(number)
                )
        right_side = left if right is None else right
        self._given = _given_values(left), _given_values(right_side)
        self.all_columns = build_token_space(
            _join_columns(left, kinds),
            None if right is None else _join_columns(right, kinds),
            weights.all_columns,
        )
        self.variants = VariantFinder(left, right, kinds)

    def compare(self, pairs: Pairs) -> Floats:
        """Compute the features that depend on a pair alone, of some pairs (left row, right row)."""
        left_rows, right_rows = pairs[:, 0], pairs[:, 1]
        columns = list[Floats]()
        likeness: dict[int, Floats] = {}
        for number, kind in enumerate(self._kinds):
            if number in self._texts:
                compared = compare_texts(self._texts[number], kind, left_rows, right_rows)
                likeness[number] = compared[:, LETTERS_PLACE]
                columns.append(compared)
            if number in self._scalars:
                columns.append(compare_scalars(kind, self._scalars[number], left_rows, right_rows))
            if number in self._codes:
                columns.append(self._find_codes(number, left_rows, right_rows))
            if number in self.shingles:
                columns.append(compare_shingles(self.shingles[number], left_rows, right_rows))
            if kind is not ColumnKind.IGNORED:
                is_given_once = (
                    self._given[0][number][left_rows] != self._given[1][number][right_rows]
                )
                columns.append(is_given_once.astype(np.float32)[:, None])
        swappable = swappable_columns(self._kinds)
        if swappable:
            swapped = find_swapped(self._texts, likeness, swappable, left_rows, right_rows)
            columns.append(swapped[:, None])
        columns.append(compare_texts(self.all_columns, ColumnKind.TEXT, left_rows, right_rows))
        columns += [self.variants.compare(rule, pairs)[:, None] for rule in RULES]
        return np.column_stack(columns)

    def _find_codes(self, number: int, left_rows: Ints, right_rows: Ints) -> Floats:
        """Return 1 where one record's identifier stands anywhere in the other record."""
        left_codes, right_codes = (
            side[rows]
            for side, rows in zip(self._codes[number], (left_rows, right_rows), strict=True)
        )
        left_words = self.all_columns.left.spellings[left_rows]
        right_words = self.all_columns.right.spellings[right_rows]
        is_named = (row_sums(left_codes.multiply(right_words)) > 0) | (
            row_sums(right_codes.multiply(left_words)) > 0
        )
        is_known = (row_sums(left_codes) > 0) | (row_sums(right_codes) > 0)
        return np.where(is_known, is_named, np.nan).astype(np.float32)[:, None]


def _given_values(records: Records) -> list[Bools]:
    """Return for each column whether each record has a value."""
    return [np.fromiter(map(bool, column), bool, len(column)) for column in records.fields]


def _hash_codes(left: Sequence[str], right: Sequence[str] | None) -> tuple[Matrix, Matrix]:
    sides = []
    for values in (left, right):
        if values is not None:
            codes = (filter(None, [normalise_code(fold(value))]) for value in values)
            sides.append(hash_tokens(codes, 1 << WORD_BITS))
    return sides[0], sides[-1]


def _join_columns(records: Records, kinds: Sequence[ColumnKind]) -> Sequence[str]:
    """Join the columns of each record to one text."""
    is_short = [kind not in (ColumnKind.IGNORED, *LONG_KINDS) for kind in kinds]
    if not any(is_short):
        is_short = [kind is not ColumnKind.IGNORED for kind in kinds]
    # A long text among short values would drown them.
    columns = (column for column, short in zip(records.fields, is_short, strict=True) if short)
    return join_keys(tuple(columns))
