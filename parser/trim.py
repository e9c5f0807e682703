"""Cuts: what to take off both ends of a found text before it is the value.

A selector often finds `EAN: 4006381333931 *`. The cut remembers what stood around the known value on the training pages
(Hübscher 2018, 2.9): as literal text where all pages agree, else as a number of characters. What does not fit yields
nothing, never a wrong value.
"""

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict


class Trim(BaseModel):
    """Text to take off the left and the right end: a literal affix, or a number of characters.

    With `inside`, the literals are delimiters: the value stands between the first `left` and the next `right`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    left: str | int = 0
    right: str | int = 0
    inside: bool = False

    def apply(self, text: str) -> str | None:
        """The text between the cuts; None where a cut does not fit.

        >>> Trim(left="EAN: ", right=2).apply("EAN: 4006381333931 *")
        '4006381333931'
        >>> Trim(left="EAN: ").apply("GTIN 4006381333931") is None
        True
        >>> Trim(left="EAN: ", right=" |", inside=True).apply("Nr. 7 | EAN: 4006381333931 | neu")
        '4006381333931'
        """
        span = self._between(text) if self.inside else self._off_the_ends(text)
        if span is None or span[0] >= span[1]:
            return None
        return text[span[0] : span[1]].strip() or None

    def _off_the_ends(self, text: str) -> tuple[int, int] | None:
        start, end = _width(text, self.left, text.startswith), _width(text, self.right, text.endswith)
        return None if start is None or end is None else (start, len(text) - end)

    def _between(self, text: str) -> tuple[int, int] | None:
        left, right = str(self.left or ""), str(self.right or "")
        start = text.find(left)
        if start < 0:
            return None
        start += len(left)
        end = text.find(right, start) if right else len(text)
        return (start, end) if end >= 0 else None

    def __str__(self) -> str:
        if self == Trim():
            return ""
        where = "between" if self.inside else "cut"
        return f"{where} {self.left!r} and {self.right!r}"


def _width(text: str, cut: str | int, fits: Callable[[str], bool]) -> int | None:
    if isinstance(cut, int):
        return cut if cut <= len(text) else None
    return len(cut) if fits(cut) else None
