"""MinHash: shingles and signatures are right, and only similar pairs are reported."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matcher.dedupe.base.records import records_from_texts
from matcher.dedupe.base.similarity_measures import distinct_words
from matcher.dedupe.minhash.minhash import MinHash
from matcher.dedupe.minhash.shingles import ShingleUnit, Shingling
from matcher.dedupe.minhash.signatures import compute_signatures
from tests.matcher.dedupe.brute_force import brute_force_pairs, pairs_of

TEXTS = st.lists(st.text(alphabet="ab C_é!1 ", max_size=14), max_size=8)
VARIED_TEXTS = [
    f"{colour} {thing} {number} {size}"
    for colour in ("red", "blue")
    for thing in ("mug", "lamp")
    for number in "1234"
    for size in ("xl", "s")
]
WORD_LISTS = st.lists(
    st.sampled_from([f"w{n}" for n in range(90)] + ["𝔞", "é"]), min_size=1, max_size=90
)
CERTAIN = 1 - 1e-12  # recall with which no band misses a pair


def _shingle_sets(texts: Sequence[str], unit: str, size: int) -> list[set[tuple[str, ...]]]:
    sets = list[set[tuple[str, ...]]]()
    for text in texts:
        items = [*text.casefold()] if unit == "characters" else _all_words(text)
        starts = range(max(1, len(items) - size + 1))
        sets.append({tuple(items[start : start + size]) for start in starts} if items else set())
    return sets


def _all_words(text: str) -> list[str]:
    spaced = "".join(sign if sign.isalnum() or sign == "_" else " " for sign in text.casefold())
    return spaced.split()


@settings(max_examples=40, deadline=None)
@given(texts=TEXTS, unit=st.sampled_from(["words", "characters"]), size=st.integers(1, 3))
def test_shingles(texts: list[str], unit: ShingleUnit, size: int) -> None:
    """Texts share as many hashes as they share shingles."""
    hashes, counts = Shingling(unit, size)(texts)
    hash_sets = list[set[int]]()
    if texts:
        hash_sets = [set(part.tolist()) for part in np.split(hashes, np.cumsum(counts)[:-1])]
    shingle_sets = _shingle_sets(texts, unit, size)
    found = [[len(left & right) for right in hash_sets] for left in hash_sets]
    assert found == [[len(left & right) for right in shingle_sets] for left in shingle_sets]


def test_signatures() -> None:
    """The share of equal entries of two signatures is near the sets' Jaccard similarity."""
    texts = [" ".join(str(n) for n in range(start, start + 40)) for start in (0, 4, 10, 20, 40)]
    signatures = compute_signatures(*Shingling()(texts), 512)
    word_sets = [set(distinct_words(text)) for text in texts]
    for i, left in enumerate(word_sets):
        for j, right in enumerate(word_sets):
            estimate = (signatures[:, i] == signatures[:, j]).mean()
            assert abs(estimate - len(left & right) / len(left | right)) < 0.08


@pytest.mark.parametrize("right", [None, VARIED_TEXTS[::2]])
def test_pairs(right: list[str] | None) -> None:
    """With nearly full recall all similar pairs are found, and no others."""
    method = MinHash(Fraction(3, 5), recall=0.9999)
    right_records = None if right is None else records_from_texts(right)
    found = pairs_of(method(records_from_texts(VARIED_TEXTS), right_records))
    expected = brute_force_pairs(VARIED_TEXTS, right, "jaccard", Fraction(3, 5))
    assert found == pytest.approx(expected)


@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(WORD_LISTS.map(" ".join), max_size=12),
    words=WORD_LISTS,
    threshold=st.sampled_from([Fraction(1, 2), Fraction(2, 3), Fraction(4, 5), Fraction(1)]),
)
def test_sketches_lose_no_pair(texts: list[str], words: list[str], threshold: Fraction) -> None:
    """If no band misses a pair, none is lost on the way: sketches rule out dissimilar pairs only."""
    variants = [" ".join(words), " ".join(words[1:] or words), " ".join([*words, "more"])]
    several = [*texts, *variants]
    found = pairs_of(MinHash(threshold, recall=CERTAIN)(records_from_texts(several)))
    assert found == pytest.approx(brute_force_pairs(several, None, "jaccard", threshold))


def test_words_of_all_texts_find_no_candidates() -> None:
    """Groups that share a frequent word are left out; pairs are found by their other words."""
    texts = [f"a{number} b{number} street c{number % 9}" for number in range(400)]
    copies = [f"a{number} b{number} street d{number}" for number in range(50)]
    method = MinHash(Fraction(1, 2), recall=CERTAIN)
    every = method(records_from_texts(texts + copies))
    bounded = replace(method, max_group=40)(records_from_texts(texts + copies))
    assert bounded.candidates < every.candidates / 10
    assert pairs_of(bounded) == pairs_of(every)
    assert len(bounded) == len(copies)


def test_texts_without_words() -> None:
    """Texts without a word match only their equals."""
    method = MinHash(Fraction(1, 2))
    assert pairs_of(method(records_from_texts(["!", "", "?", "!", "a"]))) == {(0, 3): 1.0}
    assert len(method(records_from_texts([]))) == 0
