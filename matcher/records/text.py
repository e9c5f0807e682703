"""Titles as the matcher sees them: folded text, tokens, quantities in one form, and joined spellings of model numbers.

Two sellers write `WH 1000 XM4` and `WH-1000XM4`, `1,5 l` and `1500 ml`, `set of 2` and `2er-Pack`. Normalising matters
more than the measure that comes after it (digest, 5), and shared or unshared model numbers decide most near misses
(findings, "Matching"). Everything here is capped: what comes from a shop may be a megabyte long.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from matcher.records.units import quantify

MOST_CHARACTERS = 300
MOST_TOKENS = 64
LONGEST_SPELLING = 32
_MARKS = re.compile(r"[™®©℠\u00ad\u200b-\u200f\u2060\ufeff]")
_MIXED = re.compile(r"(?<=\d)(?=[¼½¾⅐-⅞])")
_TOKEN = re.compile(r"\d+(?:\.\d+)+|[^\W_]+")
_DIGIT = re.compile(r"\d")
_SPACE = re.compile(r"\s+")


def fold(text: str | None, most: int = MOST_CHARACTERS) -> str:
    """Compatibility forms, accents, case and trade marks evened out; cut at `most` characters.

    >>> fold("Crème Brûlée™  GROSS  ﬁne"), tokens(fold("Pipe 3½"))
    ('creme brulee gross fine', ('pipe', '3', '1', '2'))
    """
    if not text:
        return ""
    decomposed = unicodedata.normalize("NFKD", _MIXED.sub(" ", _MARKS.sub("", text[: 2 * most])))
    bare = "".join(c for c in decomposed if not unicodedata.combining(c))
    return _SPACE.sub(" ", unicodedata.normalize("NFC", bare).casefold()).strip()[:most].rstrip()


@lru_cache(maxsize=131_072)
def tokens(text: str) -> tuple[str, ...]:
    """The words and numbers of folded text, in order, quantities in one form.

    >>> tokens("wh-1000xm4 1,5 l / 0.75 kg")
    ('wh', '1000xm4', '1500ml', '750g')
    """
    return tuple(_TOKEN.findall(quantify(text))[:MOST_TOKENS])


def joined(words: Sequence[str]) -> frozenset[str]:
    """Neighbours written as one where a digit is in them: the other spelling of a model number.

    >>> sorted(joined(("sony", "wh", "1000", "xm4")))
    ['1000xm4', 'sonywh1000', 'wh1000', 'wh1000xm4']
    """
    digits = [has_digit(word) for word in words]
    spans = [
        (i, i + n) for n in (2, 3) for i in range(len(words) - n + 1) if any(digits[i : i + n])
    ]
    return frozenset(
        run for start, end in spans if len(run := "".join(words[start:end])) <= LONGEST_SPELLING
    )


def has_digit(token: str) -> bool:
    """Whether a token can be (part of) a model number, a size or a quantity."""
    return _DIGIT.search(token) is not None
