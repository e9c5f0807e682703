"""Pairs of records whose fields have similar SimHashes (Charikar, 2002), verified by bigrams.

After Kosolapov et al.: each field has a hash of 32 or 64 bits that does not depend on the order of
its words. The hash is cut into parts, and candidates agree on some of them in every field. A
candidate is verified by the mean Jaccard similarity of the fields' character bigrams. Made for
bibliographic records and long texts; among short product titles it finds few pairs.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from os import cpu_count

import numpy as np

from catalog.runtime.progress import Progress, no_progress
from matcher.array_types import Doubles, Ints, UInts
from matcher.dedupe.base.join import JoinResult, PairBatch, build_result
from matcher.dedupe.base.pair_codes import collect_unique, pack_pairs, unpack_pairs
from matcher.dedupe.base.records import Records
from matcher.dedupe.base.similarity_measures import TokenBags
from matcher.dedupe.base.text_columns import sort_unique
from matcher.dedupe.base.token_overlap import build_token_sets, count_shared_tokens
from matcher.dedupe.minhash.shingles import Shingling, chunk_texts
from matcher.dedupe.simhash.bit_majority import majority_bits
from matcher.dedupe.simhash.simhash_tables import HashParts, HashTables, SimHashes

QUERIES_PER_CHUNK = 20_000  # records looked up at once; cap on memory
DEFAULT_MAX_DISTANCE = 3 / 16  # share of the bits in which two hashes of a field may differ
ROUNDING_ERROR = 1e-12  # a mean of fractions may come out just below the threshold


@dataclass(frozen=True)
class SimHash:
    """The SimHash join: records that are similar in the mean of their fields.

    The hashes of each field agree on enough parts and differ in at most `max_distance` of the bits.
    """

    threshold: Fraction
    parts: HashParts = field(default_factory=HashParts)
    max_distance: float = DEFAULT_MAX_DISTANCE

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = no_progress
    ) -> JoinResult:
        """Join two sets of records, or one with itself."""
        if right is None:
            index = SimHashIndex(left, self, progress)
            return index.look_up(left, index.hashes, is_self_join=True, progress=progress)
        index = SimHashIndex(right, self, progress)
        hashes = [compute_simhashes(column, self.parts.bits) for column in left.fields]
        return index.look_up(left, hashes, progress=progress)


class SimHashIndex:
    """Records by the hashes of their fields: built once, looked up often."""

    def __init__(self, stored: Records, method: SimHash, progress: Progress = no_progress) -> None:
        self._stored = stored
        self._method = method
        self.hashes = list[SimHashes]()
        for number, column in enumerate(stored.fields, 1):
            self.hashes.append(compute_simhashes(column, method.parts.bits))
            progress("fields hashed", number, len(stored.fields))
        # The field with the most distinct hashes leaves the fewest candidates.
        distinct_counts = [len(sort_unique(hashes)) for hashes in self.hashes]
        self._lookup_field = distinct_counts.index(max(distinct_counts))
        self._tables = HashTables(self.hashes[self._lookup_field], method.parts)

    def look_up(
        self,
        queries: Records,
        hashes: list[SimHashes],
        is_self_join: bool = False,
        progress: Progress = no_progress,
    ) -> JoinResult:
        """Return pairs of a query and a stored record.

        `hashes` are those of the queries, field by field; `is_self_join` means that the queries are
        the stored records themselves.
        """
        candidates = 0
        code_chunks = [np.empty(0, dtype=np.int64)]
        for start in range(0, len(queries), QUERIES_PER_CHUNK):
            stop = min(start + QUERIES_PER_CHUNK, len(queries))
            chunk_hashes = [column[start:stop] for column in hashes]
            chunk_candidates, codes = collect_unique(
                self._tables.find_matches(chunk_hashes[self._lookup_field]),
                partial(self._filter_by_hashes, chunk_hashes),
            )
            rows, stored_rows = unpack_pairs(codes)
            rows = rows + start
            if is_self_join:
                is_once = rows < stored_rows
                rows, stored_rows = rows[is_once], stored_rows[is_once]
            code_chunks.append(pack_pairs(rows, stored_rows))
            candidates += chunk_candidates
            progress("records looked up", stop, len(queries))
        rows, stored_rows = unpack_pairs(np.concatenate(code_chunks))
        similarity = _mean_bigram_similarity(queries, self._stored, rows, stored_rows)
        is_similar = similarity >= float(self._method.threshold) - ROUNDING_ERROR
        batch = PairBatch(
            rows[is_similar],
            stored_rows[is_similar],
            similarity[is_similar],
            np.zeros(int(is_similar.sum()), dtype=np.int64),
        )
        reasons = ["mean of the fields' bigrams"]
        return build_result([batch], reasons, candidates=candidates, comparisons=len(rows))

    def memory_bytes(self) -> int:
        """Return the memory that hashes and tables take, in bytes."""
        return self._tables.memory_bytes() + sum(column.nbytes for column in self.hashes)

    def _filter_by_hashes(self, queries: list[SimHashes], codes: Ints) -> Ints:
        """Return the pairs whose hashes are close in every field; empty fields rule out nothing."""
        parts = self._method.parts
        max_bits = self._method.max_distance * parts.bits
        for query_column, stored_column in zip(queries, self.hashes, strict=True):
            rows, stored_rows = unpack_pairs(codes)
            left, right = query_column[rows], stored_column[stored_rows]
            is_empty = (left == 0) | (right == 0)
            is_close = is_empty | (np.bitwise_count(left ^ right) <= max_bits)
            # The parts are compared last, and only for pairs that are close.
            close = np.flatnonzero(is_close)
            agrees = is_empty[close] | parts.agree(left[close], right[close])
            codes = codes[close[agrees]]
        return codes


def compute_simhashes(texts: Sequence[str], bits: int) -> SimHashes:
    """Return the SimHash of each text over its words; 0 for a text without any."""

    def hash_chunk(chunk: slice) -> SimHashes:
        return _cut_bits(majority_bits(*Shingling()(texts[chunk])), bits)

    with ThreadPoolExecutor(cpu_count() or 1) as pool:
        hashed_chunks = pool.map(hash_chunk, chunk_texts(texts))
        return np.concatenate([_cut_bits(np.empty(0, dtype=np.uint64), bits), *hashed_chunks])


def _cut_bits(hashes: UInts, bits: int) -> SimHashes:
    return hashes if bits == 64 else hashes.astype(np.uint32)


def _mean_bigram_similarity(
    left: Records, right: Records, left_rows: Ints, right_rows: Ints
) -> Doubles:
    """Return the mean Jaccard similarity of the bigrams, over the fields that either record has."""
    total, field_count = np.zeros(len(left_rows)), np.zeros(len(left_rows))
    # Each record's bigrams are computed once, however many pairs it is in.
    left_used, left_of = np.unique(left_rows, return_inverse=True)
    right_used, right_of = np.unique(right_rows, return_inverse=True)
    for left_column, right_column in zip(left.fields, right.fields, strict=True):
        left_bags = _bigrams(left_column, left_used)
        right_bags = _bigrams(right_column, right_used)
        shared = count_shared_tokens(left_bags, right_bags, left_of, right_of)
        union = left_bags.sizes[left_of] + right_bags.sizes[right_of] - shared
        total += shared / np.maximum(union, 1)
        field_count += union > 0
    mean: Doubles = total / np.maximum(field_count, 1)
    return mean


def _bigrams(texts: Sequence[str], rows: Ints) -> TokenBags:
    """Return the character bigrams of some of the texts."""
    selected = [texts[row] for row in rows.tolist()]
    return build_token_sets(*Shingling("characters", 2)(selected))
