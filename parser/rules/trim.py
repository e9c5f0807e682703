"""Cuts: what to take off both ends of a found text before it is the value.

A selector often finds `EAN: 4006381333931 *`. The cut remembers what stood around the known value on the training pages
(Hübscher 2018, 2.9): as literal text where all pages agree, else as a number of characters. Where nothing around it
stays the same, the value's own look may: its shape, or its being one of a few known words. Where a shop has other words
for it than its catalog, these are exchanged. What does not fit yields nothing, never a wrong value.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

LONGEST_LOOKED_AT = 2_000
MOST_LOOKED_AT = 10
APART = re.compile(r"[\W_]+")


def _is_expression(text: str) -> str:
    """Raises ValueError where it is none, or none that can be a part of the one it is looked for with."""
    try:
        re.compile(text)
        re.compile(f"(?:{text})(?P<mark>)(?P<value>)")
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return text


Expression = Annotated[str, AfterValidator(_is_expression)]


class Trim(BaseModel):
    """Text to take off the left and the right end: a literal affix, or a number of characters.

    With `inside`, the literals are delimiters: the value stands between the first `left` and the next `right`; with
    `last`, between the last `right` and the nearest `left` before it. `shape` is a regular expression: of what is left,
    the one part that has this shape. `words`: the first of these that stands in it. `means`: pairs of what the shop
    says and what is meant by it; of a text that is none of these, only `words` are left.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    left: str | int = 0
    right: str | int = 0
    inside: bool = False
    last: bool = False
    shape: Expression = ""
    words: tuple[str, ...] = ()
    means: tuple[tuple[str, str], ...] = ()

    def apply(self, text: str) -> str | None:
        """The text between the cuts; None where a cut does not fit.

        >>> Trim(left="EAN: ", right=2).apply("EAN: 4006381333931 *")
        '4006381333931'
        >>> Trim(left="EAN: ").apply("GTIN 4006381333931") is None
        True
        >>> Trim(left="EAN: ", right=" |", inside=True).apply("Nr. 7 | EAN: 4006381333931 | neu")
        '4006381333931'
        >>> Trim(left="/", right="/", last=True).apply("/shop/lamps/desk/")
        'desk'
        >>> Trim(shape=r"[A-Z]{2}-\\d{2,3}").apply("Lamp AB-12, black")
        'AB-12'
        >>> Trim(words=("Desk Lamp", "Lamp")).apply("back-to-desk-lamps")
        'Desk Lamp'
        >>> Trim(left="Back to ", words=("Rugs",), means=(("Lamps", "Lighting"),)).apply("Back to Lamps")
        'Lighting'
        """
        span = (
            self._around_the_last(text)
            if self.last
            else self._between(text)
            if self.inside
            else self._ends(text)
        )
        if span is None or span[0] >= span[1]:
            return None
        found: str | None = text[span[0] : span[1]].strip() or None
        if found and self.shape:
            found = _of_shape(found, self.shape)
        if (
            found
            and self.means
            and (meant := _all_meant(self.means).get(spelled(found[:LONGEST_LOOKED_AT])))
        ):
            return meant
        return named_in(found, self.words) if found and (self.words or self.means) else found

    def _ends(self, text: str) -> tuple[int, int] | None:
        start, end = (
            _width(text, self.left, text.startswith),
            _width(text, self.right, text.endswith),
        )
        return None if start is None or end is None else (start, len(text) - end)

    def _between(self, text: str) -> tuple[int, int] | None:
        left, right = str(self.left or ""), str(self.right or "")
        start = text.find(left)
        if start < 0:
            return None
        start += len(left)
        end = text.find(right, start) if right else len(text)
        if end < 0 and right.isspace():
            end = len(text)
        return (start, end) if end >= 0 else None

    def _around_the_last(self, text: str) -> tuple[int, int] | None:
        left, right = str(self.left or ""), str(self.right or "")
        end = text.rfind(right) if right else len(text)
        start = text.rfind(left, 0, end) if left and end >= 0 else min(end, 0)
        return None if start < 0 else (start + len(left), end)

    def __str__(self) -> str:
        where = "between last" if self.last else "between" if self.inside else "cut"
        said = [f"{where} {self.left!r} and {self.right!r}"] if self.left or self.right else []
        said += [f"shape {self.shape}"] if self.shape else []
        said += [f"one of {', '.join(self.words)}"] if self.words else []
        said += (
            [", ".join(f"{word} means {meant}" for word, meant in self.means)] if self.means else []
        )
        return ", then ".join(said)


def _width(text: str, cut: str | int, fits: Callable[[str], bool]) -> int | None:
    if isinstance(cut, int):
        return cut if cut <= len(text) else None
    return len(cut) if fits(cut) else None


def _of_shape(text: str, shape: str) -> str | None:
    """The part of a text that has a shape, if there is one only."""
    matches = islice(
        re.finditer(rf"(?<![^\W_])(?:{shape})(?![^\W_])", text[:LONGEST_LOOKED_AT]), MOST_LOOKED_AT
    )
    found = {match.group() for match in matches}
    return found.pop() if len(found) == 1 else None


def named_in(text: str, words: tuple[str, ...]) -> str | None:
    """The first of these words that a text names, however it is spelled; a longer one before those within it.

    >>> named_in("New desk lamps and a rug", ("Lamp", "Rug", "Desk Lamp"))
    'Desk Lamp'
    """
    spoken = f" {spelled(text[:LONGEST_LOOKED_AT])} "
    found = [
        (place, -len(said), word)
        for said, word in _all_spelled(words)
        if (place := max(spoken.find(f" {said} "), spoken.find(f" {said}s "))) >= 0
    ]
    return min(found)[2] if found else None


@lru_cache(maxsize=256)
def _all_spelled(words: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((said, word) for word in words if (said := spelled(word)))


@lru_cache(maxsize=256)
def _all_meant(means: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {spelled(said): meant for said, meant in means}


def spelled(text: str) -> str:
    return APART.sub(" ", text).strip().casefold()
