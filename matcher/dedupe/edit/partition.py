"""Segments of a text of which one is intact in every text that is at most d edits away.

Pass-Join (Li, Deng, Wang and Feng, 2011) cuts a text into d + 1 segments: d edits leave one of them
intact, and bound its position in the other text. Here a text is cut into some segments more, and
ignores as many of its own: those that too many other texts have, such as the word `street`. The
argument holds for any d + 1 pieces of a text that do not overlap. Let piece j, counted from 0, be
the first with at most j edits before its end. The pieces before it have at least j edits, so
exactly j edits stand before piece j, it is intact, and at most d - j edits follow.
"""

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Grid:
    """The cut of texts of some length into `max_edits` + 1 segments and some spare ones.

    Each text ignores `spare` segments. So the number of its pieces before segment i is at most i
    and at least i - `spare`.
    """

    length: int
    max_edits: int
    spare: int

    @property
    def segments(self) -> int:
        """The number of segments."""
        return self.max_edits + 1 + self.spare

    @cached_property
    def bounds(self) -> tuple[int, ...]:
        """The boundaries of the segments.

        >>> Grid(length=10, max_edits=1, spare=1).bounds
        (0, 3, 6, 10)
        """
        segments = self.segments
        return tuple(number * self.length // segments for number in range(segments + 1))

    def shifts(self, segment: int) -> range:
        """Return the possible shifts of a segment to the right in the other text."""
        most = min(segment, self.max_edits)
        return range(-min(most, self.bounds[segment]), most + 1)

    def partner_lengths(self, segment: int, shift: int) -> tuple[int, int]:
        """Return the least and the greatest length of a text with a segment at some shift.

        The edits after the segment must make up for the rest of the difference in length.
        """
        edits_before = max(abs(shift), segment - self.spare)
        edits_after = self.max_edits - edits_before
        shortest = max(self.length + shift - edits_after, self.bounds[segment + 1] + shift)
        return shortest, min(self.length, self.length + shift + edits_after)

    def windows(self) -> int:
        """Count the shifts of all segments."""
        return sum(len(self.shifts(segment)) for segment in range(self.segments))
