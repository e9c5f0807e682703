"""Pairs of texts that share most of their shingles: MinHash signatures, and LSH bands that bring like ones together.

The bands follow from the threshold and the wanted recall. The similarity of each candidate is then computed on the
shingles themselves: a pair may be missed by the bands, but none is reported that is not alike. Texts without shingles
are alike only where they are equal.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from catalog.runtime.progress import Progress, silent
from matcher.dedupe.base.join import Indices, Joined, Part, Words, joined, refuse_flood
from matcher.dedupe.base.measures import Bags
from matcher.dedupe.base.overlap import as_sets, shared
from matcher.dedupe.base.records import Records
from matcher.dedupe.base.text_columns import (
    Distinct,
    chunks,
    distinct,
    equal,
    once,
    rows_of,
    runs,
    spread,
)
from matcher.dedupe.minhash.shingles import Shingling, parts
from matcher.dedupe.minhash.signatures import (
    PERMUTATIONS,
    RECALL,
    Plan,
    band_keys,
    bands,
    signatures,
)

MOST_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class MinHash:
    """The rung: pairs whose shingles have at least some Jaccard similarity, nearly all of them."""

    threshold: Fraction
    shingling: Shingling = field(default_factory=Shingling)
    permutations: int = PERMUTATIONS
    recall: float = RECALL

    def __call__(
        self, left: Records, right: Records | None = None, progress: Progress = silent
    ) -> Joined:
        columns = [distinct(side.texts) for side in (left, right) if side is not None]
        plan = bands(float(self.threshold), self.permutations, self.recall)
        sides = [_side(column, self, plan, progress) for column in columns]
        keys = zip(
            sides[0].keys, sides[1].keys if right is not None else [None] * plan[0], strict=True
        )
        pairs = (code for one, other in keys for code in meeting(one, other))
        met, codes = once_each(pairs, lambda code: self._hopeful(code, sides))
        part, compared = self._verified(codes >> 32, codes & 0xFFFFFFFF, sides, columns)
        found = [part] if right is not None else [part, equal(columns[0])]
        reasons = ("equal text", f"{self.shingling.unit} in common")
        return joined(found, reasons, candidates=met, comparisons=compared)

    def _verified(
        self, a: Indices, b: Indices, sides: "list[_Side]", columns: list[Distinct]
    ) -> tuple[Part, int]:
        sizes, others = sides[0].bags.sizes[a], sides[-1].bags.sizes[b]
        common = shared(sides[0].bags, sides[-1].bags, a, b)
        whole = sizes + others - common
        kept = common * self.threshold.denominator >= whole * self.threshold.numerator
        rows, other_rows, of = rows_of(a[kept], b[kept], columns[0], columns[-1])
        if len(columns) == 1:
            rows, other_rows = np.minimum(rows, other_rows), np.maximum(rows, other_rows)
        similarity = (common[kept] / whole[kept])[of]
        return (rows, other_rows, similarity, np.ones(len(rows), dtype=np.int64)), len(a)

    def _hopeful(self, codes: Indices, sides: "list[_Side]") -> Indices:
        """The pairs that the numbers of their shingles, and sketches of them, do not rule out.

        Bits in which two sketches differ, and the difference in size, are at most the shingles that only one text has.
        """
        a, b = codes >> 32, codes & 0xFFFFFFFF
        sizes, others = sides[0].bags.sizes[a], sides[-1].bags.sizes[b]
        differing = np.bitwise_count(sides[0].sketch[a] ^ sides[-1].sketch[b]).astype(np.int64)
        alone = np.maximum(differing, np.abs(sizes - others))
        whole, part = self.threshold.denominator, self.threshold.numerator
        kept: Indices = codes[alone * (whole + part) <= (sizes + others) * (whole - part)]
        return kept


@dataclass(frozen=True)
class _Side:
    keys: list[Words]
    bags: Bags

    @cached_property
    def sketch(self) -> Words:
        """A bit for each shingle of a text, among 64."""
        bits = np.uint64(1) << (self.bags.tokens & 63).astype(np.uint64)
        return np.bitwise_or.reduceat(bits, self.bags.starts()[:-1]) if len(bits) else bits


def _side(column: Distinct, rung: MinHash, plan: Plan, progress: Progress) -> _Side:
    found, sets, sizes = [], list[Indices](), list[Indices]()
    for part in parts(column.texts) if column.texts else [slice(0)]:
        hashes, counts = rung.shingling.sets(column.texts[part])
        found.append(band_keys(signatures(hashes, counts, rung.permutations), plan))
        held = as_sets(hashes, counts)
        sets.append(held.tokens)
        sizes.append(held.sizes)
        progress("texts hashed", part.stop, len(column.texts))
    keys = [np.concatenate(one) for one in zip(*found, strict=True)]
    return _Side(keys, Bags(np.concatenate(sets), np.concatenate(sizes)))


def once_each(
    parts: Iterable[Indices], sieve: Callable[[Indices], Indices] = lambda numbers: numbers
) -> tuple[int, Indices]:
    """How many numbers there are, and each once of those that pass the sieve; repeats never fill the memory."""
    codes, waiting, held, met = np.empty(0, dtype=np.int64), list[Indices](), 0, 0
    for part in parts:
        waiting.append(sieve(part))
        held, met = held + len(waiting[-1]), met + len(part)
        if held > max(MOST_AT_ONCE, len(codes)):
            codes, waiting, held = once(np.concatenate([codes, *waiting])), [], 0
        refuse_flood(len(codes))
    return met, once(np.concatenate([codes, *waiting]))


def meeting(left: Words, right: Words | None = None) -> Iterator[Indices]:
    """Pairs of places with equal keys, as numbers `first << 32 | second`; within one side each pair once.

    Keys and places are sorted as one number, which takes a tenth of an argsort. That costs the keys as many bits as
    places need: two keys may fall together by chance, which those who ask must bear.

    >>> [pair.tolist() for pair in meeting(np.array([5, 7, 5], dtype=np.uint64))]
    [[2]]
    """
    order, first, count = _groups(left if right is None else np.concatenate([left, right]))
    here = np.arange(len(order))
    ends = np.repeat(first + count, count)
    if right is None:
        starts, shift = here + 1, 0
    else:
        shift = len(left)
        lefts = np.concatenate([[0], np.cumsum(order < shift)])
        starts = np.where(
            order < shift, np.repeat(first + lefts[first + count] - lefts[first], count), ends
        )
    some = np.flatnonzero(ends > starts)
    for part in chunks((ends - starts)[some], MOST_AT_ONCE):
        owners = some[part]
        many = (ends - starts)[owners]
        yield np.repeat(order[owners], many) << 32 | order[spread(starts[owners], many)] - shift


def _groups(keys: Words) -> tuple[Indices, Indices, Indices]:
    """The places of keys that are not alone, group after group, where each group begins and how many it has."""
    bits = np.uint64(len(keys).bit_length())
    packed = keys << bits | np.arange(len(keys), dtype=np.uint64)
    packed.sort()
    group = packed >> bits
    alike = np.zeros(len(keys) + 1, dtype=np.bool_)
    np.equal(group[1:], group[:-1], out=alike[1:-1])
    held = np.flatnonzero(alike[1:] | alike[:-1])
    return (packed[held] & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64), *runs(
        group[held]
    )[1:]
