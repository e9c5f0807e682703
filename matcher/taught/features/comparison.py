"""Compare candidate pairs column by column, each by its kind, and all columns as one text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from catalog.runtime.progress import Progress, no_progress
from matcher.array_types import Bools, Floats, Ints, Matrix, Pairs
from matcher.blocking.vectors import hash_tokens, row_sums
from matcher.dedupe.base.records import Records, join_keys
from matcher.records.text import fold
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.columns.values import normalise_code
from matcher.taught.features.feature import (
    ALL_COLUMNS,
    NEVER_LOWERS,
    NEVER_RAISES,
    RIVALS,
    VARIANTS,
    Feature,
)
from matcher.taught.features.rivals import compare_with_rivals, rival_features
from matcher.taught.features.scalars import (
    ScalarSide,
    build_scalar_sides,
    compare_scalars,
    is_scalar,
    scalar_features,
)
from matcher.taught.features.shingle_overlap import (
    DEFAULT_SIZE,
    ShingleSpace,
    build_shingle_space,
    compare_shingles,
    shingle_features,
)
from matcher.taught.features.texts import compare_texts, text_features
from matcher.taught.features.token_space import WORD_BITS, TokenSpace, build_token_space
from matcher.taught.variants import RULES, VariantFinder

# Pairs that are compared at once; cap on memory.
PAIRS_PER_CHUNK = 100_000
# Values whose rivals are compared: columns of the group of all columns.
RIVAL_VALUES = ("3-grams", "shared words")
LONG_RIVAL_VALUE = "rare shingles contained, more"
LONG_KINDS = (ColumnKind.LONG_TEXT, ColumnKind.HTML)
# Compares chunks of pairs as `Comparison.compare` does, in their order.
ChunkComparer = Callable[[Iterable[Pairs]], Iterator[Floats]]
_NAMED = "named by the other record"
_GIVEN_ONCE = "given by one record only"


@dataclass
class Comparison:
    """The columns of one table, or of two, ready to compare any of their pairs.

    `right` is None in a self-join. `kinds` gives the kind of each column.
    """

    left: Records
    right: Records | None
    kinds: Sequence[ColumnKind]
    shingle_size: int = DEFAULT_SIZE
    features: list[Feature] = field(init=False)
    all_columns: TokenSpace = field(init=False)
    variants: VariantFinder = field(init=False)

    def __post_init__(self) -> None:
        """Vectorise all columns."""
        self.names = self.left.names
        self._texts: dict[int, TokenSpace] = {}
        self._scalars: dict[int, tuple[ScalarSide, ScalarSide]] = {}
        self._shingles: dict[int, ShingleSpace] = {}
        self._codes: dict[int, tuple[Matrix, Matrix]] = {}
        for number, kind in enumerate(self.kinds):
            left = self.left.fields[number]
            right = None if self.right is None else self.right.fields[number]
            if kind in LONG_KINDS:
                self._shingles[number] = build_shingle_space(left, right, self.shingle_size)
            elif is_scalar(kind):
                self._scalars[number] = build_scalar_sides(kind, left, right)
                if kind is ColumnKind.IDENTIFIER:
                    self._codes[number] = _hash_codes(left, right)
            elif kind is not ColumnKind.IGNORED:
                self._texts[number] = build_token_space(left, right)
        right_side = self.left if self.right is None else self.right
        self._given = _given_values(self.left), _given_values(right_side)
        self.all_columns = build_token_space(
            _join_columns(self.left, self.kinds),
            None if self.right is None else _join_columns(self.right, self.kinds),
        )
        self.variants = VariantFinder(self.left, self.right, self.kinds)
        self.features = self._list_features()

    @property
    def is_self_join(self) -> bool:
        """Whether pairs lie within one table."""
        return self.right is None

    def long_text_vectors(self) -> Iterator[tuple[Matrix, Matrix]]:
        """Yield the weighted shingles of both sides of each column of long texts."""
        for space in self._shingles.values():
            yield space.unit_vectors()

    def _list_features(self) -> list[Feature]:
        features = list[Feature]()
        for number, kind in enumerate(self.kinds):
            name = self.names[number]
            if number in self._texts:
                features += text_features(name, kind)
            if number in self._scalars:
                features += scalar_features(name, kind)
            if number in self._codes:
                features.append(Feature(name, _NAMED, NEVER_LOWERS))
            if number in self._shingles:
                features += shingle_features(name)
            if kind is not ColumnKind.IGNORED:
                features.append(Feature(name, _GIVEN_ONCE, NEVER_RAISES))
        features += text_features(ALL_COLUMNS, ColumnKind.TEXT)
        features += [Feature(VARIANTS, rule, NEVER_RAISES) for rule in RULES]
        for value in self._rival_values():
            features += rival_features(
                RIVALS, str(value) if value.group != ALL_COLUMNS else value.name
            )
        return features

    def _rival_values(self) -> list[Feature]:
        """Return the features whose rivals are compared: of all columns, and of long texts."""
        values = [Feature(ALL_COLUMNS, name, NEVER_LOWERS) for name in RIVAL_VALUES]
        long_texts = [
            Feature(self.names[number], LONG_RIVAL_VALUE, NEVER_LOWERS) for number in self._shingles
        ]
        return [*values, *long_texts]

    def table(
        self,
        pairs: Pairs,
        progress: Progress = no_progress,
        compare: ChunkComparer | None = None,
    ) -> Floats:
        """Compute all features of candidate pairs, as each other's rivals; NaN where unknown.

        `pairs` are all candidates, (left row, right row); in a self-join left < right. `compare`
        compares them elsewhere (`matcher.taught.features.distributed_comparison`).
        """
        table = np.empty((len(pairs), len(self.features)), np.float32)
        self._fill(table, pairs, progress, compare)
        self._fill_rivals(table, pairs)
        return table

    def extend(self, pairs: Pairs, table: Floats, added: Pairs) -> tuple[Pairs, Floats]:
        """Add candidates to a table; returns all pairs, sorted, and their features.

        Only the added pairs are compared; the rivals of all are compared again.
        """
        added_table = np.empty((len(added), len(self.features)), np.float32)
        self._fill(added_table, added, no_progress)
        all_pairs = np.concatenate([pairs, added])
        order = np.lexsort((all_pairs[:, 1], all_pairs[:, 0]))
        all_pairs = all_pairs[order]
        extended = np.concatenate([table, added_table])[order]
        self._fill_rivals(extended, all_pairs)
        return all_pairs, extended

    def _fill(
        self,
        table: Floats,
        pairs: Pairs,
        progress: Progress,
        compare: ChunkComparer | None = None,
    ) -> None:
        """Compute the features that depend on a pair alone."""
        starts = range(0, len(pairs), PAIRS_PER_CHUNK)
        chunks = (pairs[start : start + PAIRS_PER_CHUNK] for start in starts)
        done = 0
        for compared in map(self.compare, chunks) if compare is None else compare(chunks):
            table[done : done + len(compared), : compared.shape[1]] = compared
            done += len(compared)
            progress("pairs compared", done, len(pairs))

    def _fill_rivals(self, table: Floats, pairs: Pairs) -> None:
        place = {(feature.group, feature.name): n for n, feature in enumerate(self.features)}
        width = len(rival_features("", ""))
        values = self._rival_values()
        column = len(self.features) - len(values) * width
        for feature in values:
            value = table[:, place[feature.group, feature.name]]
            table[:, column : column + width] = compare_with_rivals(
                pairs[:, 0], pairs[:, 1], value, self.is_self_join
            )
            column += width

    def compare(self, pairs: Pairs) -> Floats:
        """Compute the features that depend on a pair alone, of some pairs (left row, right row)."""
        left_rows, right_rows = pairs[:, 0], pairs[:, 1]
        columns = list[Floats]()
        for number, kind in enumerate(self.kinds):
            if number in self._texts:
                columns.append(compare_texts(self._texts[number], kind, left_rows, right_rows))
            if number in self._scalars:
                columns.append(compare_scalars(kind, self._scalars[number], left_rows, right_rows))
            if number in self._codes:
                columns.append(self._find_codes(number, left_rows, right_rows))
            if number in self._shingles:
                columns.append(compare_shingles(self._shingles[number], left_rows, right_rows))
            if kind is not ColumnKind.IGNORED:
                is_given_once = (
                    self._given[0][number][left_rows] != self._given[1][number][right_rows]
                )
                columns.append(is_given_once.astype(np.float32)[:, None])
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


def _join_columns(records: Records, kinds: Sequence[ColumnKind]) -> list[str]:
    """Join the columns of each record to one text."""
    short = [kind not in (ColumnKind.IGNORED, *LONG_KINDS) for kind in kinds]
    if not any(short):
        short = [kind is not ColumnKind.IGNORED for kind in kinds]
    # A long text among short values would drown them.
    columns = (column for column, is_short in zip(records.fields, short, strict=True) if is_short)
    return join_keys(tuple(columns))
