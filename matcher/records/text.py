"""Text normalisation: folded titles, tokens, and joined spellings of model numbers.

Two sellers write `WH 1000 XM4` and `WH-1000XM4`, `1,5 l` and `1500 ml`, `set of 2` and `2er-Pack`.
Normalising matters more than the similarity measure after it, and model numbers decide most near
misses. Every length is capped, because a shop's text may be a megabyte long.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from matcher.records.units import normalise_quantities

# Characters of a folded text; cap against hostile input.
MAX_CHARACTERS = 300
# Tokens of a text; cap against hostile input.
MAX_TOKENS = 64
# Characters of a joined spelling; longer ones are no model numbers.
MAX_SPELLING = 32
# Neighbouring tokens that are joined into one spelling.
_SPANS = (2, 3)
# Trade marks, soft hyphens and zero-width characters.
_INVISIBLE = re.compile(r"[™®©℠\u00ad\u200b-\u200f\u2060\ufeff]")
# Between a digit and a vulgar fraction: NFKD would turn 3½ into 31/2.
_MIXED_FRACTION = re.compile(r"(?<=\d)(?=[¼½¾⅐-⅞])")
_TOKEN = re.compile(r"\d+(?:\.\d+)+|[^\W_]+")
_DIGIT = re.compile(r"\d")
_SPACE = re.compile(r"\s+")


def fold(text: str | None, max_characters: int = MAX_CHARACTERS) -> str:
    """Fold compatibility forms, accents, case and trade marks; cut at `max_characters`.

    >>> fold("Crème Brûlée™  GROSS  ﬁne"), tokenize(fold("Pipe 3½"))
    ('creme brulee gross fine', ('pipe', '3', '1', '2'))
    """
    if not text:
        return ""
    # Twice the characters are read, as marks and white space are dropped before the final cut.
    visible = _INVISIBLE.sub("", text[: 2 * max_characters])
    decomposed = unicodedata.normalize("NFKD", _MIXED_FRACTION.sub(" ", visible))
    bare = "".join(c for c in decomposed if not unicodedata.combining(c))
    folded = _SPACE.sub(" ", unicodedata.normalize("NFC", bare).casefold()).strip()
    return folded[:max_characters].rstrip()


# Cache size: a shop's titles are tokenized many times, those of a million offers would fill it.
@lru_cache(maxsize=131_072)
def tokenize(text: str) -> tuple[str, ...]:
    """Cut folded text into words and numbers, in order, quantities in one form.

    >>> tokenize("wh-1000xm4 1,5 l / 0.75 kg")
    ('wh', '1000xm4', '1500ml', '750g')
    """
    return tuple(_TOKEN.findall(normalise_quantities(text))[:MAX_TOKENS])


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
