"""Texts as sets of hashed shingles: runs of k words or of k characters, found in one pass over all characters.

Splitting texts one by one in Python costs more than the signatures that are made of them. Here the words of a whole
chunk of texts are found at once, and the hash of each is a difference of two running sums (as in `hashes`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

import numpy as np

from matcher.dedupe.base.join import Flags, Indices, Words
from matcher.dedupe.base.rolling_hash import mixed, powers
from matcher.dedupe.base.text_columns import Points, chunks, code_points, offsets

Unit = Literal["words", "characters"]
MOST_TEXTS = 50_000
MOST_CHARACTERS = 4_000_000
_CARRY = np.uint64(0x9FB21C651E98DF25)


@dataclass(frozen=True)
class Shingling:
    """What a shingle is: `size` consecutive words or characters of a case-folded text.

    A text with fewer words (characters) has one shingle, of all of them; one without any has none.
    """

    unit: Unit = "words"
    size: int = 1

    def sets(self, texts: Sequence[str]) -> tuple[Words, Indices]:
        """The same, where a text without any shingle has one of its own: so it is alike only to its equals.

        >>> Shingling().sets(["!", "?", "a"])[1].tolist()
        [1, 1, 1]
        """
        hashes, counts = self(texts)
        bare = np.flatnonzero(counts == 0)
        own = [
            int.from_bytes(blake2b(_bytes(texts[at]), digest_size=8).digest())
            for at in bare.tolist()
        ]
        places = offsets(counts)[:-1][bare]
        return np.insert(hashes, places, np.array(own, dtype=np.uint64)), np.maximum(counts, 1)

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


def parts(texts: Sequence[str]) -> Iterator[slice]:
    """Texts in parts that are few enough, and short enough together, to be hashed at once."""
    for some in chunks(
        np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)), MOST_CHARACTERS
    ):
        for start in range(some.start, some.stop, MOST_TEXTS):
            yield slice(start, min(start + MOST_TEXTS, some.stop))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


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
    found, begins = hashes.copy(), offsets(counts)
    whole = np.ones(len(hashes), dtype=np.bool_)
    for step in range(1, size):
        found[:-step] = found[:-step] * _CARRY + hashes[step:]
        whole[begins[1:][counts >= step] - step] = False
    short = (counts > 0) & (counts < size)
    first = begins[:-1][short]
    found[first], whole[first] = _joined(hashes, first, counts[short]), True
    return found[whole], np.where(counts > 0, np.maximum(counts - size, 0) + 1, 0)


def _joined(hashes: Words, first: Indices, counts: Indices) -> Words:
    """The hash of all items of some texts as one run."""
    found = hashes[first]
    for step in range(1, int(counts.max(initial=0))):
        more = counts > step
        found[more] = found[more] * _CARRY + hashes[first[more] + step]
    return found


def _is_word(points: Points) -> Flags:
    """Whether each character is part of a word: a letter, a digit or an underscore, as in regular expressions."""
    seen = np.zeros(0x110000, dtype=np.bool_)
    seen[points] = True
    used = np.flatnonzero(seen)
    seen[used] = [(sign := chr(point)).isalnum() or sign == "_" for point in used.tolist()]
    found: Flags = seen[points]
    return found
