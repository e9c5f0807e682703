"""The work of the prefix filter: both sides prepared once, and groups of them compared, in whichever process."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matcher.dedupe.base.join import Flags, Floats, Indices
from matcher.dedupe.base.measures import Bags, Measure, bagged
from matcher.dedupe.base.overlap import shared
from matcher.dedupe.base.text_columns import Distinct, by_length, offsets, spread
from matcher.dedupe.base.verify import allowed, by_row, similarities
from matcher.dedupe.prefix.bit_filter import Left, Range, Side, Sieve, groups
from matcher.dedupe.prefix.orders import levels

Task = tuple[Range, tuple[Range, ...]]
PARTS = 2


@dataclass(frozen=True)
class Work:
    """Both sides (or one that is both), their records by the number of tokens, and what each selects."""

    columns: list[Distinct]
    bags: list[Bags]
    sides: list[Side]
    measure: Measure

    @cached_property
    def texts(self) -> list["np.ndarray[tuple[int], np.dtype[np.object_]]"]:
        """The texts of each side, ready to be picked by many indices."""
        return [np.array(column.texts, dtype=object) for column in self.columns]

    @cached_property
    def allowed(self) -> Indices:
        """The distance that the threshold allows, by the longer text's length."""
        longest = max((int(bag.sizes.max(initial=0)) for bag in self.bags), default=0)
        return np.array(
            [allowed(length, self.measure.threshold) for length in range(longest + 1)],
            dtype=np.int64,
        )


@dataclass(frozen=True)
class Found:
    """Pairs that are similar enough, and how many pairs were left after each level."""

    a: Indices
    b: Indices
    similarity: Floats
    why: Indices
    after: Indices


_NONE = np.empty(0, dtype=np.int64)
_NOTHING = Found(_NONE, _NONE, _NONE.astype(np.float64), _NONE, _NONE)


def prepare(texts: Sequence[Sequence[str]], measure: Measure, count: int) -> Work:
    """Both sides with what their records select at each of `count` levels."""
    columns = [by_length(one) for one in texts]
    bags, kinds = bagged(columns, measure.name)
    ordered = [_by_size(column, bag) for column, bag in zip(columns, bags, strict=True)]
    columns, bags = [column for column, _ in ordered], [bag for _, bag in ordered]
    selected = [*levels(bags, [_most(bag, measure) for bag in bags], kinds, count)]
    sides = [Side(bag.sizes, [level[at] for level in selected]) for at, bag in enumerate(bags)]
    return Work(columns, bags, sides, measure)


def tasks(work: Work) -> list[Task]:
    """What there is to compare, in parts of about equal work, the largest first."""
    first, last, same = work.sides[0].sizes, work.sides[-1].sizes, len(work.sides) == 1
    found = list[tuple[int, Task]]()
    for group in groups(last):
        others = list[Range]()
        for other in groups(first):
            lower = int(last[group[0]]), int(first[other[0]])
            upper = int(last[group[1] - 1]), int(first[other[1] - 1])
            if (not same or other[0] <= group[0]) and work.measure.least(*lower) <= min(upper):
                others.append(other)
        for part in (others[:PARTS], others[PARTS:]):
            if part:
                cells = (group[1] - group[0]) * sum(stop - start for start, stop in part)
                found.append((cells, (group, tuple(part))))
    return [task for _, task in sorted(found, reverse=True)]


def compare(work: Work, task: Task) -> Found:
    """All pairs of which the second is in a group of the last side, and the first in one of some of the first's."""
    group, others = task
    first, last, same = work.sides[0], work.sides[-1], len(work.sides) == 1
    sieve = Sieve(last, group, work.measure)
    found = [_NOTHING]
    for other in others:
        found += [_decided(work, left) for left in sieve.passing(first, other, same)]
    a, b, similarity, why = (
        np.concatenate([getattr(one, name) for one in found])
        for name in ("a", "b", "similarity", "why")
    )
    after = sum((one.after for one in found[1:]), np.zeros(len(last.levels), dtype=np.int64))
    return Found(a, b, similarity, why, after)


def _decided(work: Work, left: Left) -> Found:
    sizes, others = work.bags[0].sizes[left.a], work.bags[-1].sizes[left.b]
    if work.measure.name == "edit":
        longer = np.maximum(sizes, others)
        most = work.allowed[longer]
        why = by_row(work.texts[0], work.texts[-1], (left.a, left.b), int(most.max(initial=0)))
        kept = why <= most
        similarity = similarities(why, longer)
    else:
        common = shared(work.bags[0], work.bags[-1], left.a, left.b)
        kept, similarity = _similar(work.measure, common, sizes, others)
        why = np.ones(len(common), dtype=np.int64)
    return Found(left.a[kept], left.b[kept], similarity[kept], why[kept], left.after)


def _similar(
    measure: Measure, common: Indices, sizes: Indices, others: Indices
) -> tuple[Flags, Floats]:
    """Whether each pair is similar enough, and how similar."""
    most = int(max(sizes.max(initial=0), others.max(initial=0))) + 1
    codes, case = np.unique((common * most + sizes) * most + others, return_inverse=True)
    cases = [(code // most // most, code // most % most, code % most) for code in codes.tolist()]
    kept = np.array([n >= measure.least(a, b) for n, a, b in cases], dtype=np.bool_)
    value = np.array([measure.value(n, a, b) for n, a, b in cases], dtype=np.float64)
    return kept[case], value[case]


def without_tokens(work: Work) -> Found:
    """The pairs of texts that have no token at all: they are alike, and no filter finds them."""
    ends = [int(np.searchsorted(side.sizes, 0, side="right")) for side in work.sides]
    a, b = np.divmod(np.arange(ends[0] * ends[-1]), max(1, ends[-1]))
    kept = a < b if len(ends) == 1 else a >= 0
    why = np.zeros(int(kept.sum()), dtype=np.int64)
    return Found(
        a[kept],
        b[kept],
        why.astype(np.float64) + 1,
        why,
        np.zeros(len(work.sides[0].levels), dtype=np.int64),
    )


def _most(bag: Bags, measure: Measure) -> Indices:
    """How many tokens each record selects at most."""
    sizes, size_of = np.unique(bag.sizes, return_inverse=True)
    most = [size - measure.least_of_any(size) + 1 for size in sizes.tolist()]
    return np.array(most, dtype=np.int64)[size_of]


def _by_size(column: Distinct, bag: Bags) -> tuple[Distinct, Bags]:
    """A column and its tokens in the order of the number of tokens."""
    order = np.argsort(bag.sizes, kind="stable")
    counts, sizes = np.diff(column.starts)[order], bag.sizes[order]
    rows = column.rows[spread(column.starts[:-1][order], counts)]
    texts = [column.texts[row] for row in order.tolist()]
    again = Distinct(texts, column.lengths[order], rows, offsets(counts))
    return again, Bags(bag.tokens[spread(bag.starts()[:-1][order], sizes)], sizes)
