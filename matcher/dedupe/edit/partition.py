"""Segments of two texts that must be equal if the texts are at most d edits apart.

Pass-Join (Li, Deng, Wang and Feng, 2011) cuts a text into d + 1 segments: d edits leave one of them
intact, and bound its position in the other text. Here a text is cut into d + k segments, of which k
stay intact; that is far rarer among dissimilar texts. The edits before, between and after the
intact segments sum to d. Some choice of k has as many edits before and between its segments as
there are other segments there, so the shift of each is bounded by that number.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

CACHED_CASES = 4096  # cached combinations of edits, intact segments and length difference


class Placement(NamedTuple):
    """An intact segment by its number, and its shift to the right in the other text."""

    segment: int
    shift: int


Placements = tuple[Placement, ...]


def segment_bounds(length: int, segments: int) -> list[int]:
    """Return the boundaries of the segments of a text of some length.

    >>> segment_bounds(10, 3)
    [0, 3, 6, 10]
    """
    return [number * length // segments for number in range(segments + 1)]


@lru_cache(maxsize=CACHED_CASES)
def possible_placements(edits: int, intact: int, length_difference: int) -> tuple[Placements, ...]:
    """List all placements of `intact` of the `edits + intact` segments in a shorter text.

    `length_difference` is the number of characters by which the other text is shorter.

    >>> [[tuple(p) for p in placements] for placements in possible_placements(1, 1, 1)]
    [[(0, 0)], [(1, -1)]]
    """
    segments = edits + intact
    return tuple(_place_segments(segments, edits, intact, length_difference, Placement(0, 0)))


def _place_segments(
    segments: int, edits: int, intact: int, length_difference: int, reached: Placement
) -> Iterator[Placements]:
    """Yield the placements from segment `reached.segment` on, with `edits` edits left."""
    first, shift = reached
    if intact == 0:
        # The remaining edits must make up for the difference in length.
        if abs(-length_difference - shift) <= edits:
            yield ()
        return
    last = min(first + edits, segments - intact)
    for segment in range(first, last + 1):
        skipped = segment - first
        for new_shift in range(shift - skipped, shift + skipped + 1):
            for following in _place_segments(
                segments,
                edits - skipped,
                intact - 1,
                length_difference,
                Placement(segment + 1, new_shift),
            ):
                yield (Placement(segment, new_shift), *following)


@lru_cache(maxsize=CACHED_CASES)
def count_placements(edits: int, intact: int) -> int:
    """Count the placements to look up, over all possible differences in length."""
    total = 0
    for length_difference in range(edits + 1):
        total += len(possible_placements(edits, intact, length_difference))
    return total
