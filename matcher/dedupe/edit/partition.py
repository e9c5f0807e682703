"""Segments of a text of which one is intact in every text that is at most d edits away.

Pass-Join (Li, Deng, Wang and Feng, 2011) cuts a text into d + 1 segments: d edits leave one of them
intact, and bound its position in the other text. Here a text is cut into some segments more, and
ignores as many of its own: those that too many other texts have, such as the word `street`. The
argument holds for any d + 1 pieces of a text that do not overlap. Let piece j, counted from 0, be
the first with at most j edits before its end. The pieces before it have at least j edits, so
exactly j edits stand before piece j, it is intact, and at most d - j edits follow.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

Piece = tuple[int, int]  # start and end in the longer text


class Probe(NamedTuple):
    """Pieces of a text that are looked up by one key: a segment, and maybe one before it.

    The first piece is shifted by one of `drifts` relative to the segment. The probe serves texts
    with `least_edits` to `most_edits` before the segment.
    """

    segment: int
    pieces: tuple[Piece, ...]
    drifts: tuple[int, ...]
    least_edits: int
    most_edits: int


class Lookup(NamedTuple):
    """The pieces of a probe in another text, with the shift of its segment to the right."""

    shift: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Grid:
    """The cut of texts of some length into `max_edits` + 1 segments and some spare ones.

    Each text ignores `spare` segments. So the number of its pieces before segment i is at most i
    and at least i - `spare`. `with_neighbours` looks up a segment with a half of the one before it.
    """

    length: int
    max_edits: int
    spare: int
    with_neighbours: bool = False

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

    def probes(self, segment: int) -> list[Probe]:
        """Return the probes of a segment; for each number of edits before it one finds a pair.

        >>> for probe in Grid(length=12, max_edits=2, spare=0, with_neighbours=True).probes(1):
        ...     probe.pieces, probe.drifts
        (((0, 8),), (0,))
        (((2, 8),), (0,))
        (((0, 2), (4, 8)), (-1, 0, 1))
        """
        start, stop = self.bounds[segment], self.bounds[segment + 1]
        if not self.with_neighbours or segment == 0:
            most_edits = self.max_edits if segment else 0
            return [Probe(segment, ((start, stop),), (0,), 0, most_edits)]
        before = self.bounds[segment - 1]
        middle = (before + start + 1) // 2
        probes = [
            # No edit before the segment: all of the text up to it is intact.
            Probe(segment, ((0, stop),), (0,), 0, 0),
            # As piece j is the first of its kind, the segment before it has one edit at most. One
            # half of that is intact: the second one, or the first one, which an edit may shift.
            Probe(segment, ((middle, stop),), (0,), 1, self.max_edits),
        ]
        if middle < start:
            pieces = (before, middle), (start, stop)
            probes.append(Probe(segment, pieces, (-1, 0, 1), 1, self.max_edits))
        return probes

    def lookups(self, probe: Probe) -> Iterator[Lookup]:
        """Yield the places of a probe's pieces in another text.

        A shift needs as many edits before the segment.
        """
        most = min(probe.segment, probe.most_edits)
        for shift in range(-most, most + 1):
            for drift in probe.drifts:
                (start, stop), *others = probe.pieces
                if start + shift + drift < 0:
                    continue
                pieces = [(start + shift + drift, stop + shift + drift)]
                for start, stop in others:
                    pieces.append((start + shift, stop + shift))
                yield Lookup(shift, tuple(pieces))

    def partner_lengths(self, segment: int, shift: int) -> tuple[int, int]:
        """Return the least and the greatest length of a text with a segment at some shift.

        The edits after the segment must make up for the rest of the difference in length.
        """
        edits_before = max(abs(shift), segment - self.spare)
        edits_after = self.max_edits - edits_before
        shortest = max(self.length + shift - edits_after, self.bounds[segment + 1] + shift)
        return shortest, min(self.length, self.length + shift + edits_after)

    def lookup_count(self) -> int:
        """Count the lookups of all segments."""
        count = 0
        for segment in range(self.segments):
            for probe in self.probes(segment):
                count += sum(1 for _ in self.lookups(probe))
        return count
