"""The texts of one length, and all texts at most some edits shorter to compare them with."""

from dataclasses import dataclass

from matcher.dedupe.edit.text_blocks import CodedColumn


@dataclass(frozen=True)
class LengthJoin:
    """The texts of one length, and all texts at most `max_edits` shorter to compare them with.

    `only_shorter` leaves out texts of the same length.
    """

    longer: CodedColumn
    shorter: CodedColumn
    length: int
    max_edits: int
    is_self_join: bool = False
    only_shorter: bool = False

    def partner_lengths(self) -> list[int]:
        """Return the lengths of the shorter texts that occur."""
        last = self.length - self.only_shorter
        possible = range(self.length - self.max_edits, last + 1)
        return [length for length in possible if length in self.shorter.length_ranges]

    def longer_range(self) -> tuple[int, int]:
        """Return the places of the longer texts, the end excluded."""
        return self.longer.length_ranges[self.length]

    def shorter_range(self) -> tuple[int, int]:
        """Return the places of the shorter texts, the end excluded; they stand by length."""
        lengths = self.partner_lengths()
        if not lengths:
            return 0, 0
        ranges = self.shorter.length_ranges
        return ranges[lengths[0]][0], ranges[lengths[-1]][1]
