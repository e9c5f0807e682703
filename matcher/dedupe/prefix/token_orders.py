"""The token orders of the multi-level prefix filter, and the tokens that each record selects.

After Tateishi and Kusui: level 1 prefers the rarest tokens; level n prefers tokens that are rare
and were seldom selected before, Score(n, w) = 0.1 df(w) + sum of sdf(i, w) over the levels i < n
(df: document frequency, sdf: how many records selected w), so that each level rejects other pairs.
A record selects the fewest tokens of which it must share one with every similar record.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from matcher.array_types import Ints
from matcher.dedupe.base.similarity_measures import TokenBags
from matcher.dedupe.base.text_columns import run_offsets


@dataclass(frozen=True)
class SelectedTokens:
    """The tokens that each record selects at one level, the preferred first, end to end.

    Those of record i are `tokens[offsets[i] : offsets[i + 1]]`.
    """

    tokens: Ints
    offsets: Ints


def select_tokens(
    sides: Sequence[TokenBags], max_tokens: Sequence[Ints], vocabulary_size: int, levels: int
) -> Iterator[list[SelectedTokens]]:
    """Yield for each level the selected tokens of each side.

    `max_tokens` has for each side the number of tokens that each record selects.

    >>> bags = TokenBags(np.array([0, 1, 0, 2, 0, 1]), np.array([2, 2, 2]))
    >>> found = select_tokens([bags], [np.array([1, 1, 1])], 3, 2)
    >>> [selected[0].tokens.tolist() for selected in found]
    [[1, 2, 1], [0, 0, 0]]
    """
    document_frequency = np.zeros(vocabulary_size, dtype=np.int64)
    for bags in sides:
        document_frequency += np.bincount(bags.tokens, minlength=vocabulary_size)
    times_selected = np.zeros(vocabulary_size, dtype=np.int64)
    for _ in range(levels):
        # Ten times the published score, which keeps it a whole number.
        score = document_frequency + 10 * times_selected
        rank = np.empty(vocabulary_size, dtype=np.int64)
        rank[np.argsort(score, kind="stable")] = np.arange(vocabulary_size)
        selected = list[SelectedTokens]()
        for bags, counts in zip(sides, max_tokens, strict=True):
            selected.append(_select_lowest_ranks(bags, counts, rank))
        yield selected
        for side in selected:
            times_selected += np.bincount(side.tokens, minlength=vocabulary_size)


def _select_lowest_ranks(bags: TokenBags, counts: Ints, rank: Ints) -> SelectedTokens:
    rank_bits = len(rank).bit_length()
    keys = np.repeat(np.arange(len(bags.sizes)) << rank_bits, bags.sizes) | rank[bags.tokens]
    keys.sort()
    place_in_record = np.arange(len(keys)) - np.repeat(bags.offsets()[:-1], bags.sizes)
    is_selected = place_in_record < np.repeat(counts, bags.sizes)
    ranks = keys[is_selected] & ((1 << rank_bits) - 1)
    token_of_rank = np.argsort(rank, kind="stable")
    return SelectedTokens(token_of_rank[ranks], run_offsets(np.minimum(counts, bags.sizes)))
