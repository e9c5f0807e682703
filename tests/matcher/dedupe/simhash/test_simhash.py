"""SimHash: fields with the same words in another order are found, others are not."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcher.dedupe.base.pair_codes import unpack_pairs
from matcher.dedupe.base.records import records_from_fields
from matcher.dedupe.simhash.bit_majority import majority_bits
from matcher.dedupe.simhash.simhash import SimHash, compute_simhashes
from matcher.dedupe.simhash.simhash_tables import HashParts, HashTables
from tests.matcher.dedupe.brute_force import pairs_of

TITLES = [
    "syntax and semantics of things",
    "semantics and syntax of things",
    "gardens of the north",
    "",
]
AUTHORS = ["Ivanova A", "A Ivanova", "Petrov", ""]


@pytest.mark.parametrize("bits", [32, 64])
def test_pairs(bits: int) -> None:
    """Records whose fields have the same words in another order are found; others are not."""
    method = SimHash(Fraction(1, 2), HashParts(bits))
    records = records_from_fields(TITLES, AUTHORS)
    assert [*pairs_of(method(records))] == [(0, 1)]
    hashes = compute_simhashes(TITLES, bits)
    assert hashes[0] == hashes[1]
    right = records_from_fields(TITLES[1:2], AUTHORS[1:2])
    assert [*pairs_of(method(records, right))] == [(0, 0), (1, 0)]


@given(
    texts=st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=9), max_size=6),
    max_sliced_words=st.sampled_from([2, 64]),
)
def test_majority(texts: list[list[int]], max_sliced_words: int) -> None:
    """A bit is set if more than half of a text's words have it, with sliced counters or without."""
    words = np.array([word for text in texts for word in text], dtype=np.uint64)
    counts = np.array([len(text) for text in texts], dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matcher.dedupe.simhash.bit_majority.MAX_SLICED_WORDS", max_sliced_words)
        found = majority_bits(words, counts).tolist()
    assert found == [_majority(text) for text in texts]


def _majority(words: list[int]) -> int:
    result = 0
    for bit in range(64):
        if 2 * sum(word >> bit & 1 for word in words) > len(words):
            result |= 1 << bit
    return result


@given(
    stored=st.lists(st.integers(1, 2**32 - 1), min_size=1, max_size=20),
    flipped=st.lists(st.integers(0, 31), max_size=4),
)
def test_tables(stored: list[int], flipped: list[int]) -> None:
    """The tables match exactly the hashes that agree on two of four parts."""
    parts, hashes = HashParts(32), np.array(stored, dtype=np.uint32)
    queries = hashes.copy()
    for bit in flipped:
        queries[0] ^= np.uint32(1 << bit)
    found = set[tuple[int, int]]()
    for codes in HashTables(hashes, parts).find_matches(queries):
        rows, stored_rows = unpack_pairs(codes)
        found |= {*zip(rows.tolist(), stored_rows.tolist(), strict=True)}
    agreeing = {
        (query, row)
        for query in range(len(queries))
        for row in range(len(hashes))
        if queries[query] and parts.agree(queries[query : query + 1], hashes[row : row + 1])[0]
    }
    assert found == agreeing
