"""Combining marks: remove diacritics and optional points, keep the marks that make another letter.

Which marks are optional depends on the script (Unicode Standard, chapters 7 to 16):

- Latin and Greek: all are diacritics. Shops write `Crème` and `Creme`, `ban` and `bàn`.
- Cyrillic: stress marks are optional, and Russian prints ё as е. The marks of й, ї, ў, ѓ, ќ and
  of the vowels of Turkic languages make letters.
- Hebrew and Arabic: vowel points are optional. A hamza or madda on an alef is often left out; on
  another letter it makes a letter.
- All others keep their marks: the voiced kana of Japanese, and the vowel signs, tone marks and
  viramas of South and South-East Asia.

Lucene's folding filters make the same distinctions, one filter per language.
"""

from functools import lru_cache

import regex

# Marks in a row: the Stream-Safe Text Format (UAX 15, section 13). Putting a longer run into the
# canonical order takes time that grows with the square of its length.
MAX_MARK_RUN = 30
# Half-width voicing marks are letters, and become marks in NFKD.
_LONG_MARK_RUN = regex.compile(rf"([\p{{M}}\uff9e\uff9f]{{{MAX_MARK_RUN}}})[\p{{M}}\uff9e\uff9f]+")
# Stretches an Arabic word (kashida), and carries the points of presentation forms; no letter.
_TATWEEL = "\u0640"
# A character with its marks, in NFKD; at the start of a text marks may stand alone.
_CLUSTER = regex.compile(r"\P{M}?\p{M}+")
# A mark of no script (Inherited) takes that of its base; on a digit, a space or a punctuation mark
# (Common) it is decoration. Not case-insensitive: the Greek iota is the upper case of U+0345.
_OPTIONAL_MARKS = regex.compile(
    r"""(?V1)
    (?:^|(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Common}]))[\p{M}&&\p{Script=Inherited}]+
    | (?<=[еЕ])\u0308[\u0300\u0301]*
    | (?<=[аеиоуыэюяєіѣѵАЕИОУЫЭЮЯЄІѢѴ]\u0308?)[\u0300\u0301]+
    | [\p{M}&&\p{Script=Hebrew}]+
    | [[\p{M}&&\p{Script_Extensions=Arabic}]--[\u0653-\u0655]]+
    """,
    regex.VERBOSE,
)
# After the points are removed: a hamza or madda on an alef.
_ALEF_MARKS = regex.compile(r"(?<=\u0627)[\u0653-\u0655]+")
_MARK = regex.compile(r"\p{M}+")
# Thai and Lao am is typed with its tone mark before or behind the ring (nikhahit).
_RING_BEFORE_TONE = regex.compile(r"([\u0e4d\u0ecd])([\u0e48-\u0e4b\u0ec8-\u0ecb])$")


def cap_marks(text: str) -> str:
    """Cut runs of more than 30 marks, which no language has; call it before any normalisation."""
    return _LONG_MARK_RUN.sub(r"\1", text)


def remove_optional_marks(decomposed: str) -> str:
    """Remove the optional marks of a text in NFKD, and order the marks of Thai and Lao am.

    >>> from unicodedata import normalize
    >>> text = normalize("NFKD", "Brûlée Ёлка мой バス")
    >>> normalize("NFC", remove_optional_marks(text))
    'Brulee Елка мой バス'
    """
    return _CLUSTER.sub(lambda match: _bare_cluster(match[0]), decomposed.replace(_TATWEEL, ""))


# Cache size: more than the characters with marks of a few languages.
@lru_cache(maxsize=8192)
def _bare_cluster(cluster: str) -> str:
    bare = _ALEF_MARKS.sub("", _OPTIONAL_MARKS.sub("", cluster))
    return _RING_BEFORE_TONE.sub(r"\2\1", bare)


def remove_all_marks(decomposed: str) -> str:
    """Remove every mark of a text in NFD or NFKD."""
    return _MARK.sub("", decomposed)
