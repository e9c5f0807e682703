"""Pairs of records whose fields have like SimHashes, decided by the likeness of their character pairs.

After Kosolapov et al.: each field has a hash of 32 or 64 bits which the order of its words does not change; a hash is
cut into parts, and candidates agree on some of them in every field. What decides is the mean Jaccard similarity of the
fields' character bigrams. Made for bibliographic records and long texts; among short product titles it finds few.
"""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from catalog.progress import Progress, silent
from matcher.ladder.measures import Bags
from matcher.ladder.minhash import once_each
from matcher.ladder.overlap import as_sets, shared
from matcher.ladder.records import Records
from matcher.ladder.rung import Flags, Floats, Indices, Joined, Words, joined
from matcher.ladder.shingles import Shingling, parts
from matcher.ladder.simhash_tables import Hashes, Parts, Tables
from matcher.ladder.strings import once

AT_ONCE, FARTHEST = 20_000, 3 / 16


@dataclass(frozen=True)
class SimHash:
    """The rung: records alike in the mean of their fields, whose hashes differ in at most a share of the bits."""

    threshold: Fraction
    parts: Parts = field(default_factory=Parts)
    farthest: float = FARTHEST

    def __call__(self, left: Records, right: Records | None = None, progress: Progress = silent) -> Joined:
        stored = left if right is None else right
        hashes = [[hashed(column, self.parts.bits) for column in side.fields] for side in (left, stored)]
        first = max(range(len(stored.fields)), key=lambda at: len(once(hashes[1][at])))
        tables = Tables(hashes[1][first], self.parts)
        met, codes = 0, []
        for start in range(0, len(left), AT_ONCE):
            asked = slice(start, start + AT_ONCE)
            number, found = once_each(tables.meeting(hashes[0][first][asked]))
            a, b = (found >> 32) + start, found & 0xFFFFFFFF
            kept = (a < b if right is None else a >= 0) & self._near(hashes, a, b)
            codes.append(a[kept] << 32 | b[kept])
            met += number
            progress("records looked up", min(start + AT_ONCE, len(left)), len(left))
        found = np.concatenate([np.empty(0, dtype=np.int64), *codes])
        a, b = found >> 32, found & 0xFFFFFFFF
        likeness = _likeness(left, stored, a, b)
        kept = likeness >= float(self.threshold) - 1e-12
        part = (a[kept], b[kept], likeness[kept], np.zeros(int(kept.sum()), dtype=np.int64))
        return joined([part], ["mean of the fields' bigrams"], candidates=met, comparisons=len(a))

    def _near(self, hashes: list[list[Hashes]], a: Indices, b: Indices) -> Flags:
        """Whether all fields' hashes agree on enough parts and differ in few bits; empty fields say nothing."""
        kept = np.ones(len(a), dtype=np.bool_)
        for column, other in zip(*hashes, strict=True):
            one, two = column[a], other[b]
            differing = np.bitwise_count(one ^ two) <= self.farthest * self.parts.bits
            kept &= (differing & self.parts.agree(one, two)) | (one == 0) | (two == 0)
        return kept


def hashed(texts: list[str], bits: int) -> Hashes:
    """The SimHash of each text over its words; 0 for a text without any."""
    found = [_voted(*Shingling()(texts[part]), bits) for part in parts(texts)]
    return np.concatenate([_as(np.empty(0, dtype=np.uint64), bits), *found])


def _voted(words: Words, counts: Indices, bits: int) -> Hashes:
    """Each bit as most of a text's words have it."""
    found, filled = np.zeros(len(counts), dtype=np.uint64), np.flatnonzero(counts)
    if not len(filled):
        return _as(found, bits)
    starts = (np.cumsum(counts) - counts)[filled]
    for bit in range(bits):
        ones = np.add.reduceat((words >> np.uint64(bit)) & np.uint64(1), starts)
        found[filled] |= (2 * ones > counts[filled].astype(np.uint64)).astype(np.uint64) << np.uint64(bit)
    return _as(found, bits)


def _as(hashes: Words, bits: int) -> Hashes:
    return hashes if bits == 64 else hashes.astype(np.uint32)


def _likeness(left: Records, right: Records, a: Indices, b: Indices) -> Floats:
    """The mean Jaccard similarity of the fields' bigrams, over the fields that either record has."""
    total, fields = np.zeros(len(a)), np.zeros(len(a))
    for column, other in zip(left.fields, right.fields, strict=True):
        one, two = _bigrams(column), _bigrams(other)
        common = shared(one, two, a, b)
        whole = one.sizes[a] + two.sizes[b] - common
        total += common / np.maximum(whole, 1)
        fields += whole > 0
    found: Floats = total / np.maximum(fields, 1)
    return found


def _bigrams(texts: list[str]) -> Bags:
    return as_sets(*Shingling("characters", 2)(texts))
