"""Pairs of records whose fields have like SimHashes, decided by the likeness of their character pairs.

After Kosolapov et al.: each field has a hash of 32 or 64 bits which the order of its words does not change; a hash is
cut into parts, and candidates agree on some of them in every field. What decides is the mean Jaccard similarity of the
fields' character bigrams. Made for bibliographic records and long texts; among short product titles it finds few.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from os import cpu_count

import numpy as np

from catalog.runtime.progress import Progress, silent
from matcher.dedupe.base.join import Floats, Indices, Joined, Words, joined
from matcher.dedupe.base.measures import Bags
from matcher.dedupe.base.overlap import as_sets, shared
from matcher.dedupe.base.records import Records
from matcher.dedupe.base.text_columns import once
from matcher.dedupe.minhash.minhash import once_each
from matcher.dedupe.minhash.shingles import Shingling, parts
from matcher.dedupe.simhash.bit_majority import majority
from matcher.dedupe.simhash.simhash_tables import Hashes, Parts, Tables

AT_ONCE = 20_000
FARTHEST = 3 / 16


@dataclass(frozen=True)
class SimHash:
    """The rung: records alike in the mean of their fields, whose hashes differ in at most a share of the bits."""

    threshold: Fraction
    parts: Parts = field(default_factory=Parts)
    farthest: float = FARTHEST

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = silent
    ) -> Joined:
        index = SimHashIndex(left if right is None else right, self, progress)
        hashes = (
            index.hashes
            if right is None
            else [hashed(column, self.parts.bits) for column in left.fields]
        )
        return index.look_up(left, hashes, within=right is None, progress=progress)


class SimHashIndex:
    """Records by the hashes of their fields: made once, asked often."""

    def __init__(self, stored: Records, rung: SimHash, progress: Progress = silent) -> None:
        self._stored, self._rung, self.hashes = stored, rung, list[Hashes]()
        for number, column in enumerate(stored.fields, 1):
            self.hashes.append(hashed(column, rung.parts.bits))
            progress("fields hashed", number, len(stored.fields))
        self._first = max(range(len(self.hashes)), key=lambda at: len(once(self.hashes[at])))
        self._tables = Tables(self.hashes[self._first], rung.parts)

    def look_up(
        self, left: Records, hashes: list[Hashes], within: bool = False, progress: Progress = silent
    ) -> Joined:
        """Pairs of some records, whose hashes are given, and stored ones; `within`: they are the stored ones."""
        met, codes = 0, [np.empty(0, dtype=np.int64)]
        for start in range(0, len(left), AT_ONCE):
            asked = [column[start : start + AT_ONCE] for column in hashes]
            number, found = once_each(
                self._tables.meeting(asked[self._first]), partial(self._near, asked)
            )
            a, b = (found >> 32) + start, found & 0xFFFFFFFF
            kept = a < b if within else a >= 0
            codes.append(a[kept] << 32 | b[kept])
            met += number
            progress("records looked up", min(start + AT_ONCE, len(left)), len(left))
        code = np.concatenate(codes)
        a, b = code >> 32, code & 0xFFFFFFFF
        likeness = _likeness(left, self._stored, a, b)
        kept = likeness >= float(self._rung.threshold) - 1e-12
        part = (a[kept], b[kept], likeness[kept], np.zeros(int(kept.sum()), dtype=np.int64))
        return joined([part], ["mean of the fields' bigrams"], candidates=met, comparisons=len(a))

    def bytes(self) -> int:
        """The memory that hashes and tables take."""
        return self._tables.bytes() + sum(column.nbytes for column in self.hashes)

    def _near(self, asked: list[Hashes], codes: Indices) -> Indices:
        """The pairs whose hashes agree on enough parts and differ in few bits in all fields; empty ones say nothing."""
        parts = self._rung.parts
        for column, other in zip(asked, self.hashes, strict=True):
            one, two = column[codes >> 32], other[codes & 0xFFFFFFFF]
            empty = (one == 0) | (two == 0)
            few = np.flatnonzero(
                empty | (np.bitwise_count(one ^ two) <= self._rung.farthest * parts.bits)
            )
            codes = codes[few[empty[few] | parts.agree(one[few], two[few])]]
        return codes


def hashed(texts: list[str], bits: int) -> Hashes:
    """The SimHash of each text over its words; 0 for a text without any."""
    with ThreadPoolExecutor(cpu_count() or 1) as pool:
        found = pool.map(lambda part: _as(majority(*Shingling()(texts[part])), bits), parts(texts))
        return np.concatenate([_as(np.empty(0, dtype=np.uint64), bits), *found])


def _as(hashes: Words, bits: int) -> Hashes:
    return hashes if bits == 64 else hashes.astype(np.uint32)


def _likeness(left: Records, right: Records, a: Indices, b: Indices) -> Floats:
    """The mean Jaccard similarity of the fields' bigrams, over the fields that either record has."""
    total, fields = np.zeros(len(a)), np.zeros(len(a))
    (here, a), (there, b) = np.unique(a, return_inverse=True), np.unique(b, return_inverse=True)
    for column, other in zip(left.fields, right.fields, strict=True):
        one, two = _bigrams(column, here), _bigrams(other, there)
        common = shared(one, two, a, b)
        whole = one.sizes[a] + two.sizes[b] - common
        total += common / np.maximum(whole, 1)
        fields += whole > 0
    found: Floats = total / np.maximum(fields, 1)
    return found


def _bigrams(texts: list[str], rows: Indices) -> Bags:
    """The bigrams of some of the texts."""
    return as_sets(*Shingling("characters", 2)([texts[row] for row in rows.tolist()]))
