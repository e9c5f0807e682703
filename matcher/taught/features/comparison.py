"""Compare candidate pairs column by column, each by its kind, and all columns as one text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from catalog.runtime.progress import Progress, no_progress
from matcher.array_types import Bools, Floats, Ints, Matrix, Pairs
from matcher.dedupe.base.records import Records
from matcher.dedupe.cluster.components import label_components
from matcher.taught.columns.kinds import LONG_KINDS, ColumnKind
from matcher.taught.features.column_spaces import ColumnSpaces, ColumnWeights, weigh_columns
from matcher.taught.features.feature import (
    ALL_COLUMNS,
    NEVER_LOWERS,
    NEVER_RAISES,
    RIVALS,
    VARIANTS,
    Feature,
)
from matcher.taught.features.rivals import compare_with_rivals, rival_features
from matcher.taught.features.scalars import is_scalar, scalar_features
from matcher.taught.features.shingle_overlap import DEFAULT_SIZE, shingle_features
from matcher.taught.features.swapped_values import SWAPPED_VALUES, swappable_columns
from matcher.taught.features.texts import text_features
from matcher.taught.features.token_space import TokenSpace
from matcher.taught.variants.markers import RULES
from matcher.taught.variants.rules import VariantFinder

# Pairs that are compared at once; cap on memory.
PAIRS_PER_CHUNK = 100_000
# Values whose rivals are compared: columns of the group of all columns.
RIVAL_VALUES = ("3-grams", "shared words")
LONG_RIVAL_VALUE = "rare shingles contained, more"
# Compares chunks of pairs as `Comparison.compare` does, in their order.
ChunkComparer = Callable[[Iterable[Pairs]], Iterator[Floats]]
_NAMED = "named by the other record"
_GIVEN_ONCE = "given by one record only"


@dataclass
class Comparison:
    """The columns of one table, or of two, ready to compare any of their pairs.

    `right` is None in a self-join. `kinds` gives the kind of each column. A table of which few
    records are in candidate pairs is compared in parts (`in_parts`): only these records are
    vectorised, those of some pairs at a time. The features are the same.
    """

    left: Records
    right: Records | None
    kinds: Sequence[ColumnKind]
    shingle_size: int = DEFAULT_SIZE
    in_parts: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.left.names

    @property
    def is_self_join(self) -> bool:
        """Whether pairs lie within one table."""
        return self.right is None

    @property
    def all_columns(self) -> TokenSpace:
        """The columns of all records as one text each."""
        return self._spaces.all_columns

    def long_text_vectors(self) -> Iterator[tuple[Matrix, Matrix]]:
        """Yield the weighted shingles of both sides of each column of long texts."""
        for space in self._spaces.shingles.values():
            yield space.unit_vectors()

    @cached_property
    def features(self) -> list[Feature]:
        """The features of a pair, in the order of `table`."""
        return comparison_features(self.names, self.kinds)

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
        order = np.arange(len(pairs))
        if self.in_parts and compare is None:
            # Pairs of one component have their records in common.
            order = np.argsort(_components_of(pairs, self.is_self_join), kind="stable")
        starts = range(0, len(pairs), PAIRS_PER_CHUNK)
        chunks = (pairs[order[start : start + PAIRS_PER_CHUNK]] for start in starts)
        done = 0
        for compared in map(self.compare, chunks) if compare is None else compare(chunks):
            rows = order[done : done + len(compared)]
            table[rows, : compared.shape[1]] = compared
            done += len(compared)
            progress("pairs compared", done, len(pairs))

    def _fill_rivals(self, table: Floats, pairs: Pairs) -> None:
        place = {(feature.group, feature.name): n for n, feature in enumerate(self.features)}
        width = len(rival_features("", ""))
        values = _rival_values(self.names, self.kinds)
        column = len(self.features) - len(values) * width
        for feature in values:
            value = table[:, place[feature.group, feature.name]]
            table[:, column : column + width] = compare_with_rivals(
                pairs[:, 0], pairs[:, 1], value, self.is_self_join
            )
            column += width

    def compare(self, pairs: Pairs) -> Floats:
        """Compute the features that depend on a pair alone, of some pairs (left row, right row)."""
        if not self.in_parts:
            return self._spaces.compare(pairs)
        left, right, rows = self._select(pairs)
        part = ColumnSpaces(left, right, self.kinds, self.shingle_size, self._weights)
        return part.compare(rows)

    def find_variants(self, rules: Sequence[str], pairs: Pairs) -> dict[str, Bools]:
        """Return by rule whether each pair is of variants."""
        if not self.in_parts:
            return {rule: self._spaces.variants.find(rule, pairs) for rule in rules}
        is_variant = {rule: np.zeros(len(pairs), bool) for rule in rules}
        for start in range(0, len(pairs), PAIRS_PER_CHUNK):
            chunk = slice(start, start + PAIRS_PER_CHUNK)
            left, right, rows = self._select(pairs[chunk])
            finder = VariantFinder(left, right, self.kinds)
            for rule in rules:
                is_variant[rule][chunk] = finder.find(rule, rows)
        return is_variant

    def find_unnamed_volumes(self, pairs: Pairs) -> Bools:
        """Return which matches pair a volume with a record that may be of another volume as well."""
        if not self.in_parts:
            return self._spaces.variants.find_unnamed_volumes(pairs)
        left, right, rows = self._select(pairs)
        return VariantFinder(left, right, self.kinds).find_unnamed_volumes(rows)

    @cached_property
    def _spaces(self) -> ColumnSpaces:
        """All records, vectorised."""
        return ColumnSpaces(self.left, self.right, self.kinds, self.shingle_size)

    @cached_property
    def _weights(self) -> ColumnWeights:
        """The weights of all records, for parts of them."""
        return weigh_columns(self.left, self.right, self.kinds, self.shingle_size)

    def _select(self, pairs: Pairs) -> tuple[Records, Records | None, Pairs]:
        """Return the records of some pairs, and the pairs by the rows of these."""
        if self.right is None:
            rows, places = np.unique(pairs, return_inverse=True)
            return self.left.select(rows), None, places.reshape(-1, 2)
        left_rows, left_places = np.unique(pairs[:, 0], return_inverse=True)
        right_rows, right_places = np.unique(pairs[:, 1], return_inverse=True)
        left, right = self.left.select(left_rows), self.right.select(right_rows)
        return left, right, np.column_stack((left_places, right_places))


def comparison_features(names: Sequence[str], kinds: Sequence[ColumnKind]) -> list[Feature]:
    """Return the features of a pair of records with some columns, in the order of a table."""
    features = list[Feature]()
    for name, kind in zip(names, kinds, strict=True):
        if kind is ColumnKind.IGNORED:
            continue
        if kind in LONG_KINDS:
            features += shingle_features(name)
        elif is_scalar(kind):
            features += scalar_features(name, kind)
        else:
            features += text_features(name, kind)
        if kind is ColumnKind.IDENTIFIER:
            features.append(Feature(name, _NAMED, NEVER_LOWERS))
        features.append(Feature(name, _GIVEN_ONCE, NEVER_RAISES))
    if swappable_columns(kinds):
        features.append(SWAPPED_VALUES)
    features += text_features(ALL_COLUMNS, ColumnKind.TEXT)
    features += [Feature(VARIANTS, rule, NEVER_RAISES) for rule in RULES]
    for value in _rival_values(names, kinds):
        features += rival_features(RIVALS, str(value) if value.group != ALL_COLUMNS else value.name)
    return features


def _rival_values(names: Sequence[str], kinds: Sequence[ColumnKind]) -> list[Feature]:
    """Return the features whose rivals are compared: of all columns, and of long texts."""
    values = [Feature(ALL_COLUMNS, name, NEVER_LOWERS) for name in RIVAL_VALUES]
    for name, kind in zip(names, kinds, strict=True):
        if kind in LONG_KINDS:
            values.append(Feature(name, LONG_RIVAL_VALUE, NEVER_LOWERS))
    return values


def _components_of(pairs: Pairs, is_self_join: bool) -> Ints:
    """Return the number of the connected component of each pair."""
    edges = pairs.copy()
    if not is_self_join:
        edges[:, 1] += int(pairs[:, 0].max(initial=0)) + 1
    records, component = label_components(edges)
    return component[np.searchsorted(records, edges[:, 0])]
