"""Trims: the text to cut off both ends of a selected text so that the value remains.

A selector often yields `EAN: 4006381333931 *`. A trim records the text around the known value on
the training pages (Hübscher 2018, section 2.9): as literal affixes where all pages agree, else as
character counts. Where nothing around the value is constant, its shape or a vocabulary locates it.
A trim that does not fit yields None, never a wrong value.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

# Characters of a text in which a shape or a word is searched: a bound against hostile input.
MAX_SEARCHED_CHARS = 2_000
# Matches of a shape that are compared; more than one distinct match is ambiguous anyway.
MAX_SHAPE_MATCHES = 10
NON_WORD = re.compile(r"[\W_]+")


def _check_expression(text: str) -> str:
    """Raise ValueError unless the text is a regular expression that can be part of a larger one."""
    try:
        re.compile(text)
        # Labels are embedded in a pattern that has these two groups (`parser.page.labels`).
        re.compile(f"(?:{text})(?P<mark>)(?P<value>)")
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return text


Expression = Annotated[str, AfterValidator(_check_expression)]


class FrozenValue(BaseModel):
    """A part of a rule: an immutable value that is stored as JSON under its first names."""

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)


class Trim(FrozenValue):
    """Text to cut off the left and the right end: a literal affix, or a number of characters.

    With `inside`, the literals are delimiters: the value stands between the first `left` and the
    next `right`. With `last`, it stands between the last `left` with a `right` after it, and that.
    `shape` is a regular expression: the only part of the remaining text that matches it is the
    value. `words` is a vocabulary: the first of its words in the text is the value.
    """

    left: str | int = 0
    right: str | int = 0
    inside: bool = False
    last: bool = False
    shape: Expression = ""
    words: tuple[str, ...] = ()

    def apply(self, text: str) -> str | None:
        """Return the trimmed text; None where the trim does not fit.

        >>> Trim(left="EAN: ", right=2).apply("EAN: 4006381333931 *")
        '4006381333931'
        >>> Trim(left="EAN: ").apply("GTIN 4006381333931") is None
        True
        >>> Trim(left="EAN: ", right=" |", inside=True).apply("Nr. 7 | EAN: 4006381333931 | neu")
        '4006381333931'
        >>> Trim(left="/", right="/", last=True).apply("/shop/lamps/desk/")
        'desk'
        >>> Trim(left="cat-", right=" ", last=True).apply("cat-sale cat-desk-lamps first new")
        'desk-lamps'
        >>> Trim(shape=r"[A-Z]{2}-\\d{2,3}").apply("Lamp AB-12, black")
        'AB-12'
        >>> Trim(words=("Desk Lamp", "Lamp")).apply("back-to-desk-lamps")
        'Desk Lamp'
        """
        span = self._span(text)
        if span is None or span[0] >= span[1]:
            return None
        value: str | None = text[span[0] : span[1]].strip() or None
        if value and self.shape:
            value = _only_match(value, self.shape)
        if value and self.words:
            return find_word(value, self.words)
        return value

    def _span(self, text: str) -> tuple[int, int] | None:
        """Return the start and the end of the value within the text."""
        if self.last:
            return self._span_before_last(text)
        if self.inside:
            return self._span_between(text)
        start = _affix_length(text, self.left, text.startswith)
        end = _affix_length(text, self.right, text.endswith)
        if start is None or end is None:
            return None
        return start, len(text) - end

    def _span_between(self, text: str) -> tuple[int, int] | None:
        left, right = str(self.left or ""), str(self.right or "")
        start = text.find(left)
        if start < 0:
            return None
        start += len(left)
        end = len(text)
        if right:
            end = text.find(right, start)
        if end >= 0:
            return start, end
        # A delimiter of white space also matches the end: texts are stripped of it.
        return (start, len(text)) if right.isspace() else None

    def _span_before_last(self, text: str) -> tuple[int, int] | None:
        left, right = str(self.left or ""), str(self.right or "")
        end = len(text)
        if right:
            end = text.rfind(right)
        if end < 0:
            return None
        if not left:
            return 0, end
        start = text.rfind(left, 0, end)
        if start < 0:
            return None
        start += len(left)
        return start, text.find(right, start) if right else end

    def __str__(self) -> str:
        place = "cut"
        if self.last:
            place = "between last"
        elif self.inside:
            place = "between"
        parts = []
        if self.left or self.right:
            parts.append(f"{place} {self.left!r} and {self.right!r}")
        if self.shape:
            parts.append(f"shape {self.shape}")
        if self.words:
            parts.append(f"one of {', '.join(self.words)}")
        return ", then ".join(parts)


def _affix_length(text: str, affix: str | int, fits: Callable[[str], bool]) -> int | None:
    """Return the number of characters to cut; None where the text lacks them."""
    if isinstance(affix, int):
        return affix if affix <= len(text) else None
    if not fits(affix):
        return None
    return len(affix)


def _only_match(text: str, shape: str) -> str | None:
    """Return the part of a text that has a shape; None where several different parts have it."""
    # A match must not begin or end within a word.
    pattern = re.compile(rf"(?<![^\W_])(?:{shape})(?![^\W_])")
    matches = islice(pattern.finditer(text[:MAX_SEARCHED_CHARS]), MAX_SHAPE_MATCHES)
    distinct = {match.group() for match in matches}
    if len(distinct) != 1:
        return None
    return distinct.pop()


def find_word(text: str, words: tuple[str, ...]) -> str | None:
    """Return the word of a vocabulary that stands first in a text, ignoring case and punctuation.

    A longer word precedes the words within it, and a plural `s` may follow.

    >>> find_word("New desk lamps and a rug", ("Lamp", "Rug", "Desk Lamp"))
    'Desk Lamp'
    >>> find_word("Lamp on a rug, and further lamps", ("Lamp", "Rug"))
    'Lamp'
    """
    folded_text = f" {fold_words(text[:MAX_SEARCHED_CHARS])} "
    matches = []
    for spelling, length, word in _spellings(words):
        place = folded_text.find(spelling)
        if place >= 0:
            matches.append((place, -length, word))
    if not matches:
        return None
    return min(matches)[2]


@lru_cache(maxsize=256)
def _spellings(words: tuple[str, ...]) -> tuple[tuple[str, int, str], ...]:
    """Return the folded forms of words between blanks, singular and plural, each with the length of
    the singular and the word.
    """
    spellings = []
    for word in words:
        if folded := fold_words(word):
            spellings += [(f" {folded}{end} ", len(folded), word) for end in ("", "s")]
    return tuple(spellings)


def fold_words(text: str) -> str:
    """Fold a text to its words in lower case, separated by single blanks.

    >>> fold_words(" Desk-Lamps, new! ")
    'desk lamps new'
    """
    return NON_WORD.sub(" ", text).strip().casefold()
