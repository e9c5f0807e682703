"""The token orders of the multi-level prefix filter, and what each record selects by them.

After Tateishi and Kusui: at level 1 the rarest tokens come first; at level n those that are rare and were seldom
selected before, Score(n, w) = 0.1 * df(w) + sum of sdf(i, w) over the levels i < n, so that each level sends away other
pairs. A record selects the fewest tokens of which it must share one with every record that is similar enough.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from matcher.dedupe.base.join import Indices
from matcher.dedupe.base.measures import Bags
from matcher.dedupe.base.text_columns import offsets


@dataclass(frozen=True)
class Selected:
    """The tokens that each record selects at one level, the preferred first; `starts` says where a record's begin."""

    tokens: Indices
    starts: Indices


def levels(
    sides: Sequence[Bags], most: Sequence[Indices], kinds: int, count: int
) -> Iterator[list[Selected]]:
    """For each level what the records of each side select, `most` tokens a record.

    >>> bag = Bags(np.array([0, 1, 0, 2, 0, 1]), np.array([2, 2, 2]))
    >>> [found[0].tokens.tolist() for found in levels([bag], [np.array([1, 1, 1])], 3, 2)]
    [[1, 2, 1], [0, 0, 0]]
    """
    frequency = sum(np.bincount(side.tokens, minlength=kinds) for side in sides)
    selected = np.zeros(kinds, dtype=np.int64)
    for _ in range(count):
        rank = np.empty(kinds, dtype=np.int64)
        rank[np.argsort(frequency + 10 * selected, kind="stable")] = np.arange(kinds)
        found = [_selected(side, wanted, rank) for side, wanted in zip(sides, most, strict=True)]
        yield found
        selected += sum(np.bincount(side.tokens, minlength=kinds) for side in found)


def _selected(side: Bags, most: Indices, rank: Indices) -> Selected:
    bits = len(rank).bit_length()
    keys = np.repeat(np.arange(len(side.sizes)) << bits, side.sizes) | rank[side.tokens]
    keys.sort()
    place = np.arange(len(keys)) - np.repeat(side.starts()[:-1], side.sizes)
    chosen = keys[place < np.repeat(most, side.sizes)] & ((1 << bits) - 1)
    by_rank = np.argsort(rank, kind="stable")
    return Selected(by_rank[chosen], offsets(np.minimum(most, side.sizes)))
