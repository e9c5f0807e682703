"""Pairs of texts that share most of their shingles: MinHash signatures and LSH banding.

The bands follow from the threshold and the required recall. The similarity of each candidate is
then computed on the shingles themselves: bands may miss a pair, but every reported pair is
verified. Texts without shingles match only their equals.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from catalog.runtime.progress import Progress, no_progress
from matcher.array_types import Bools, Ints, UInts
from matcher.dedupe.base.join import JoinResult, PairBatch, build_result
from matcher.dedupe.base.pair_codes import collect_unique, match_keys, unpack_pairs
from matcher.dedupe.base.records import Records
from matcher.dedupe.base.similarity_measures import TokenBags
from matcher.dedupe.base.text_columns import (
    TextColumn,
    equal_pairs,
    expand_to_rows,
    group_equal_texts,
)
from matcher.dedupe.base.token_overlap import build_token_sets, count_shared_tokens
from matcher.dedupe.minhash.shingles import Shingling, chunk_lengths
from matcher.dedupe.minhash.signatures import (
    DEFAULT_PERMUTATIONS,
    DEFAULT_RECALL,
    BandPlan,
    band_keys,
    compute_signatures,
    plan_bands,
)


@dataclass(frozen=True)
class SimilarTexts:
    """Similar pairs of distinct texts by their places in columns, and the work it took.

    `shared` are the shingles that both texts of a pair have, `union` those of either.
    """

    left: Ints
    right: Ints
    shared: Ints
    union: Ints
    candidates: int
    comparisons: int


@dataclass(frozen=True)
class SketchedTexts:
    """The number of shingles of some texts, and the sketches of their sets (`sketch_sets`)."""

    sizes: Ints
    sketches: UInts


@dataclass(frozen=True)
class MinHash:
    """The MinHash join: nearly all pairs whose shingles have at least some Jaccard similarity.

    Texts of more than `max_group` that share the key of a band are not paired by it: a search for
    candidates can do without, as similar texts share other keys. An index on disk stores the other
    fields as its settings, under their names.
    """

    threshold: Fraction
    shingling: Shingling = field(default_factory=Shingling)
    permutations: int = DEFAULT_PERMUTATIONS
    recall: float = DEFAULT_RECALL
    max_group: int | None = None

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = no_progress
    ) -> JoinResult:
        """Join two sets of records, or one with itself."""
        columns = [group_equal_texts(side.texts) for side in (left, right) if side is not None]
        pairs = self.find_pairs(columns, progress)
        batches = [_expand_pairs(pairs, columns)]
        if right is None:
            batches.append(equal_pairs(columns[0]))
        reasons = ("equal text", f"{self.shingling.unit} in common")
        return build_result(
            batches, reasons, candidates=pairs.candidates, comparisons=pairs.comparisons
        )

    def find_pairs(self, columns: Sequence[TextColumn], progress: Progress) -> SimilarTexts:
        """Find the similar pairs of distinct texts of one column, or of two."""
        plan = self.plan_bands()
        sides = [_hash_side(column, self, plan, progress) for column in columns]

        def keep(codes: Ints) -> Ints:
            left, right = unpack_pairs(codes)
            return codes[self.may_be_similar(sides[0].sketched(left), sides[-1].sketched(right))]

        candidates, codes = collect_unique(_match_bands(sides, self.max_group), keep)
        left, right = unpack_pairs(codes)
        shared, union, is_similar = self.verify(sides[0].bags, sides[-1].bags, left, right)
        return SimilarTexts(
            left[is_similar],
            right[is_similar],
            shared[is_similar],
            union[is_similar],
            candidates,
            len(codes),
        )

    def plan_bands(self) -> BandPlan:
        """Return the division of signatures into bands."""
        return plan_bands(float(self.threshold), self.permutations, self.recall)

    def hash_texts(self, texts: Sequence[str], plan: BandPlan) -> tuple[list[UInts], TokenBags]:
        """Return the keys of some texts, band by band, and their sets of shingles."""
        hashes, counts = self.shingling.with_fallback(texts)
        signatures = compute_signatures(hashes, counts, self.permutations)
        return band_keys(signatures, plan), build_token_sets(hashes, counts)

    def verify(
        self, left: TokenBags, right: TokenBags, left_texts: Ints, right_texts: Ints
    ) -> tuple[Ints, Ints, Bools]:
        """Return the shingles that each pair shares, those that it has, and if it is similar."""
        shared = count_shared_tokens(left, right, left_texts, right_texts)
        union = left.sizes[left_texts] + right.sizes[right_texts] - shared
        is_similar = shared * self.threshold.denominator >= union * self.threshold.numerator
        return shared, union, is_similar

    def may_be_similar(self, left: SketchedTexts, right: SketchedTexts) -> Bools:
        """Return the pairs that the sizes and sketches of their shingle sets do not rule out.

        The bits in which two sketches differ, and the difference in size, are lower bounds on the
        number of shingles that only one text has.
        """
        differing_bits = np.bitwise_count(left.sketches ^ right.sketches)
        unshared = np.maximum(differing_bits.astype(np.int64), np.abs(left.sizes - right.sizes))
        numerator, denominator = self.threshold.numerator, self.threshold.denominator
        # Jaccard >= t is unshared <= (1 - t) / (1 + t) x both sizes, here in whole numbers.
        bound = (left.sizes + right.sizes) * (denominator - numerator)
        possible: Bools = unshared * (denominator + numerator) <= bound
        return possible


@dataclass(frozen=True)
class _HashedSide:
    """The keys of the texts of one side, (bands, texts), their sets of shingles and sketches.

    Keys are cut to 32 bits, and tokens have no more: a text takes 200 bytes instead of 360. Texts
    that share a cut key by chance are told apart by their shingles.
    """

    keys: NDArray[np.uint32]
    bags: TokenBags
    sketches: UInts

    def sketched(self, texts: Ints) -> SketchedTexts:
        """Return sizes and sketches of some texts."""
        return SketchedTexts(self.bags.sizes[texts], self.sketches[texts])


def cut_keys(keys: UInts) -> NDArray[np.uint32]:
    """Return the bits of the keys of a band that a join in memory or on Spark compares."""
    return keys.astype(np.uint32)


def sketch_sets(bags: TokenBags) -> UInts:
    """Return a 64-bit sketch of each shingle set: a bit per shingle, by its hash."""
    bits = np.uint64(1) << (bags.tokens & 63).astype(np.uint64)
    if not len(bits):
        return bits
    # No text has an empty set, because texts without shingles have a fallback.
    return np.bitwise_or.reduceat(bits, bags.offsets()[:-1])


def _expand_pairs(pairs: SimilarTexts, columns: Sequence[TextColumn]) -> PairBatch:
    """Expand pairs of distinct texts to pairs of rows, with their Jaccard similarity."""
    left_rows, right_rows, source = expand_to_rows(pairs.left, pairs.right, columns[0], columns[-1])
    if len(columns) == 1:
        left_rows, right_rows = (
            np.minimum(left_rows, right_rows),
            np.maximum(left_rows, right_rows),
        )
    similarity = (pairs.shared / pairs.union)[source]
    return PairBatch(left_rows, right_rows, similarity, np.ones(len(left_rows), dtype=np.int64))


def _hash_side(
    column: TextColumn, method: MinHash, plan: BandPlan, progress: Progress
) -> _HashedSide:
    # Made at once: to join the keys of all chunks would hold them twice.
    keys = np.empty((plan.bands, len(column.texts)), np.uint32)
    sketches = np.empty(len(column.texts), np.uint64)
    tokens, sizes = [np.empty(0, np.uint32)], [np.empty(0, np.int64)]
    for chunk in chunk_lengths(column.lengths):
        chunk_keys, bags = method.hash_texts(column.texts[chunk], plan)
        for band, keys_of_band in enumerate(chunk_keys):
            keys[band, chunk] = cut_keys(keys_of_band)
        sketches[chunk] = sketch_sets(bags)
        tokens.append(bags.tokens.astype(np.uint32))
        sizes.append(bags.sizes)
        progress("texts hashed", chunk.stop, len(column.texts))
    return _HashedSide(keys, TokenBags(np.concatenate(tokens), np.concatenate(sizes)), sketches)


def _match_bands(sides: list[_HashedSide], max_group: int | None) -> Iterator[Ints]:
    """Yield the packed pairs of texts that share a key, band by band."""
    if len(sides) == 1:
        for keys in sides[0].keys:
            yield from match_keys(keys.astype(np.uint64), max_group=max_group)
        return
    for left_keys, right_keys in zip(sides[0].keys, sides[1].keys, strict=True):
        keys = left_keys.astype(np.uint64), right_keys.astype(np.uint64)
        yield from match_keys(*keys, max_group)
