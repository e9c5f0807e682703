"""Texts as sets of hashed shingles: runs of k words or k characters, found in one pass over all
texts.

Splitting texts one by one in Python costs more than their signatures. Here the words of a whole
chunk of texts are found at once, and the hash of each is a difference of two prefix sums (as in
`rolling_hash`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

import numpy as np

from matcher.array_types import Bools, Ints, UInts
from matcher.dedupe.base.rolling_hash import base_powers
from matcher.dedupe.base.text_columns import CodePoints, code_points, run_offsets, slice_chunks
from matcher.mixed_bits import mix_bits
from matcher.records.word_breaks import fold_words, is_word_character

ShingleUnit = Literal["words", "characters"]
MAX_CHUNK_TEXTS = 50_000  # texts hashed at once; cap on memory
MAX_CHUNK_CHARACTERS = 4_000_000  # characters hashed at once; cap on memory
CODE_POINT_COUNT = 0x110000  # size of the Unicode code space
_FACTOR = np.uint64(0x9FB21C651E98DF25)  # odd constant that makes a run's hash depend on its order


@dataclass(frozen=True)
class Shingling:
    """Cuts case-folded texts into shingles of `size` consecutive words or characters.

    A text with fewer words (characters) has one shingle of all of them; a text without any has
    none.
    """

    unit: ShingleUnit = "words"
    size: int = 1

    def __call__(self, texts: Sequence[str]) -> tuple[UInts, Ints]:
        """Return the hashes of the shingles, text after text, and the number of each text.

        A shingle that repeats in a text has several equal hashes.

        >>> Shingling("words", 2)(["Red mug, red mug", "mug", ""])[1].tolist()
        [3, 1, 0]
        """
        fold = fold_words if self.unit == "words" else str.casefold
        folded = [fold(text) for text in texts]
        lengths = np.fromiter(map(len, folded), dtype=np.int64, count=len(folded))
        points = code_points(folded)
        if self.unit == "characters":
            return _hash_runs(mix_bits(points), lengths, self.size)
        return _hash_runs(*_hash_words(points, lengths), self.size)

    def with_fallback(self, texts: Sequence[str]) -> tuple[UInts, Ints]:
        """Hash shingles; a text without any gets one of its own, so that it matches only its
        equals.

        >>> Shingling().with_fallback(["!", "?", "a"])[1].tolist()
        [1, 1, 1]
        """
        hashes, counts = self(texts)
        without_shingles = np.flatnonzero(counts == 0)
        fallback = [_hash_text(texts[row]) for row in without_shingles.tolist()]
        places = run_offsets(counts)[:-1][without_shingles]
        with_fallback = np.insert(hashes, places, np.array(fallback, dtype=np.uint64))
        return with_fallback, np.maximum(counts, 1)


def chunk_texts(texts: Sequence[str]) -> Iterator[slice]:
    """Yield slices of texts that are few and short enough to be hashed at once."""
    yield from chunk_lengths(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))


def chunk_lengths(lengths: Ints) -> Iterator[slice]:
    """Yield slices of texts as `chunk_texts` does, from their lengths in characters."""
    for chunk in slice_chunks(lengths, MAX_CHUNK_CHARACTERS):
        for start in range(chunk.start, chunk.stop, MAX_CHUNK_TEXTS):
            yield slice(start, min(start + MAX_CHUNK_TEXTS, chunk.stop))


def _hash_text(text: str) -> int:
    encoded = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(encoded, digest_size=8).digest())


def _hash_words(points: CodePoints, lengths: Ints) -> tuple[UInts, Ints]:
    """Return the hash of each word, and the number of words of each text."""
    is_inner = _is_word_character(points)
    text_starts = run_offsets(lengths)
    # A word starts where no word character of the same text comes before, and ends likewise.
    follows_inner = np.zeros(len(points) + 1, dtype=np.bool_)
    follows_inner[1:] = is_inner
    follows_inner[text_starts] = False
    starts = np.flatnonzero(is_inner & ~follows_inner[:-1])
    precedes_inner = np.zeros(len(points) + 1, dtype=np.bool_)
    precedes_inner[:-1] = is_inner
    precedes_inner[text_starts] = False
    stops = np.flatnonzero(is_inner & ~precedes_inner[1:]) + 1
    sums = np.zeros(len(points) + 1, dtype=np.uint64)
    np.cumsum(mix_bits(points) * base_powers(len(points)), out=sums[1:])
    hashes = (sums[stops] - sums[starts]) * base_powers(len(points), inverse=True)[starts]
    return mix_bits(hashes), np.diff(np.searchsorted(starts, text_starts))


def _hash_runs(hashes: UInts, counts: Ints, size: int) -> tuple[UInts, Ints]:
    """Return the hashes of all runs of `size` consecutive items within a text."""
    run_hashes, offsets = hashes.copy(), run_offsets(counts)
    is_run_start = np.ones(len(hashes), dtype=np.bool_)
    for step in range(1, size):
        run_hashes[:-step] = run_hashes[:-step] * _FACTOR + hashes[step:]
        # A run that starts so close to the end of its text would reach into the next text.
        is_run_start[offsets[1:][counts >= step] - step] = False
    is_short = (counts > 0) & (counts < size)
    first = offsets[:-1][is_short]
    run_hashes[first] = _hash_short_texts(hashes, first, counts[is_short])
    is_run_start[first] = True
    run_counts = np.where(counts > 0, np.maximum(counts - size, 0) + 1, 0)
    return run_hashes[is_run_start], run_counts


def _hash_short_texts(hashes: UInts, first: Ints, counts: Ints) -> UInts:
    """Return the hash of all items of some texts as one run."""
    run_hashes = hashes[first]
    for step in range(1, int(counts.max(initial=0))):
        has_item = counts > step
        run_hashes[has_item] = run_hashes[has_item] * _FACTOR + hashes[first[has_item] + step]
    return run_hashes


def _is_word_character(points: CodePoints) -> Bools:
    """Return True for the characters of words, as `matcher.records.word_breaks` defines them."""
    table = np.zeros(CODE_POINT_COUNT, dtype=np.bool_)
    table[points] = True
    # Python is asked once for each character that occurs.
    for point in np.flatnonzero(table).tolist():
        table[point] = is_word_character(chr(point))
    is_word: Bools = table[points]
    return is_word
