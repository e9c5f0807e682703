"""Text normalisation: folded titles, tokens, and joined spellings of model numbers.

Two sellers write `WH 1000 XM4` and `WH-1000XM4`, `1,5 l` and `1500 ml`, `set of 2` and `2er-Pack`.
Normalising matters more than the similarity measure after it, and model numbers decide most near
misses. Every length is capped, because a shop's text may be a megabyte long.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import regex

from matcher.records.marks import cap_marks, remove_optional_marks
from matcher.records.units import normalise_quantities
from matcher.records.word_breaks import separate_words

# Characters of a folded text; cap against hostile input.
MAX_CHARACTERS = 300
# Tokens of a text; cap against hostile input.
MAX_TOKENS = 64
# Characters of a joined spelling; longer ones are no model numbers.
MAX_SPELLING = 32
# Neighbouring tokens that are joined into one spelling.
_SPANS = (2, 3)
# Trade marks, the Arabic stretching sign, and characters without a glyph: soft hyphens, joiners.
_INVISIBLE = regex.compile(r"[™®©℠\u0640\p{Default_Ignorable_Code_Point}]+")
# Between a digit and a vulgar fraction: NFKD would turn 3½ into 31/2.
_MIXED_FRACTION = re.compile(r"(?<=\d)(?=[¼½¾⅐-⅞])")
# The voicing marks of kana as characters of their own, and as combining marks.
_SPACING_VOICING = regex.compile(r"(?<=[\p{Script=Hiragana}\p{Script=Katakana}])[\u309b\u309c]")
_COMBINING_VOICING = {"\u309b": "\u3099", "\u309c": "\u309a"}
_ASCII_TOKEN = re.compile(r"\d+(?:\.\d+)+|[^\W_]+", re.ASCII)
_TOKEN = regex.compile(r"\d+(?:\.\d+)+|[\p{L}\p{M}\p{N}]+")
_DIGIT = re.compile(r"\d")


def fold(text: str | None, max_characters: int = MAX_CHARACTERS) -> str:
    """Fold compatibility forms, diacritics, case and trade marks; cut at `max_characters`.

    Marks that make another letter are kept (`matcher.records.marks`).

    >>> fold("Crème Brûlée™  GROSS  ﬁne"), tokenize(fold("Pipe 3½"))
    ('creme brulee gross fine', ('pipe', '3', '1', '2'))
    """
    if not text:
        return ""
    # Twice the characters are read, as marks and white space are dropped before the final cut.
    start = text[: 2 * max_characters]
    folded = start.lower() if start.isascii() else _fold_unicode(start)
    return " ".join(folded.split())[:max_characters].rstrip()


def _fold_unicode(text: str) -> str:
    visible = cap_marks(_MIXED_FRACTION.sub(" ", _INVISIBLE.sub("", text)))
    voiced = _SPACING_VOICING.sub(lambda match: _COMBINING_VOICING[match[0]], visible)
    bare = remove_optional_marks(unicodedata.normalize("NFKD", voiced))
    return unicodedata.normalize("NFC", bare.casefold())


# Cache size: a shop's titles are tokenized many times, those of a million offers would fill it.
@lru_cache(maxsize=131_072)
def tokenize(text: str) -> tuple[str, ...]:
    """Cut folded text into words and numbers, in order, quantities in one form.

    >>> tokenize("wh-1000xm4 1,5 l / 0.75 kg")
    ('wh', '1000xm4', '1500ml', '750g')
    """
    if text.isascii():
        return tuple(_ASCII_TOKEN.findall(normalise_quantities(text))[:MAX_TOKENS])
    return tuple(_TOKEN.findall(normalise_quantities(separate_words(text)))[:MAX_TOKENS])


def join_neighbours(tokens: Sequence[str]) -> frozenset[str]:
    """Join neighbouring tokens that contain a digit: further spellings of a model number.

    >>> sorted(join_neighbours(("sony", "wh", "1000", "xm4")))
    ['1000xm4', 'sonywh1000', 'wh1000', 'wh1000xm4']
    """
    digits = [has_digit(token) for token in tokens]
    spellings = set()
    for length in _SPANS:
        for start in range(len(tokens) - length + 1):
            if not any(digits[start : start + length]):
                continue
            spelling = "".join(tokens[start : start + length])
            if len(spelling) <= MAX_SPELLING:
                spellings.add(spelling)
    return frozenset(spellings)


def has_digit(token: str) -> bool:
    """Return True if a token may be (part of) a model number, a size or a quantity."""
    return _DIGIT.search(token) is not None
