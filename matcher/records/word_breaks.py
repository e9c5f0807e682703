"""Words of any script by the Unicode word boundaries (UAX 29, default rules).

`\\w+` fails for scripts without spaces, and Python's `\\w` lacks the vowel signs of Indic scripts,
so that their words fall apart. Two tailorings, which UAX 29 leaves to the application:

- A punctuation mark always ends a word: part numbers and dimensions are compared in parts.
- Thai, Lao, Khmer and Burmese have no boundaries without a dictionary; the default rules would
  split at every letter. Their text between spaces is one word, as in Lucene's StandardTokenizer.

A Chinese character is a word, as is a hiragana; a run of katakana is one. The `regex` package has
the boundaries as the WORD flag: wheels for all platforms, no dependencies, and a yearly update to
the newest Unicode. `uniseg` is pure Python and far slower. PyICU has dictionaries, but no wheels,
and words would depend on the ICU version of the machine.
"""

import re
import unicodedata

import regex

from matcher.records.marks import cap_marks

_WORD_CLASS = r"[\p{L}\p{M}\p{N}_]"
_WORD = regex.compile(f"{_WORD_CLASS}+")
# Characters without a glyph, and marks on something that is no word, such as an emoji.
_NO_WORD = regex.compile(rf"\p{{Default_Ignorable_Code_Point}}+|(?<!{_WORD_CLASS})\p{{M}}+")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
# A letter of a script without spaces: only at these are boundaries within a run.
_UNSPACED = regex.compile(r"(?V1)[\p{L}&&[\p{Word_Break=Other}\p{Word_Break=Katakana}]]")
# Superscripts and fractions (No) are boundaries in UAX 29: `m²` stays a word all the same.
_BOUNDABLE = r"[\p{L}\p{M}\p{Nd}\p{Nl}_]"
_BOUNDARY = regex.compile(
    rf"(?<={_BOUNDABLE})\b(?={_BOUNDABLE})"
    r"(?:(?<!\p{Line_Break=Complex_Context})|(?!\p{Line_Break=Complex_Context}))",
    regex.WORD,
)


def separate_words(text: str) -> str:
    """Insert a space at each word boundary between two letters or digits.

    Text of scripts with spaces is returned unchanged.

    >>> separate_words("東京タワー500ml"), separate_words("red-mug 3.5")
    ('東 京 タワー 500ml', 'red-mug 3.5')
    """
    if text.isascii() or not _UNSPACED.search(text):
        return text
    return _BOUNDARY.sub(" ", text)


def fold_words(text: str) -> str:
    """Case-fold a text and separate its words; canonically equal texts become equal."""
    if text.isascii():
        return text.lower()
    words_only = cap_marks(_NO_WORD.sub("", text.casefold()))
    return separate_words(unicodedata.normalize("NFC", words_only))


def split_words(text: str) -> list[str]:
    """Return the words of a text, case-folded, in order.

    >>> split_words("Red_mug, नीला मग")
    ['red_mug', 'नीला', 'मग']
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return _WORD.findall(fold_words(text))


def is_word_character(character: str) -> bool:
    """Return True if a character is part of a word after `fold_words`."""
    return _WORD.match(character) is not None
