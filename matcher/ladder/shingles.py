"""Texts as sets of hashed shingles: runs of k words or of k characters, found in one pass over all characters.

Splitting texts one by one in Python costs more than the signatures that are made of them. Here the words of a whole
chunk of texts are found at once, and the hash of each is a difference of two running sums (as in `hashes`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from matcher.ladder.hashes import mixed, powers
from matcher.ladder.rung import Flags, Indices, Words
from matcher.ladder.strings import Points, code_points, offsets

Unit = Literal["words", "characters"]
_CARRY = np.uint64(0x9FB21C651E98DF25)


@dataclass(frozen=True)
class Shingling:
    """What a shingle is: `size` consecutive words or characters of a case-folded text.

    A text with fewer words (characters) has one shingle, of all of them; one without any has none.
    """

    unit: Unit = "words"
    size: int = 1

    def __call__(self, texts: Sequence[str]) -> tuple[Words, Indices]:
        """The shingles' hashes, text after text, and how many each text has. They may repeat.

        >>> Shingling("words", 2)(["Red mug, red mug", "mug", ""])[1].tolist()
        [3, 1, 0]
        """
        folded = [text.casefold() for text in texts]
        lengths = np.fromiter(map(len, folded), dtype=np.int64, count=len(folded))
        points = code_points(folded)
        if self.unit == "characters":
            return _runs(mixed(points), lengths, self.size)
        return _runs(*_words(points, lengths), self.size)


def _words(points: Points, lengths: Indices) -> tuple[Words, Indices]:
    """The hash of each word, and how many each text has."""
    inner = _is_word(points)
    texts = offsets(lengths)
    after = np.zeros(len(points) + 1, dtype=np.bool_)
    after[1:] = inner
    after[texts] = False
    starts = np.flatnonzero(inner & ~after[:-1])
    before = np.zeros(len(points) + 1, dtype=np.bool_)
    before[:-1] = inner
    before[texts] = False
    stops = np.flatnonzero(inner & ~before[1:]) + 1
    sums = np.zeros(len(points) + 1, dtype=np.uint64)
    np.cumsum(mixed(points) * powers(len(points)), out=sums[1:])
    hashes = (sums[stops] - sums[starts]) * powers(len(points), inverse=True)[starts]
    return mixed(hashes), np.diff(np.searchsorted(starts, texts))


def _runs(hashes: Words, counts: Indices, size: int) -> tuple[Words, Indices]:
    """The hashes of runs of `size` consecutive items of one text."""
    size_of = np.minimum(counts, size)
    found = hashes.copy()
    place = np.arange(len(hashes)) - np.repeat(offsets(counts)[:-1], counts)
    left = np.repeat(counts, counts) - place
    for step in range(1, size):
        more = np.flatnonzero(left > step)
        found[more] = found[more] * _CARRY + hashes[more + step]
    kept = left >= np.repeat(size_of, counts)
    return found[kept], np.where(counts > 0, counts - size_of + 1, 0)


def _is_word(points: Points) -> Flags:
    """Whether each character is part of a word: a letter, a digit or an underscore, as in regular expressions."""
    seen = np.zeros(0x110000, dtype=np.bool_)
    seen[points] = True
    used = np.flatnonzero(seen)
    seen[used] = [(sign := chr(point)).isalnum() or sign == "_" for point in used.tolist()]
    found: Flags = seen[points]
    return found
