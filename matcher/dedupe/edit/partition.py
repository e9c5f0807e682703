"""Which parts of two texts must be equal where they are at most `d` edits apart.

Pass-Join (Li, Deng, Wang and Feng, 2011) cuts a text into d + 1 segments: d edits leave one of them whole, and bound
where it stands in the other text. Here a text is cut into d + k segments, of which k are whole, which is far rarer
among texts that are not alike. The edits before, between and after the whole segments are d together; of the choices of
k there is always one where as many edits stand before and between as there are segments there, and so the shift of each
is bounded by that number.
"""

from collections.abc import Iterator
from functools import lru_cache

Part = tuple[int, int]
Choice = tuple[Part, ...]


def bounds(length: int, segments: int) -> list[int]:
    """Where the segments of a text of some length begin and end.

    >>> bounds(10, 3)
    [0, 3, 6, 10]
    """
    return [number * length // segments for number in range(segments + 1)]


@lru_cache(maxsize=4096)
def choices(edits: int, whole: int, longer_by: int) -> tuple[Choice, ...]:
    """All ways in which `whole` of the `edits + whole` segments can stand in a text shorter by `longer_by`.

    Each is a segment's number and how far right of its own place it stands, for every whole segment.

    >>> choices(1, 1, 0), choices(1, 1, 1)
    ((((0, 0),), ((1, 0),)), (((0, 0),), ((1, -1),)))
    """
    return tuple(_choices(edits + whole, edits, whole, longer_by, (0, 0)))


def _choices(
    segments: int, edits: int, whole: int, longer_by: int, reached: Part
) -> Iterator[Choice]:
    """The choices from segment `reached[0]` on, with the shift `reached[1]` and `edits` left."""
    first, shift = reached
    if whole == 0:
        if abs(-longer_by - shift) <= edits:
            yield ()
        return
    for number in range(first, min(first + edits, segments - whole) + 1):
        before = number - first
        for moved in range(shift - before, shift + before + 1):
            for rest in _choices(
                segments, edits - before, whole - 1, longer_by, (number + 1, moved)
            ):
                yield ((number, moved), *rest)


@lru_cache(maxsize=4096)
def effort(edits: int, whole: int) -> int:
    """How many places of the other texts are looked at, over all lengths that are possible."""
    return sum(len(choices(edits, whole, longer_by)) for longer_by in range(edits + 1))
